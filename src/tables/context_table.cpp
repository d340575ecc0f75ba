#include <algorithm>

#include "defs/path_walker.hpp"
#include "tables/definition_tables.hpp"
#include "tables/ids.hpp"
#include "tables/request.hpp"

namespace fathom {

namespace {

// Contexts of one part: paths of that many stand in memory at a time.
constexpr std::size_t kPartRows = 16384;

struct Shared {
  DefinitionsPtr defs;
  IdColumn ids;
  IdColumn regions;
  Dictionary names;  // of regions, by position
  Dictionary files;  // by position; of regions, then of call sites
  Schema schema;
};

enum Columns : std::size_t { kId, kParent, kRegion, kDepth, kPath, kName, kEdge, kFile, kLine };

class Reader final : public BatchReader {
 public:
  Reader(std::shared_ptr<const Shared> shared, std::size_t begin, std::size_t end, const ScanRequest& request)
      : shared_(std::move(shared)),
        at_(begin),
        end_(end),
        rows_(std::max<std::size_t>(1, request.batch_rows)),
        columns_(wanted_columns(shared_->schema, request)) {}

  Result<bool> next(Batch& batch) override {
    batch = {};
    if (at_ == end_) return false;
    const std::size_t begin = at_;
    at_ = std::min(end_, at_ + rows_);
    batch.rows = at_ - begin;
    for (const std::size_t column : columns_) batch.columns.push_back(make(column, begin));
    return true;
  }

 private:
  template <class Get>
  [[nodiscard]] std::vector<std::uint32_t> positions(std::size_t begin, const Get& get) const {
    std::vector<std::uint32_t> out(at_ - begin);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = get(ContextId(begin + i));
    return out;
  }
  [[nodiscard]] Column texts(std::vector<std::uint32_t> codes, const Dictionary& dictionary) const {
    std::vector<std::uint64_t> validity = validity_of(codes);
    for (std::uint32_t& code : codes) code = code == IdColumn::kNone ? 0 : code;
    Column column = Column::texts(std::move(codes), dictionary);
    return validity.empty() ? column : std::move(column).with_validity(std::move(validity));
  }

  Column make(std::size_t column, std::size_t begin) {
    const ContextTree& tree = shared_->defs->contexts;
    switch (column) {
      case kId:
        return shared_->ids.at(positions(begin, [](ContextId id) { return id.value; }));
      case kParent:
        return shared_->ids.at(positions(begin, [&](ContextId id) { return tree[id].parent.value; }));
      case kRegion:
        return shared_->regions.at(positions(begin, [&](ContextId id) { return tree[id].region.value; }));
      case kDepth: {
        std::vector<std::int64_t> depths;
        for (std::size_t i = begin; i < at_; ++i) depths.push_back(tree[ContextId(i)].depth);
        return Column::integers(std::move(depths));
      }
      case kPath: {
        PathWalker walker(*shared_->defs);
        auto paths = std::make_shared<std::vector<std::string>>();
        for (std::size_t i = begin; i < at_; ++i) paths->emplace_back(walker.path(ContextId(i)));
        return Column::texts(
            positions(begin, [&](ContextId id) { return static_cast<std::uint32_t>(id.value - begin); }),
            std::move(paths));
      }
      case kName:
        return texts(positions(begin, [&](ContextId id) { return tree[id].region.value; }), shared_->names);
      case kEdge: {
        static const Dictionary kEdges =
            std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"call", "inlined", "lexical"});
        return Column::texts(positions(begin, [&](ContextId id) { return static_cast<std::uint32_t>(tree[id].edge); }),
                             kEdges);
      }
      case kFile: {
        auto files = std::make_shared<std::vector<std::string>>();
        std::vector<std::uint32_t> codes;
        for (std::size_t i = begin; i < at_; ++i) {
          const std::string& file = tree.details(ContextId(i)).file;
          if (!file.empty() && (files->empty() || files->back() != file)) files->push_back(file);
          codes.push_back(file.empty() ? IdColumn::kNone : static_cast<std::uint32_t>(files->size() - 1));
        }
        if (files->empty()) files->emplace_back();
        return texts(std::move(codes), files);
      }
      default: {
        std::vector<std::int64_t> lines;
        std::vector<std::uint32_t> known;
        for (std::size_t i = begin; i < at_; ++i) {
          lines.push_back(tree[ContextId(i)].line);
          known.push_back(lines.back() < 0 ? IdColumn::kNone : 0);
        }
        std::vector<std::uint64_t> validity = validity_of(known);
        Column out = Column::integers(std::move(lines));
        return validity.empty() ? out : std::move(out).with_validity(std::move(validity));
      }
    }
  }

  std::shared_ptr<const Shared> shared_;
  std::size_t at_;
  std::size_t end_;
  std::size_t rows_;
  std::vector<std::size_t> columns_;
};

class ContextTable final : public TableSource {
 public:
  explicit ContextTable(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}
  [[nodiscard]] const Schema& schema() const override { return shared_->schema; }
  [[nodiscard]] std::optional<std::uint64_t> row_count() const override { return shared_->defs->contexts.size(); }
  [[nodiscard]] std::size_t parts() const override {
    return (shared_->defs->contexts.size() + kPartRows - 1) / kPartRows;
  }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    const std::size_t begin = part * kPartRows;
    const std::size_t end = std::min(begin + kPartRows, shared_->defs->contexts.size());
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(shared_, begin, end, request));
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::unique_ptr<TableSource> context_table(DefinitionsPtr defs) {
  using enum ColumnType;
  auto shared = std::make_shared<Shared>();
  shared->ids = context_ids(defs->contexts);
  shared->regions = region_ids(defs->regions);
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Region& region : defs->regions) names->push_back(region.name);
  if (names->empty()) names->emplace_back();
  shared->names = std::move(names);
  shared->schema = {"context",
                    {{"id", shared->ids.type()},
                     {"parent", shared->ids.type()},
                     {"region", shared->regions.type()},
                     {"depth", int64},
                     {"path", text},
                     {"name", text},
                     {"edge", text},
                     {"file", text},
                     {"line", int64}}};
  shared->defs = std::move(defs);
  return std::make_unique<ContextTable>(std::move(shared));
}

}  // namespace fathom
