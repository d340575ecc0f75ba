#include <bit>

#include "base/pack.hpp"
#include "formats/hpctoolkit/transposition.hpp"

namespace fathom::hpctoolkit {

std::uint64_t ContextSizes::metrics(std::size_t context) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < words_; ++i)
    count += static_cast<std::uint64_t>(std::popcount(present_[context * words_ + i]));
  return count;
}

Result<void> ContextSizes::join() {
  if (team().alone()) return {};
  const std::size_t processes = team().size();
  const auto bound = [&](std::size_t process) { return contexts() * process / processes; };
  // Whose slice it is adds it up; then all get all slices.
  const auto slice = [&](std::size_t process) {
    Packer pack;
    for (std::size_t i = bound(process); i < bound(process + 1); ++i) pack(values_[i]);
    for (std::size_t i = bound(process) * words_; i < bound(process + 1) * words_; ++i) pack(present_[i]);
    return std::move(pack).take();
  };
  std::vector<Parcel> parcels;
  for (std::size_t process = 0; process < processes; ++process) parcels.push_back(slice(process));
  FATHOM_TRY(const std::vector<Parcel> counted, team().exchange(std::move(parcels)));
  const auto take = [&](const Parcel& parcel, std::size_t process, bool add) {
    Unpacker unpack(parcel);
    std::uint64_t number = 0;
    for (std::size_t i = bound(process); i < bound(process + 1); ++i) {
      unpack(number);
      values_[i] = add ? values_[i] + number : number;
    }
    for (std::size_t i = bound(process) * words_; i < bound(process + 1) * words_; ++i) {
      unpack(number);
      present_[i] = add ? present_[i] | number : number;
    }
    return unpack.status();
  };
  const std::size_t own = team().rank();
  for (std::size_t process = 0; process < processes; ++process) {
    if (process != own) FATHOM_CHECK(take(counted[process], own, true));
  }
  FATHOM_TRY(const std::vector<Parcel> sums, team().gather_all(slice(own)));
  for (std::size_t process = 0; process < processes; ++process) FATHOM_CHECK(take(sums[process], process, false));
  return {};
}

}  // namespace fathom::hpctoolkit
