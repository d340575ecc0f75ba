#include "trace/window_index.hpp"

#include <algorithm>

namespace fathom {

namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kBatchesBetween = 32;  // from one place to the next

// The part of a stream from the first event at or after `from` to the one before the first at or after `to`. An event
// without a time goes with the one before it.
class WindowStream : public EventStream {
 public:
  WindowStream(std::unique_ptr<CopyableStream> stream, InEffect effect, TimeWindow window)
      : stream_(std::move(stream)), effect_(std::move(effect)), window_(window) {}

  Result<std::size_t> next(std::span<Event> out) override {
    if (!begun_) FATHOM_CHECK(skip());
    std::size_t filled = 0;
    for (; filled < out.size() && taken_ < waiting_.size(); ++filled) out[filled] = waiting_[taken_++];
    if (filled > 0 || over_) return filled;
    FATHOM_TRY(const std::size_t count, stream_->next(out));
    return cut(out.first(count));
  }

 private:
  // Up to the first event of the window.
  Result<void> skip() {
    begun_ = true;
    std::vector<Event> buffer(kBatch);
    while (true) {
      FATHOM_TRY(const std::size_t count, stream_->next(buffer));
      std::size_t at = 0;
      while (at < count && !(buffer[at].has_time && buffer[at].time_ns >= window_.from_ns)) effect_.take(buffer[at++]);
      if (count > 0 && at == count) continue;
      waiting_ = effect_.carried();
      const std::size_t inside = cut(std::span(buffer).subspan(at, count - at));
      waiting_.insert(waiting_.end(), buffer.begin() + static_cast<std::ptrdiff_t>(at),
                      buffer.begin() + static_cast<std::ptrdiff_t>(at + inside));
      if (count == 0) over_ = true;
      return {};
    }
  }
  std::size_t cut(std::span<const Event> events) {
    const auto end = std::find_if(events.begin(), events.end(),
                                  [&](const Event& event) { return event.has_time && event.time_ns >= window_.to_ns; });
    over_ = over_ || end != events.end() || events.empty();
    return static_cast<std::size_t>(end - events.begin());
  }

  std::unique_ptr<CopyableStream> stream_;
  InEffect effect_;
  TimeWindow window_;
  std::vector<Event> waiting_;
  std::size_t taken_ = 0;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace

const WindowIndex::Place* WindowIndex::nearest(std::int64_t time) const {
  const auto behind =
      std::partition_point(places_.begin(), places_.end(), [&](const Place& one) { return one.latest < time; });
  return behind == places_.begin() ? nullptr : &*(behind - 1);
}

Result<void> WindowIndex::extend(std::int64_t time, const Fresh& fresh, const Work& work,
                                 std::span<const MarkerMeaning> meanings) {
  auto stream = places_.empty() ? fresh() : places_.back().stream->copy();
  InEffect effect = places_.empty() ? InEffect(meanings) : places_.back().effect;
  std::int64_t latest = places_.empty() ? std::numeric_limits<std::int64_t>::min() : places_.back().latest;
  std::vector<Event> buffer(kBatch);
  for (std::size_t batch = 1;; ++batch) {
    FATHOM_TRY(const std::size_t count, stream->next(buffer));
    if (count == 0) {
      complete_ = true;
      return {};
    }
    for (std::size_t i = 0; i < count; ++i) {
      effect.take(buffer[i]);
      if (buffer[i].has_time) latest = std::max(latest, buffer[i].time_ns);
    }
    reached_ = latest;
    if (batch % kBatchesBetween == 0) {
      // Without memory for it the way is only longer.
      auto reserved = work->budget.reserve(stream->bytes() + effect.bytes(), "places in a trace to seek to");
      if (!reserved) return {};
      places_.push_back({latest, stream->copy(), effect, std::move(*reserved)});
    }
    if (latest >= time) return {};
  }
}

Result<std::unique_ptr<EventStream>> WindowIndex::open(TimeWindow window, const Fresh& fresh, const Work& work,
                                                       std::span<const MarkerMeaning> meanings) {
  const std::scoped_lock lock(mutex_);
  if (window.from_ns == std::numeric_limits<std::int64_t>::min()) {
    return std::unique_ptr<EventStream>(std::make_unique<WindowStream>(fresh(), InEffect(meanings), window));
  }
  if (!complete_ && reached_ < window.from_ns) FATHOM_CHECK(extend(window.from_ns, fresh, work, meanings));
  const Place* place = nearest(window.from_ns);
  if (place == nullptr) {
    return std::unique_ptr<EventStream>(std::make_unique<WindowStream>(fresh(), InEffect(meanings), window));
  }
  return std::unique_ptr<EventStream>(std::make_unique<WindowStream>(place->stream->copy(), place->effect, window));
}

}  // namespace fathom
