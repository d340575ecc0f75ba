#include "tables/lazy_table.hpp"

#include <mutex>

namespace fathom {

namespace {

class LazyTable final : public TableSource {
 public:
  LazyTable(Schema schema, std::function<Result<Table>()> make) : schema_(std::move(schema)), make_(std::move(make)) {}
  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    const std::scoped_lock lock(mutex_);
    if (!made_) {
      FATHOM_TRY(Table table, make_());
      made_ = source_of(std::move(table));
    }
    return made_->open(part, request);
  }

 private:
  Schema schema_;
  std::function<Result<Table>()> make_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<TableSource> made_;
};

}  // namespace

std::unique_ptr<TableSource> lazy_table(Schema schema, std::function<Result<Table>()> make) {
  return std::make_unique<LazyTable>(std::move(schema), std::move(make));
}

}  // namespace fathom
