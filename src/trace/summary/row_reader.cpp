#include "trace/summary/row_reader.hpp"

namespace fathom::summary {

namespace {
constexpr std::size_t kManyEvents = 1024;
constexpr std::uint64_t kSome = std::uint64_t{1} << 15;
}  // namespace

RowReader::RowReader(const Trace& trace, ChannelId channel, LocationId location, std::shared_ptr<ArrayPool> pool)
    : met_(std::make_unique<Contexts>()),
      activity_(std::make_unique<Activity>(trace, *met_, channel)),
      builder_(std::make_unique<BlockTreeBuilder>(*met_, std::move(pool))),
      location_(location) {}

Result<RowReader> RowReader::open(const Trace& trace, ChannelId channel, LocationId location,
                                  std::shared_ptr<ArrayPool> pool) {
  RowReader reader(trace, channel, location, std::move(pool));
  const auto* const samples = channel.valid() ? nullptr : dynamic_cast<const SampleRecords*>(&trace);
  if (samples != nullptr && samples->in_time_order(location)) {
    reader.samples_ = samples;
    reader.buffer_.resize(kManyEvents);
  } else {
    FATHOM_TRY(auto stream, trace.open(location, {}));
    reader.cursor_.emplace(std::move(stream), kManyEvents);
  }
  return reader;
}

Result<bool> RowReader::read_some() {
  if (samples_ != nullptr) return read_samples();
  return read_events();
}

Result<bool> RowReader::read_events() {
  for (std::uint64_t read = 0; read < kSome; ++read) {
    const Event* event = cursor_->next();
    if (event == nullptr) {
      FATHOM_CHECK(cursor_->status());
      return false;
    }
    ++events_;
    if (!event->has_time) continue;
    met_time(event->time_ns);
    if (activity_->take(*event)) builder_->add({event->time_ns, activity_->current()});
  }
  return true;
}

bool RowReader::read_samples() {
  for (std::uint64_t read = 0; read < kSome; read += kManyEvents) {
    const std::size_t count = samples_->read_samples(location_, events_, buffer_);
    for (std::size_t i = 0; i < count; ++i) {
      const PlacedSample& sample = buffer_[i];
      if (activity_->take_sample(sample.context)) {
        builder_->add({sample.time_ns, activity_->current()}, events_ + i);
      }
    }
    if (count > 0) met_time(buffer_[0].time_ns);
    if (count > 0) met_time(buffer_[count - 1].time_ns);
    events_ += count;
    if (count < kManyEvents) return false;
  }
  return true;
}

Result<BlockTree> RowReader::finish() {
  if (samples_ == nullptr) return std::move(*builder_).finish(last_);
  FATHOM_TRY(BlockTree tree, std::move(*builder_).finish(last_, events_, activity_->sampled_contexts()));
  tree.read_from(*samples_, location_);
  return tree;
}

}  // namespace fathom::summary
