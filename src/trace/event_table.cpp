#include "trace/event_table.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "trace/details.hpp"
#include "trace/merge.hpp"
#include "trace/samples.hpp"

namespace fathom {

namespace {

enum EventColumn : std::size_t { kTime, kLocation, kKind, kName, kDetail, kColumns };

// All names that events can have, in one dictionary: a name's code is found without looking at texts.
class Names {
 public:
  Names(const Trace& trace, const std::vector<std::string>& patterns) : trace_(trace) {
    const Definitions& defs = trace.definitions();
    auto texts = std::make_shared<std::vector<std::string>>();
    for (const Region& region : defs.regions) texts->push_back(region.name);
    channels_ = texts->size();
    for (const Channel& channel : trace.channels()) texts->push_back(channel.name);
    metrics_ = texts->size();
    for (const Metric& metric : defs.metrics) texts->push_back(metric.name);
    markers_ = texts->size();
    for (const std::string& marker : trace.markers()) texts->push_back(marker);
    none_ = texts->size();
    texts->emplace_back();
    if (!patterns.empty()) {
      for (const std::string& text : *texts) {
        wanted_.push_back(std::any_of(patterns.begin(), patterns.end(),
                                      [&](const std::string& pattern) { return matches_pattern(pattern, text); }));
      }
    }
    dictionary_ = std::move(texts);
  }

  [[nodiscard]] std::uint32_t code(const Event& event, std::optional<std::size_t> depth) const {
    switch (event.kind) {
      case EventKind::sample: {
        const ContextTree& tree = trace_.definitions().contexts;
        if (event.name >= tree.size()) return static_cast<std::uint32_t>(none_);
        const ContextId context = depth ? frame_at(tree, event.context(), depth) : event.context();
        const RegionId region = context.valid() ? tree[context].region : RegionId();
        return static_cast<std::uint32_t>(region.valid() ? region.index() : none_);
      }
      case EventKind::state:
        return in(channels_, metrics_, event.name);
      case EventKind::counter:
        return in(metrics_, markers_, event.name);
      case EventKind::marker:
        return in(markers_, none_, event.name);
      default:
        return in(0, channels_, event.name);
    }
  }
  [[nodiscard]] bool all_wanted() const { return wanted_.empty(); }
  [[nodiscard]] bool wanted(std::uint32_t code) const { return wanted_[code]; }
  [[nodiscard]] const Dictionary& dictionary() const { return dictionary_; }

 private:
  [[nodiscard]] std::uint32_t in(std::size_t begin, std::size_t end, std::uint32_t name) const {
    return static_cast<std::uint32_t>(name < end - begin ? begin + name : none_);
  }
  const Trace& trace_;
  Dictionary dictionary_;
  std::size_t channels_ = 0, metrics_ = 0, markers_ = 0, none_ = 0;
  std::vector<bool> wanted_;
};

// What all batches share.
struct Shared {
  const Trace& trace;
  EventChoice choice;
  Names names;
  Dictionary locations;
  Dictionary kinds;
};

Column times(const std::vector<Event>& events, std::optional<std::int64_t> since) {
  std::vector<std::int64_t> values;
  values.reserve(events.size());
  std::vector<std::uint64_t> validity((events.size() + 63) / 64);
  bool all = true;
  for (std::size_t i = 0; i < events.size(); ++i) {
    values.push_back(events[i].has_time ? events[i].time_ns - since.value_or(0) : 0);
    validity[i / 64] |= std::uint64_t{events[i].has_time ? 1U : 0U} << (i % 64);
    all = all && events[i].has_time;
  }
  Column column = since ? Column::seconds(std::move(values)) : Column::integers(std::move(values));
  return all ? column : std::move(column).with_validity(std::move(validity));
}

template <class Code>
Column coded(const std::vector<Event>& events, const Dictionary& dictionary, const Code& code) {
  std::vector<std::uint32_t> codes;
  codes.reserve(events.size());
  for (const Event& event : events) codes.push_back(code(event));
  return Column::texts(std::move(codes), dictionary);
}

Result<Column> details(const Trace& trace, const std::vector<Event>& events, bool wanted) {
  if (!wanted) return Column::free_texts(std::vector<std::int64_t>(events.size() + 1, 0), {});
  constexpr std::size_t kTypicalDetail = 48;
  std::vector<std::int64_t> offsets;
  offsets.reserve(events.size() + 1);
  offsets.push_back(0);
  std::string bytes;
  bytes.reserve(events.size() * kTypicalDetail);
  FATHOM_CHECK(append_details(trace, events, bytes, offsets));
  return Column::free_texts(std::move(offsets), std::move(bytes));
}

Result<Batch> columns_of(const Shared& shared, const std::vector<Event>& events,
                         const std::vector<std::size_t>& columns) {
  Batch batch{events.size(), {}};
  for (const std::size_t column : columns) {
    switch (column) {
      case kTime:
        batch.columns.push_back(times(events, shared.choice.seconds_since));
        break;
      case kLocation:
        batch.columns.push_back(coded(events, shared.locations, [](const Event& event) {
          return static_cast<std::uint32_t>(event.location.index());
        }));
        break;
      case kKind:
        batch.columns.push_back(
            coded(events, shared.kinds, [](const Event& event) { return static_cast<std::uint32_t>(event.kind); }));
        break;
      case kName:
        batch.columns.push_back(coded(events, shared.names.dictionary(), [&](const Event& event) {
          return shared.names.code(event, shared.choice.depth);
        }));
        break;
      default: {
        FATHOM_TRY(Column made, details(shared.trace, events, shared.choice.details));
        batch.columns.push_back(std::move(made));
      }
    }
  }
  return batch;
}

class EventReader final : public BatchReader {
 public:
  EventReader(std::shared_ptr<const Shared> shared, MergedEvents merged, const ScanRequest& request)
      : shared_(std::move(shared)), merged_(std::move(merged)), columns_(request.columns), rows_(request.batch_rows) {
    for (std::size_t i = 0; request.columns.empty() && i < kColumns; ++i) columns_.push_back(i);
  }

  Result<bool> prepare(BatchMaker& maker) override {
    auto events = std::make_shared<std::vector<Event>>();
    events->reserve(rows_);
    const EventChoice& choice = shared_->choice;
    const Names& names = shared_->names;
    while (events->size() < rows_ && (choice.limit == 0 || given_ < choice.limit)) {
      const Event* event = merged_.next();
      if (event == nullptr) break;
      if (!choice.kinds[static_cast<std::size_t>(event->kind)] || event->carried) continue;
      if (!names.all_wanted() && !names.wanted(names.code(*event, choice.depth))) continue;
      events->push_back(*event);
      ++given_;
    }
    FATHOM_CHECK(merged_.status());
    const bool any = !events->empty();
    maker = [shared = shared_, events = std::move(events), columns = columns_] {
      return columns_of(*shared, *events, columns);
    };
    return any;
  }
  Result<bool> next(Batch& batch) override {
    BatchMaker maker;
    FATHOM_TRY(const bool more, prepare(maker));
    if (!more) {
      batch = {};
      return false;
    }
    FATHOM_TRY(batch, maker());
    return true;
  }

 private:
  std::shared_ptr<const Shared> shared_;
  MergedEvents merged_;
  std::vector<std::size_t> columns_;
  std::size_t rows_;
  std::uint64_t given_ = 0;
};

class EventTable final : public TableSource {
 public:
  EventTable(const Trace& trace, EventChoice choice) {
    auto locations = std::make_shared<std::vector<std::string>>();
    for (std::size_t i = 0; i < trace.location_count(); ++i) {
      locations->push_back(trace.definitions().system.location_label(LocationId(i)));
    }
    auto kinds = std::make_shared<std::vector<std::string>>();
    for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
      kinds->emplace_back(to_string(static_cast<EventKind>(kind)));
    }
    Names names(trace, choice.names);
    shared_ = std::make_shared<const Shared>(
        Shared{trace, std::move(choice), std::move(names), std::move(locations), std::move(kinds)});
  }
  [[nodiscard]] const Schema& schema() const override {
    static const Schema kSchema{"event",
                                {{"time_ns", ColumnType::int64, "ns"},
                                 {"location", ColumnType::text},
                                 {"kind", ColumnType::text},
                                 {"name", ColumnType::text},
                                 {"detail", ColumnType::free_text}}};
    return kSchema;
  }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t, const ScanRequest& request) const override {
    const EventChoice& choice = shared_->choice;
    FATHOM_TRY(auto merged, MergedEvents::over(shared_->trace, choice.locations, choice.window));
    return std::unique_ptr<BatchReader>(std::make_unique<EventReader>(shared_, std::move(merged), request));
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::unique_ptr<TableSource> event_table(const Trace& trace, EventChoice choice) {
  return std::make_unique<EventTable>(trace, std::move(choice));
}

}  // namespace fathom
