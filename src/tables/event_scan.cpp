#include "tables/event_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/cancel.hpp"
#include "tables/ids.hpp"
#include "tables/request.hpp"
#include "trace/details.hpp"

namespace fathom {

namespace {

enum Columns : std::size_t {
  kTime,
  kLocation,
  kKind,
  kName,
  kPeer,
  kTag,
  kComm,
  kBytes,
  kValue,
  kReal,
  kContext,
  kRecord,
  kDetail,
  kColumns
};

// What all parts share.
struct Shared {
  TracePtr trace;
  TimeWindow window;
  std::vector<LocationId> locations;
  Schema schema;
  IdColumn location_ids;
  IdColumn context_ids;
  Dictionary kinds;
  Dictionary names;                           // of regions, channels, metrics, markers, one after the other
  std::array<std::uint32_t, 4> first_name{};  // where each of them begins
  Dictionary communicators;

  // Position in `names`; kNone = no name.
  [[nodiscard]] std::uint32_t name_of(const Event& event) const {
    std::size_t list = 0;
    std::uint32_t at = event.name;
    switch (event.kind) {
      case EventKind::sample: {
        const ContextTree& tree = trace->definitions().contexts;
        if (event.name >= tree.size()) return IdColumn::kNone;
        at = tree[event.context()].region.value;
        break;
      }
      case EventKind::state:
        list = 1;
        break;
      case EventKind::counter:
        list = 2;
        break;
      case EventKind::marker:
        list = 3;
        break;
      default:
        break;
    }
    const std::size_t end = list < 3 ? first_name[list + 1] : names->size() - 1;
    return at < end - first_name[list] ? first_name[list] + at : IdColumn::kNone;
  }
};

bool has_peer(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::recv || kind == EventKind::collective;
}

// A column of numbers of which some are missing.
class Numbers {
 public:
  void add(bool known, std::int64_t value) {
    if (values_.size() % 64 == 0) bits_.push_back(0);
    if (known) bits_.back() |= std::uint64_t{1} << (values_.size() % 64);
    all_ = all_ && known;
    values_.push_back(known ? value : 0);
  }
  Column finish(ColumnType type) {
    Column column;
    if (type == ColumnType::float64) {
      std::vector<double> reals(values_.size());
      for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = std::bit_cast<double>(values_[i]);
      column = Column::reals(std::move(reals));
    } else if (type == ColumnType::uint64) {
      column = Column::naturals({values_.begin(), values_.end()});
    } else {
      column = Column::integers(std::move(values_));
    }
    return all_ ? column : std::move(column).with_validity(std::move(bits_));
  }

 private:
  std::vector<std::int64_t> values_;
  std::vector<std::uint64_t> bits_;
  bool all_ = true;
};

Column text_column(std::vector<std::uint32_t> codes, const Dictionary& dictionary) {
  std::vector<std::uint64_t> validity = validity_of(codes);
  for (std::uint32_t& code : codes) code = code == IdColumn::kNone ? 0 : code;
  Column column = Column::texts(std::move(codes), dictionary);
  return validity.empty() ? column : std::move(column).with_validity(std::move(validity));
}

class EventReader final : public BatchReader {
 public:
  EventReader(std::shared_ptr<const Shared> shared, LocationId location, std::unique_ptr<EventStream> stream,
              const ScanRequest& request)
      : shared_(std::move(shared)),
        location_(location),
        stream_(std::move(stream)),
        events_(std::max<std::size_t>(1, request.batch_rows)),
        columns_(wanted_columns(shared_->schema, request)) {}

  Result<bool> next(Batch& batch) override {
    batch = {};
    std::size_t count = 0;
    // A stream may hand over few at a time; carried events are not of this window.
    while (count < events_.size()) {
      if (cancelled()) return cancelled_error();
      FATHOM_TRY(const std::size_t got, stream_->next(std::span(events_).subspan(count)));
      if (got == 0) break;
      const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(count);
      const auto end = begin + static_cast<std::ptrdiff_t>(got);
      count = static_cast<std::size_t>(std::remove_if(begin, end, [](const Event& event) { return event.carried; }) -
                                       events_.begin());
    }
    if (count == 0) return false;
    batch.rows = count;
    for (const std::size_t column : columns_) {
      FATHOM_TRY(Column made, make(column, std::span<const Event>(events_).first(count)));
      batch.columns.push_back(std::move(made));
    }
    return true;
  }

 private:
  template <class Known, class Get>
  static Column numbers(ColumnType type, std::span<const Event> events, const Known& known, const Get& get) {
    Numbers out;
    for (const Event& event : events) {
      const bool is = known(event);
      out.add(is, is ? get(event) : 0);
    }
    return out.finish(type);
  }

  [[nodiscard]] bool is_real(const Event& event) const {
    const auto& metrics = shared_->trace->definitions().metrics;
    return event.kind == EventKind::counter && event.name < metrics.size() && metrics[event.name].type.is_double();
  }

  [[nodiscard]] Result<Column> make(std::size_t column, std::span<const Event> events) const {
    const auto codes = [&](const auto& get) {
      std::vector<std::uint32_t> out(events.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = get(events[i]);
      return out;
    };
    switch (column) {
      case kTime:
        return numbers(
            ColumnType::int64, events, [](const Event& e) { return e.has_time; },
            [](const Event& e) { return e.time_ns; });
      case kLocation:
        return shared_->location_ids.repeated(location_.value, events.size());
      case kKind:
        return Column::texts(codes([](const Event& e) { return static_cast<std::uint32_t>(e.kind); }), shared_->kinds);
      case kName:
        return text_column(codes([&](const Event& e) { return shared_->name_of(e); }), shared_->names);
      case kPeer:
        return numbers(
            ColumnType::int64, events, [](const Event& e) { return has_peer(e.kind) && e.peer >= 0; },
            [](const Event& e) { return e.peer; });
      case kTag:
        return numbers(
            ColumnType::int64, events,
            [](const Event& e) { return e.kind == EventKind::send || e.kind == EventKind::recv; },
            [](const Event& e) { return e.tag; });
      case kComm:
        return text_column(codes([](const Event& e) { return e.communicator.value; }), shared_->communicators);
      case kBytes:
        return numbers(
            ColumnType::int64, events, [](const Event& e) { return has_peer(e.kind) || e.kind == EventKind::complete; },
            [](const Event& e) { return e.bytes; });
      case kValue:
        return numbers(
            ColumnType::int64, events,
            [&](const Event& e) {
              return e.kind == EventKind::collective ||
                     ((e.kind == EventKind::state || e.kind == EventKind::counter) && e.has_value && !is_real(e));
            },
            [](const Event& e) { return e.value; });
      case kReal:
        return numbers(
            ColumnType::float64, events, [&](const Event& e) { return is_real(e); },
            [](const Event& e) { return e.value; });
      case kContext: {
        const std::size_t count = shared_->trace->definitions().contexts.size();
        return shared_->context_ids.at(codes(
            [&](const Event& e) { return e.kind == EventKind::sample && e.name < count ? e.name : IdColumn::kNone; }));
      }
      case kRecord:
        return numbers(
            ColumnType::uint64, events, [](const Event& e) { return e.record != Event::kNoRecord; },
            [](const Event& e) { return static_cast<std::int64_t>(e.record); });
      default:
        return details(events);
    }
  }

  [[nodiscard]] Result<Column> details(std::span<const Event> events) const {
    std::string all;
    std::vector<std::int64_t> ends;
    FATHOM_CHECK(append_details(*shared_->trace, events, all, ends));
    auto texts = std::make_shared<std::vector<std::string>>();
    std::vector<std::uint32_t> codes(events.size());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto end = static_cast<std::size_t>(ends[i]);
      const std::string_view text = std::string_view(all).substr(begin, end - begin);
      if (texts->empty() || texts->back() != text) texts->emplace_back(text);
      codes[i] = static_cast<std::uint32_t>(texts->size() - 1);
      begin = end;
    }
    return Column::texts(std::move(codes), std::move(texts));
  }

  std::shared_ptr<const Shared> shared_;
  LocationId location_;
  std::unique_ptr<EventStream> stream_;
  std::vector<Event> events_;
  std::vector<std::size_t> columns_;
};

class EventTable final : public TableSource {
 public:
  explicit EventTable(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}
  [[nodiscard]] const Schema& schema() const override { return shared_->schema; }
  [[nodiscard]] std::size_t parts() const override { return shared_->locations.size(); }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    const LocationId location = shared_->locations[part];
    FATHOM_TRY(auto stream, shared_->trace->open(location, shared_->window));
    return std::unique_ptr<BatchReader>(std::make_unique<EventReader>(shared_, location, std::move(stream), request));
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::unique_ptr<TableSource> event_scan(TracePtr trace, TimeWindow window, std::vector<LocationId> locations) {
  using enum ColumnType;
  auto shared = std::make_shared<Shared>();
  const Definitions& defs = trace->definitions();
  shared->window = window;
  shared->locations = std::move(locations);
  shared->location_ids = fathom::location_ids(defs.system);
  shared->context_ids = fathom::context_ids(defs.contexts);
  auto kinds = std::make_shared<std::vector<std::string>>();
  for (std::size_t i = 0; i < kEventKinds; ++i) kinds->emplace_back(to_string(static_cast<EventKind>(i)));
  shared->kinds = std::move(kinds);
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Region& region : defs.regions) names->push_back(region.name);
  shared->first_name[1] = static_cast<std::uint32_t>(names->size());
  for (const Channel& channel : trace->channels()) names->push_back(channel.name);
  shared->first_name[2] = static_cast<std::uint32_t>(names->size());
  for (const Metric& metric : defs.metrics) names->push_back(metric.name);
  shared->first_name[3] = static_cast<std::uint32_t>(names->size());
  for (const std::string& marker : trace->markers()) names->push_back(marker);
  names->emplace_back();  // so that empty cells have a code, too
  shared->names = std::move(names);
  auto communicators = std::make_shared<std::vector<std::string>>();
  for (std::size_t i = 0; i < trace->communicators().size(); ++i) {
    const std::string& name = trace->communicators()[i].name;
    communicators->push_back(name.empty() ? std::to_string(i) : name);
  }
  if (communicators->empty()) communicators->emplace_back();
  shared->communicators = std::move(communicators);
  shared->schema = {"event",
                    {{"time_ns", int64, "ns"},
                     {"location", shared->location_ids.type()},
                     {"kind", text},
                     {"name", text},
                     {"peer", int64},
                     {"tag", int64},
                     {"comm", text},
                     {"bytes", int64, "bytes"},
                     {"value", int64},
                     {"real", float64},
                     {"context", shared->context_ids.type()},
                     {"record", uint64},
                     {"detail", text}}};
  shared->trace = std::move(trace);
  return std::make_unique<EventTable>(std::move(shared));
}

}  // namespace fathom
