#include "base/team.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <queue>

namespace fathom {

Result<void> Team::assemble(std::string_view) { return {}; }

Result<std::vector<Parcel>> Team::gather(Parcel own) {
  std::vector<Parcel> all;
  all.push_back(std::move(own));
  return all;
}

Result<std::vector<Parcel>> Team::gather_all(Parcel own) {
  std::vector<Parcel> all;
  all.push_back(std::move(own));
  return all;
}

Result<Parcel> Team::broadcast(Parcel of_first) { return of_first; }

Result<std::vector<Parcel>> Team::exchange(std::vector<Parcel> runs) { return runs; }

Result<void> Team::relay(const std::function<Result<bool>(Parcel&)>& next,
                         const std::function<bool(const Parcel&)>& take) {
  Parcel parcel;
  while (true) {
    FATHOM_TRY(const bool more, next(parcel));
    if (!more || !take(parcel)) return {};
  }
}

Result<std::vector<std::int64_t>> Team::sum(std::vector<std::int64_t> values) { return values; }

std::optional<Error> Team::conclude(const Error* error) {
  if (error == nullptr) return std::nullopt;
  return *error;
}

namespace {
thread_local Team* t_team = nullptr;
constexpr std::string_view kElsewhere = "the first process has the result";
}  // namespace

Team& team() {
  // Nobody keeps anything in it.
  static Team one;
  return t_team != nullptr ? *t_team : one;
}

TeamScope::TeamScope(Team* team) : before_(t_team) { t_team = team; }
TeamScope::~TeamScope() { t_team = before_; }

Error elsewhere() { return Error(std::string(kElsewhere)).as(ErrorKind::cancelled); }

bool is_elsewhere(const Error& error) { return error.kind() == ErrorKind::cancelled && error.what() == kElsewhere; }

Result<void> first_goes_on() {
  if (team().first()) return {};
  return elsewhere();
}

Result<void> relay_ahead(std::uint64_t bytes, const std::function<Result<bool>(Parcel&)>& next,
                         const std::function<bool(const Parcel&)>& take) {
  std::deque<Parcel> made;
  bool more = true;
  for (std::uint64_t held = 0; !team().first() && more && held < bytes;) {
    Parcel parcel;
    FATHOM_TRY(more, next(parcel));
    held += parcel.size();
    if (more) made.push_back(std::move(parcel));
  }
  const auto first_made = [&](Parcel& parcel) -> Result<bool> {
    if (made.empty()) return more ? next(parcel) : Result<bool>(false);
    parcel = std::move(made.front());
    made.pop_front();
    return true;
  };
  return team().relay(first_made, take);
}

std::vector<unsigned> deal(std::span<const std::uint64_t> weights, unsigned processes) {
  std::vector<unsigned> owner(weights.size(), 0);
  if (processes < 2) return owner;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  using Load = std::pair<std::uint64_t, unsigned>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (unsigned i = 0; i < processes; ++i) least.emplace(0, i);
  for (const std::size_t item : order) {
    const auto [load, process] = least.top();
    least.pop();
    owner[item] = process;
    // An item without bytes is work, too.
    least.emplace(load + std::max<std::uint64_t>(weights[item], 1), process);
  }
  return owner;
}

}  // namespace fathom
