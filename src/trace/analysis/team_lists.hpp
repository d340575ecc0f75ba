// Lists that the processes of a team, each with calls of its own, tell each other.
#pragma once

#include <vector>

#include "base/pack.hpp"

namespace fathom::analysis {

template <class T>
using Lists = std::vector<std::vector<T>>;  // by process of the team

// lists[i] goes to process i; what the others sent here.
template <class T>
Result<Lists<T>> exchange_lists(Lists<T> lists) {
  std::vector<Parcel> parcels;
  for (auto& list : lists) parcels.push_back(packed(std::exchange(list, {})));
  FATHOM_TRY(std::vector<Parcel> arrived, team().exchange(std::move(parcels)));
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    FATHOM_TRY(lists[i], unpacked<std::vector<T>>(std::exchange(arrived[i], {})));
  }
  return lists;
}

// What all have, in the order of processes: everywhere, or at the first one (nothing elsewhere).
template <class T>
Result<std::vector<T>> joined_lists(const Result<std::vector<Parcel>>& parcels) {
  if (!parcels) return parcels.error();
  std::vector<T> all;
  for (const Parcel& parcel : *parcels) {
    FATHOM_TRY(const auto list, unpacked<std::vector<T>>(parcel));
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}
template <class T>
Result<std::vector<T>> lists_of_all(const std::vector<T>& own) {
  return joined_lists<T>(team().gather_all(packed(own)));
}
template <class T>
Result<std::vector<T>> lists_at_first(const std::vector<T>& own) {
  return joined_lists<T>(team().gather(packed(own)));
}

}  // namespace fathom::analysis
