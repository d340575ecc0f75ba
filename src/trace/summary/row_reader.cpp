#include "trace/summary/row_reader.hpp"

#include <algorithm>

namespace fathom::summary {

namespace {
constexpr std::size_t kManyEvents = 1024;
constexpr std::uint64_t kSome = std::uint64_t{1} << 15;
}  // namespace

RowReader::RowReader(const Trace& trace, ChannelId channel, std::unique_ptr<EventStream> stream,
                     std::shared_ptr<ArrayPool> pool)
    : met_(std::make_unique<Contexts>()),
      activity_(std::make_unique<Activity>(trace, *met_, channel)),
      builder_(std::make_unique<BlockTreeBuilder>(*met_, std::move(pool))),
      cursor_(std::move(stream), kManyEvents) {}

Result<RowReader> RowReader::open(const Trace& trace, ChannelId channel, LocationId location,
                                  std::shared_ptr<ArrayPool> pool) {
  FATHOM_TRY(auto stream, trace.open(location, {}));
  return RowReader(trace, channel, std::move(stream), std::move(pool));
}

Result<bool> RowReader::read_some() {
  for (std::uint64_t read = 0; read < kSome; ++read) {
    const Event* event = cursor_.next();
    if (event == nullptr) {
      FATHOM_CHECK(cursor_.status());
      return false;
    }
    ++events_;
    if (!event->has_time) continue;
    if (!first_) {
      first_ = event->time_ns;
      last_ = event->time_ns;
    }
    last_ = std::max(last_, event->time_ns);
    if (activity_->take(*event)) builder_->add({event->time_ns, activity_->current()});
  }
  return true;
}

}  // namespace fathom::summary
