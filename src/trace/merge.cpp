#include "trace/merge.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace fathom {

namespace {
// Buffers of all inputs together stay near this many events.
constexpr std::size_t kBufferedEvents = std::size_t{1} << 18;
}  // namespace

Result<MergedEvents> MergedEvents::over(const Trace& trace, std::span<const LocationId> locations, TimeWindow window) {
  std::vector<LocationId> all;
  if (locations.empty()) {
    for (std::size_t i = 0; i < trace.location_count(); ++i) all.emplace_back(i);
    locations = all;
  }
  const std::size_t batch =
      std::clamp<std::size_t>(kBufferedEvents / std::max<std::size_t>(locations.size(), 1), 16, 512);
  std::vector<Input> inputs;
  inputs.reserve(locations.size());
  for (const LocationId location : locations) {
    FATHOM_TRY(auto stream, trace.open(location, window));
    inputs.push_back({EventCursor(std::move(stream), batch)});
  }
  return MergedEvents(std::move(inputs));
}

MergedEvents::MergedEvents(std::vector<Input> inputs) : inputs_(std::move(inputs)) {}

inline bool MergedEvents::advance(std::size_t input) {
  Input& in = inputs_[input];
  in.head = in.cursor.next();
  if (in.head == nullptr) return in.cursor.status().ok();
  if (in.head->has_time) in.time = in.head->time_ns;
  return true;
}

inline bool MergedEvents::before(std::size_t a, std::size_t b) const {
  const Input& x = inputs_[a];
  const Input& y = inputs_[b];
  if (x.head == nullptr || y.head == nullptr) return x.head != nullptr || (y.head == nullptr && a < b);
  return x.time != y.time ? x.time < y.time : a < b;
}

// Plays `input` up from its leaf against the losers on its way.
inline void MergedEvents::replay(std::size_t input) {
  std::size_t winner = input;
  for (std::size_t node = (input + inputs_.size()) / 2; node > 0; node /= 2) {
    if (before(losers_[node], winner)) std::swap(losers_[node], winner);
  }
  losers_[0] = winner;
}

const Event* MergedEvents::next_of_several() {
  if (error_ || inputs_.empty()) return nullptr;
  const std::size_t count = inputs_.size();
  if (!started_) {
    started_ = true;
    // The first event of a window may lie far behind the beginning of a stream: all streams look for theirs at once.
    const auto first = [&](std::size_t i) { return advance(i) ? Result<void>{} : inputs_[i].cursor.status(); };
    if (auto found = parallel_for(count, first); !found) {
      error_ = std::move(found).error();
      return nullptr;
    }
    // Winners of all subtrees bottom up; what lost stays in its node.
    losers_.assign(count, 0);
    std::vector<std::size_t> winners(2 * count);
    for (std::size_t i = 0; i < count; ++i) winners[count + i] = i;
    for (std::size_t node = count; node-- > 1;) {
      const std::size_t left = winners[2 * node];
      const std::size_t right = winners[2 * node + 1];
      const bool left_first = before(left, right);
      winners[node] = left_first ? left : right;
      losers_[node] = left_first ? right : left;
    }
    losers_[0] = winners[1];
  } else {
    const std::size_t last = losers_[0];
    if (inputs_[last].head == nullptr) return nullptr;
    if (!advance(last)) {
      error_ = inputs_[last].cursor.status().error();
      return nullptr;
    }
    replay(last);
  }
  return inputs_[losers_[0]].head;
}

}  // namespace fathom
