#include "formats/cube/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::cube {

namespace {

class FileRows : public RowSource {
 public:
  FileRows(const CubeFile& file, std::vector<bool> usable) : file_(file), usable_(std::move(usable)) {}

  [[nodiscard]] std::size_t row_bytes(std::size_t metric) const override {
    if (!usable_[metric]) return 0;
    return (*file_.values(metric))->data.row_bytes();
  }

  Result<void> rows(std::size_t metric, const Visit& visit) const override {
    FATHOM_TRY(const CubeFile::Values* values, file_.values(metric));
    // By number, whatever the order in the file.
    std::vector<std::uint32_t> order(values->data.row_count());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return values->data.number(a) < values->data.number(b); });
    std::vector<std::byte> scratch;
    for (const std::uint32_t row : order) {
      FATHOM_TRY(const std::byte* at, values->data.row(row, scratch));
      if (at != nullptr) FATHOM_CHECK(visit(values->data.number(row), at));
    }
    return {};
  }

  // A metric of unknown type keeps its members as they are: the numbering of rows does not change.
  [[nodiscard]] std::pair<const TarMember*, const TarMember*> members(std::size_t metric) const override {
    if (file_.type(metric) || file_.anchor().metrics[metric].derived()) return {nullptr, nullptr};
    return {file_.index_member(metric), file_.data_member(metric)};
  }

 private:
  const CubeFile& file_;
  std::vector<bool> usable_;
};

// Whether every row can be read.
Result<void> try_rows(const CubeFile& file, std::size_t metric) {
  FATHOM_TRY(const CubeFile::Values* values, file.values(metric));
  if (!values->data.compressed()) return {};
  std::vector<std::byte> scratch;
  for (std::size_t row = 0; row < values->data.row_count(); ++row) {
    FATHOM_TRY([[maybe_unused]] const std::byte* at, values->data.row(row, scratch));
  }
  return {};
}

}  // namespace

Result<void> rewrite_cube(const CubeFile& file, const std::filesystem::path& target, const CubeWriteOptions& options) {
  Anchor anchor = file.anchor();
  make_writable(anchor, TreeIds::as_they_are);
  std::vector<bool> usable(anchor.metrics.size());
  for (std::size_t metric = 0; metric < usable.size(); ++metric) {
    if (anchor.metrics[metric].derived() || !file.type(metric)) continue;
    auto status = try_rows(file, metric);
    usable[metric] = status.ok();
    if (status.ok()) continue;
    FATHOM_CHECK(
        file.work()->diagnostics.lost("cube.metric_values_lost", status.error().place(),
                                      fmt::format("the values of metric '{}' cannot be read and are left out: {}",
                                                  anchor.metrics[metric].uniq_name, status.error().message())));
  }
  return write_cube(target, anchor, FileRows(file, std::move(usable)), file.extra_members(), options);
}

}  // namespace fathom::cube
