#include "trace/analysis/path_shares.hpp"

#include <algorithm>

namespace fathom::analysis {

void PathShares::collect(std::uint32_t location, std::uint32_t begin, std::uint32_t end, bool from_entry,
                         PathAmounts& out) const {
  out.clear();
  intervals_.add_paths(location, begin + (from_entry ? 1 : 0), end, out);
  std::int64_t in_regions = 0;
  for (const std::uint32_t path : out.paths()) in_regions += out[path];
  const std::int64_t all =
      intervals_.between(location, begin, end, from_entry).activity[static_cast<std::size_t>(Activity::compute)];
  if (all > in_regions) out.add(0, all - in_regions);
}

const std::vector<PathShare>& PathShares::of(std::uint32_t victim, const Wait& wait) {
  collect(victim, wait.own_begin, wait.call, false, own_);
  collect(wait.culprit, wait.culprit_begin, wait.culprit_call, wait.from_entry, other_);
  const auto share_out = [&](const auto& amount_of) {
    shares_.clear();
    double sum = 0;
    for (const std::uint32_t path : other_.paths()) {
      const auto amount = static_cast<double>(amount_of(path));
      if (amount <= 0) continue;
      shares_.push_back({path, amount, other_[path]});
      sum += amount;
    }
    for (PathShare& share : shares_) share.share /= sum;
  };
  share_out([&](std::uint32_t path) { return other_[path] - own_[path]; });
  // Nothing was more: then all of what it did.
  if (shares_.empty()) share_out([&](std::uint32_t path) { return other_[path]; });
  if (shares_.empty()) shares_.push_back({wait.culprit_call == 0 ? intervals_.first_path(wait.culprit) : 0, 1, 0});
  return shares_;
}

}  // namespace fathom::analysis
