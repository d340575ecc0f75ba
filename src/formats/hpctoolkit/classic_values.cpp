#include "formats/hpctoolkit/classic_values.hpp"

namespace fathom::hpctoolkit {

namespace {

class TableSource : public ValueSource {
 public:
  TableSource(std::vector<MetricDbFile> tables, std::vector<std::size_t> groups, TableColumns columns,
              std::shared_ptr<const Definitions> definitions, std::shared_ptr<const void> owner)
      : tables_(std::move(tables)),
        groups_(std::move(groups)),
        columns_(std::move(columns)),
        definitions_(std::move(definitions)),
        owner_(std::move(owner)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }

  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    std::vector<std::uint32_t> positions;
    std::vector<double> values;
    for (std::uint32_t at = box.contexts.begin; at < box.contexts.end; ++at) {
      const std::uint64_t row = definitions_->contexts[ContextId(at)].file_id - 1;
      for (const StoredMetric& metric : box.metrics) {
        const auto& columns = columns_[metric.metric.index()][metric.scope];
        positions.clear();
        values.clear();
        for (std::uint32_t location = box.locations.begin; location < box.locations.end; ++location) {
          if (location >= tables_.size()) break;
          const MetricDbFile& table = tables_[location];
          const std::uint32_t column = columns[groups_[location]];
          if (row >= table.rows || column >= table.columns) continue;
          const double value = table.at(row, column);
          if (value == 0) continue;
          positions.push_back(location);
          values.push_back(value);
        }
        if (positions.empty()) continue;
        Run run;
        run.metric = metric;
        run.context = ContextId(at);
        run.positions = positions;
        run.count = positions.size();
        run.values = reinterpret_cast<const std::byte*>(values.data());
        FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }

 private:
  std::vector<MetricDbFile> tables_;
  std::vector<std::size_t> groups_;  // of every table
  TableColumns columns_;             // [metric][scope][group]
  std::shared_ptr<const Definitions> definitions_;
  std::shared_ptr<const void> owner_;
};

class ColumnSource : public ValueSource {
 public:
  explicit ColumnSource(std::vector<std::vector<std::vector<double>>> values) : values_(std::move(values)) {}
  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    if (!box.locations.contains(0)) return {};
    for (const StoredMetric& metric : box.metrics) {
      const auto& column = values_[metric.metric.index()][metric.scope];
      Run run;
      run.metric = metric;
      run.along = Axis::context;
      run.location = LocationId(0);
      run.first = box.contexts.begin;
      run.count = box.contexts.size();
      run.values = reinterpret_cast<const std::byte*>(column.data() + box.contexts.begin);
      FATHOM_CHECK(visit(run));
    }
    return {};
  }

 private:
  std::vector<std::vector<std::vector<double>>> values_;  // [metric][scope][context]
};

}  // namespace

std::shared_ptr<const ValueSource> table_source(std::vector<MetricDbFile> tables, std::vector<std::size_t> groups,
                                                TableColumns columns, std::shared_ptr<const Definitions> definitions,
                                                std::shared_ptr<const void> owner) {
  return std::make_shared<TableSource>(std::move(tables), std::move(groups), std::move(columns), std::move(definitions),
                                       std::move(owner));
}

std::shared_ptr<const ValueSource> column_source(std::vector<std::vector<std::vector<double>>> values) {
  return std::make_shared<ColumnSource>(std::move(values));
}

}  // namespace fathom::hpctoolkit
