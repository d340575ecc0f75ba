#include "tables/total_table.hpp"

#include <algorithm>

#include "profile/aggregate.hpp"
#include "tables/ids.hpp"
#include "tables/request.hpp"

namespace fathom {

namespace {

struct Shared {
  ProfilePtr profile;
  std::vector<MetricId> metrics;
  std::vector<LocationId> locations;
  Schema schema;
  Dictionary names;
  IdColumn ids;
};

class Reader final : public BatchReader {
 public:
  Reader(std::shared_ptr<const Shared> shared, MetricId metric, const ScanRequest& request)
      : shared_(std::move(shared)), metric_(metric), columns_(wanted_columns(shared_->schema, request)) {}

  Result<bool> next(Batch& batch) override {
    batch = {};
    if (done_) return false;
    done_ = true;
    const Grouping grouping{{}, {shared_->locations}};
    const auto values = [&](Flavour::Kind kind) {
      return compute_groups(*shared_->profile, metric_, Flavour{kind, {}}, grouping);
    };
    FATHOM_TRY(const Cells exclusive, values(Flavour::Kind::exclusive));
    FATHOM_TRY(const Cells inclusive, values(Flavour::Kind::inclusive));
    std::vector<std::uint32_t> rows;
    for (std::size_t row = 0; row < inclusive.rows(); ++row) {
      if (!inclusive.is_zero(row, 0) || !exclusive.is_zero(row, 0)) rows.push_back(static_cast<std::uint32_t>(row));
    }
    if (rows.empty()) return false;
    batch.rows = rows.size();
    for (const std::size_t column : columns_) {
      if (column == 0) {
        batch.columns.push_back(Column::texts(std::vector<std::uint32_t>(rows.size(), metric_.value), shared_->names));
      } else if (column == 1) {
        batch.columns.push_back(shared_->ids.at(rows));
      } else {
        const Cells& cells = column == 2 ? exclusive : inclusive;
        std::vector<double> reals;
        for (const std::uint32_t row : rows) reals.push_back(cells.scalar(row, 0));
        batch.columns.push_back(Column::reals(std::move(reals)));
      }
    }
    return true;
  }

 private:
  std::shared_ptr<const Shared> shared_;
  MetricId metric_;
  std::vector<std::size_t> columns_;
  bool done_ = false;
};

class TotalTable final : public TableSource {
 public:
  explicit TotalTable(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}
  [[nodiscard]] const Schema& schema() const override { return shared_->schema; }
  [[nodiscard]] std::size_t parts() const override { return shared_->metrics.size(); }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(shared_, shared_->metrics[part], request));
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<TableSource>> total_table(ProfilePtr profile, std::vector<MetricId> metrics,
                                                 std::vector<LocationId> locations) {
  auto shared = std::make_shared<Shared>();
  const Definitions& defs = profile->defs();
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Metric& metric : defs.metrics) names->push_back(metric.name);
  shared->names = std::move(names);
  shared->ids = context_ids(defs.contexts);
  shared->schema = {"total",
                    {{"metric", ColumnType::text},
                     {"context", shared->ids.type()},
                     {"exclusive", ColumnType::float64},
                     {"inclusive", ColumnType::float64}}};
  shared->metrics = std::move(metrics);
  shared->locations = std::move(locations);
  shared->profile = std::move(profile);
  return std::unique_ptr<TableSource>(std::make_unique<TotalTable>(std::move(shared)));
}

}  // namespace fathom
