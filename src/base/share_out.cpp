#include "base/share_out.hpp"

#include <chrono>
#include <ctime>

namespace fathom {

namespace {

// What came to the list: new entries, and how often known ones were noticed again.
std::vector<Diagnostic> since(const std::vector<Diagnostic>& before, const std::vector<Diagnostic>& now) {
  std::vector<Diagnostic> list;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (i < before.size() && now[i].count == before[i].count) continue;
    list.push_back(now[i]);
    if (i < before.size()) list.back().count -= before[i].count;
  }
  return list;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Result<Share> Share::of(std::string label, std::size_t count, const Weight& weight) {
  FATHOM_CHECK(team().assemble(label + std::to_string(count)));
  Share share;
  share.label_ = std::move(label);
  share.alone_ = team().alone();
  if (!share.alone_ && team().work() != nullptr) share.before_ = team().work()->diagnostics.all();
  if (share.alone_) {
    share.mine_.resize(count);
    for (std::size_t i = 0; i < count; ++i) share.mine_[i] = i;
    return share;
  }
  std::vector<std::uint64_t> weights(count, 1);
  for (std::size_t i = 0; weight && i < count; ++i) weights[i] = weight(i);
  const std::vector<unsigned> owner = deal(weights, team().size());
  for (std::size_t i = 0; i < count; ++i) {
    if (owner[i] != team().rank()) continue;
    share.mine_.push_back(i);
    share.weight_ += weights[i];
  }
  return share;
}

Result<void> Share::each(const std::function<Result<void>(std::size_t)>& make) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  Progress progress(label_, mine_.size());
  auto done = parallel_for(mine_.size(), [&](std::size_t n) -> Result<void> {
    auto made = make(mine_[n]);
    progress.advance();
    return made;
  });
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  team().worked(passed.count(), cpu_seconds() - cpu, weight_);
  return done;
}

Result<void> Share::join_diagnostics(Holder holder) {
  const Work& work = team().work();
  if (alone_ || work == nullptr) return {};
  Parcel own = packed(since(before_, work->diagnostics.all()));
  FATHOM_TRY(const std::vector<Parcel> all,
             holder == Holder::all ? team().gather_all(std::move(own)) : team().gather(std::move(own)));
  for (std::size_t process = 0; process < all.size(); ++process) {
    if (process == team().rank()) continue;
    FATHOM_TRY(const auto others, unpacked<std::vector<Diagnostic>>(all[process]));
    for (const Diagnostic& other : others) {
      FATHOM_CHECK(work->diagnostics.add(other.id, other.severity, other.place, other.text, other.count));
    }
  }
  return {};
}

}  // namespace fathom
