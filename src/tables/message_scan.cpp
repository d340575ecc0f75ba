#include <algorithm>
#include <unordered_set>

#include "tables/event_scan.hpp"
#include "tables/ids.hpp"
#include "tables/pushed_batches.hpp"
#include "tables/request.hpp"

namespace fathom {

namespace {

class MessageTable final : public TableSource {
 public:
  MessageTable(TracePtr trace, TimeWindow window, const std::vector<LocationId>& locations)
      : trace_(std::move(trace)),
        window_(window),
        chosen_(locations.begin(), locations.end()),
        ids_(location_ids(trace_->definitions().system)) {
    using enum ColumnType;
    schema_ = {"message",
               {{"src", int64},
                {"dst", int64},
                {"tag", int64},
                {"comm", text},
                {"bytes", int64, "bytes"},
                {"t_send", int64, "ns"},
                {"t_recv", int64, "ns"},
                {"from_location", ids_.type()},
                {"to_location", ids_.type()}}};
  }
  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] std::size_t parts() const override { return 1; }

  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t, const ScanRequest& request) const override {
    const std::vector<std::size_t> columns = wanted_columns(schema_, request);
    return std::unique_ptr<BatchReader>(std::make_unique<PushedBatches>(
        [this, columns, rows = std::max<std::size_t>(1, request.batch_rows)](const BatchSink& sink) -> Result<void> {
          std::vector<Message> messages;
          bool wanted = true;
          const auto flush = [&] {
            if (!messages.empty()) wanted = sink(make(messages, columns));
            messages.clear();
            return wanted;
          };
          FATHOM_CHECK(trace_->messages(window_, [&](const Message& message) {
            if (!chosen_.empty() && !chosen_.contains(message.from) && !chosen_.contains(message.to)) return true;
            messages.push_back(message);
            return messages.size() < rows || flush();
          }));
          if (wanted) flush();
          return {};
        }));
  }

 private:
  [[nodiscard]] Batch make(const std::vector<Message>& messages, const std::vector<std::size_t>& columns) const {
    Batch batch{messages.size(), {}};
    const auto numbers = [&](const auto& get) {
      std::vector<std::int64_t> values(messages.size());
      std::vector<std::uint32_t> known(messages.size(), 0);
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const std::optional<std::int64_t> value = get(messages[i]);
        values[i] = value.value_or(0);
        if (!value) known[i] = IdColumn::kNone;
      }
      std::vector<std::uint64_t> validity = validity_of(known);
      Column column = Column::integers(std::move(values));
      return validity.empty() ? column : std::move(column).with_validity(std::move(validity));
    };
    const auto ids = [&](const auto& get) {
      std::vector<std::uint32_t> positions(messages.size());
      for (std::size_t i = 0; i < messages.size(); ++i) positions[i] = get(messages[i]).value;
      return ids_.at(std::move(positions));
    };
    using Number = std::optional<std::int64_t>;
    const auto rank = [](std::int32_t value) { return value < 0 ? Number() : Number(value); };
    for (const std::size_t column : columns) {
      switch (column) {
        case 0:
          batch.columns.push_back(numbers([&](const Message& m) { return rank(m.from_rank); }));
          break;
        case 1:
          batch.columns.push_back(numbers([&](const Message& m) { return rank(m.to_rank); }));
          break;
        case 2:
          batch.columns.push_back(numbers([](const Message& m) { return Number(m.tag); }));
          break;
        case 3:
          batch.columns.push_back(communicators(messages));
          break;
        case 4:
          batch.columns.push_back(numbers([](const Message& m) { return Number(m.bytes); }));
          break;
        case 5:
          batch.columns.push_back(numbers([](const Message& m) { return m.sent_ns; }));
          break;
        case 6:
          batch.columns.push_back(numbers([](const Message& m) { return m.received_ns; }));
          break;
        case 7:
          batch.columns.push_back(ids([](const Message& m) { return m.from; }));
          break;
        default:
          batch.columns.push_back(ids([](const Message& m) { return m.to; }));
          break;
      }
    }
    return batch;
  }

  [[nodiscard]] Column communicators(const std::vector<Message>& messages) const {
    auto names = std::make_shared<std::vector<std::string>>();
    for (std::size_t i = 0; i < trace_->communicators().size(); ++i) {
      const std::string& name = trace_->communicators()[i].name;
      names->push_back(name.empty() ? std::to_string(i) : name);
    }
    if (names->empty()) names->emplace_back();
    std::vector<std::uint32_t> codes(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) codes[i] = messages[i].communicator.value;
    std::vector<std::uint64_t> validity = validity_of(codes);
    for (std::uint32_t& code : codes) code = code == IdColumn::kNone ? 0 : code;
    Column column = Column::texts(std::move(codes), std::move(names));
    return validity.empty() ? column : std::move(column).with_validity(std::move(validity));
  }

  TracePtr trace_;
  TimeWindow window_;
  std::unordered_set<LocationId> chosen_;
  IdColumn ids_;
  Schema schema_;
};

}  // namespace

std::unique_ptr<TableSource> message_scan(TracePtr trace, TimeWindow window, std::vector<LocationId> locations) {
  return std::make_unique<MessageTable>(std::move(trace), window, locations);
}

}  // namespace fathom
