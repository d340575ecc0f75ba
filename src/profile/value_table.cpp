#include "profile/value_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "defs/path_walker.hpp"
#include "profile/absent.hpp"
#include "profile/aggregate.hpp"
#include "profile/expression/fold_locations.hpp"
#include "profile/selection.hpp"

namespace fathom {

namespace {

// Memory for one block of values; a quarter of the budget when that is less.
constexpr std::uint64_t kBlockBytes = 256ULL << 20;

enum ValueColumn : std::size_t { kMetric, kContext, kPath, kLocation, kValue, kColumns };

struct Part {
  enum class Kind : std::uint8_t { block, groups, over_locations, total, statistics, column_totals } kind;
  MetricId metric = {};
  IndexRange locations = {};
};

Result<void> subtract(Cells& from, const Cells& part, const std::string& metric) {
  if (from.type() == part.type()) {
    for (std::size_t row = 0; row < from.rows(); ++row) from.subtract_row(row, part, row);
    return {};
  }
  if (!from.type().is_plain_number() || !part.type().is_plain_number()) {
    return Error::usage(fmt::format("metric '{}' and those below it have values of different kinds", metric));
  }
  Cells rest({ValueKind::f64, 0}, from.rows(), from.columns());
  for (std::size_t row = 0; row < from.rows(); ++row) {
    for (std::size_t i = 0; i < from.columns(); ++i) {
      rest.reals(row)[i] = difference(from.scalar(row, i), part.scalar(row, i));
    }
  }
  from = std::move(rest);
  return {};
}

// What all parts share.
class Values {
 public:
  Values(ProfilePtr profile, ValueChoice choice) : profile_(std::move(profile)), choice_(std::move(choice)) {
    auto labels = std::make_shared<std::vector<std::string>>();
    const SystemTree& system = defs().system;
    for (std::size_t i = 0; i < system.location_count(); ++i) labels->push_back(system.location_label(LocationId(i)));
    none_ = static_cast<std::uint32_t>(labels->size());
    labels->emplace_back();
    for (const SystemGroup& group : choice_.groups) labels->push_back(group.name);
    labels_ = std::move(labels);
  }
  [[nodiscard]] const Profile& profile() const { return *profile_; }
  [[nodiscard]] const Definitions& defs() const { return profile_->defs(); }
  [[nodiscard]] const ValueChoice& choice() const { return choice_; }
  [[nodiscard]] const Dictionary& labels() const { return labels_; }
  // The code of no location.
  [[nodiscard]] std::uint32_t no_label() const { return none_; }
  [[nodiscard]] bool nothing_chosen() const { return choice_.contexts && choice_.contexts->empty(); }
  [[nodiscard]] std::vector<ContextId> contexts() const { return choice_.contexts.value_or(std::vector<ContextId>()); }
  [[nodiscard]] ContextId context(std::size_t row) const {
    return choice_.contexts ? (*choice_.contexts)[row] : ContextId(row);
  }

  [[nodiscard]] Result<Cells> block(MetricId metric, const Selection& selection) const {
    return without_parts(metric, [&](MetricId id, const Flavour& flavour, bool void_values) {
      Selection one = selection;
      one.flavour = flavour;
      one.void_values = void_values;
      return compute(*profile_, id, one);
    });
  }
  [[nodiscard]] Result<Cells> grouped(MetricId metric, const Grouping& grouping) const {
    return without_parts(metric, [&](MetricId id, const Flavour& flavour, bool void_values) {
      return compute_groups(*profile_, id, flavour, grouping, void_values);
    });
  }

  [[nodiscard]] Result<Cells> total(MetricId metric) const {
    Selection selection{
        .flavour = choice_.flavour, .contexts = contexts(), .locations = {}, .aggregate = true, .void_values = true};
    if (!choice_.contexts) selection.contexts = defs().contexts.roots();
    if (selection.contexts.empty()) return Cells(defs().metric(metric).type, 0, 1);
    // A derived metric's total follows from those of its operands.
    if (defs().metric(metric).derived() && !choice_.metric_exclusive) {
      return compute_groups(*profile_, metric, choice_.flavour, {{selection.contexts}, {choice_.locations}}, true);
    }
    Cells sum(defs().metric(metric).type, 1, 1);
    bool fresh = true;
    for (const IndexRange range : as_ranges(choice_.locations)) {
      selection.locations = range;
      FATHOM_TRY(const Cells cells, block(metric, selection));
      for (std::size_t row = 0; row < cells.rows(); ++row) {
        if (fresh) {
          sum = Cells(cells.type(), 1, 1);
          sum.copy_row(0, cells, row);
          fresh = false;
        } else {
          sum.add_row(0, cells, row);
        }
      }
    }
    return sum;
  }

  [[nodiscard]] std::vector<Part> parts() const {
    std::vector<Part> out;
    if (choice_.values && choice_.total) {
      for (const MetricId metric : choice_.metrics) out.push_back({Part::Kind::total, metric});
    } else if (choice_.values && !nothing_chosen()) {
      for (const MetricId metric : choice_.metrics) add_blocks(metric, out);
    }
    if (choice_.statistics && profile_->statistics) {
      out.push_back({choice_.total ? Part::Kind::column_totals : Part::Kind::statistics});
    }
    return out;
  }

 private:
  // The metric's values, what void metrics store among them, or what is left of them without the metrics below it;
  // there what is void counts as nothing.
  template <class Read>
  [[nodiscard]] Result<Cells> without_parts(MetricId metric, Read&& read) const {
    Flavour flavour = choice_.flavour;
    FATHOM_TRY(Cells cells, read(metric, flavour, true));
    if (!choice_.metric_exclusive) return cells;
    // What is stored for the metric itself decides what is taken off.
    if (flavour.kind == Flavour::Kind::stored && !defs().metric(metric).scopes.empty()) {
      const bool inclusive = defs().metric(metric).scopes[0].scope == Scope::inclusive;
      flavour.kind = inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive;
    }
    for (const MetricId child : defs().metric_children(metric)) {
      if (defs().metric(child).hidden || !why_unavailable(*profile_, child).empty()) continue;
      FATHOM_TRY(const Cells part, read(child, flavour, false));
      FATHOM_CHECK(subtract(cells, part, defs().metric(metric).name));
    }
    return cells;
  }

  void add_blocks(MetricId metric, std::vector<Part>& out) const {
    if (expression::is_over_locations(*profile_, metric)) {
      out.push_back({Part::Kind::over_locations, metric});
      return;
    }
    if (!choice_.groups.empty()) {
      out.push_back({Part::Kind::groups, metric});
      return;
    }
    const std::size_t rows = choice_.contexts ? choice_.contexts->size() : defs().contexts.size();
    const std::uint64_t per_location =
        std::max<std::uint64_t>(1, Cells::bytes_needed(defs().metric(metric).type, rows, 1));
    const std::uint64_t limit = std::min(kBlockBytes, profile_->work->budget.limit() / 4);
    const std::uint64_t block = std::clamp<std::uint64_t>(limit / per_location, 1, UINT32_MAX);
    for (const IndexRange range : as_ranges(choice_.locations)) {
      for (std::uint64_t begin = range.begin; begin < range.end; begin += block) {
        const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(range.end, begin + block));
        out.push_back({Part::Kind::block, metric, {static_cast<std::uint32_t>(begin), end}});
      }
    }
  }

  ProfilePtr profile_;
  ValueChoice choice_;
  Dictionary labels_;
  std::uint32_t none_ = 0;
};

// The columns of one batch while it grows.
class Rows {
 public:
  Rows(const Values& values, std::string_view metric, ValueType type, bool with_paths)
      : values_(values), form_(form_of(type)), paths_wanted_(with_paths), walker_(values.defs()) {
    metrics_ = std::make_shared<const std::vector<std::string>>(1, std::string(metric));
  }

  void start_context(ContextId id) {
    context_ = id.valid() ? values_.defs().contexts[id].file_id : 0;
    has_context_ = id.valid();
    if (!paths_wanted_) return;
    paths_->emplace_back(id.valid() ? walker_.path(id) : std::string_view());
  }
  void start_row(std::uint32_t location) {
    if (rows_ % 64 == 0) valid_.push_back(0);
    valid_.back() |= std::uint64_t{has_context_ ? 1U : 0U} << (rows_ % 64);
    all_valid_ = all_valid_ && has_context_;
    contexts_.push_back(context_);
    if (paths_wanted_) path_codes_.push_back(static_cast<std::uint32_t>(paths_->size() - 1));
    locations_.push_back(location);
    ++rows_;
  }
  void value(double number) { reals_.push_back(number); }
  void value(Int128 number) { integers_.push_back(number); }
  void value(std::string_view text) {
    texts_ += text;
    offsets_.push_back(static_cast<std::int64_t>(texts_.size()));
  }

  Batch finish(const std::vector<std::size_t>& columns) && {
    Batch batch{rows_, {}};
    for (const std::size_t column : columns) batch.columns.push_back(make(column));
    return batch;
  }

 private:
  Column make(std::size_t column) {
    switch (column) {
      case kMetric:
        return Column::texts(std::vector<std::uint32_t>(rows_, 0), metrics_);
      case kContext: {
        Column made = Column::naturals(contexts_);
        return all_valid_ ? made : std::move(made).with_validity(valid_);
      }
      case kPath:
        return Column::texts(path_codes_, paths_);
      case kLocation:
        return Column::texts(locations_, values_.labels());
      default:
        if (form_ == Form::real) return Column::reals(std::move(reals_));
        if (form_ == Form::integer) return Column::sums(std::move(integers_));
        return Column::free_texts(std::move(offsets_), std::move(texts_));
    }
  }

  const Values& values_;
  Form form_;
  bool paths_wanted_;
  PathWalker walker_;
  Dictionary metrics_;
  std::shared_ptr<std::vector<std::string>> paths_ = std::make_shared<std::vector<std::string>>();
  std::size_t rows_ = 0;
  std::uint64_t context_ = 0;
  bool has_context_ = false;
  bool all_valid_ = true;
  std::vector<std::uint64_t> valid_;
  std::vector<std::uint64_t> contexts_;
  std::vector<std::uint32_t> path_codes_;
  std::vector<std::uint32_t> locations_;
  std::vector<double> reals_;
  std::vector<Int128> integers_;
  std::vector<std::int64_t> offsets_ = {0};
  std::string texts_;
};

struct Request {
  std::vector<std::size_t> columns;
  std::size_t batch_rows;
  explicit Request(const ScanRequest& request) : columns(request.columns), batch_rows(request.batch_rows) {
    for (std::size_t i = 0; request.columns.empty() && i < kColumns; ++i) columns.push_back(i);
  }
  [[nodiscard]] bool wants(std::size_t column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }
};

// A block of cells: computed when the first batch is asked for, then cut into pieces that need nothing of each other.
class BlockReader final : public BatchReader {
 public:
  BlockReader(std::shared_ptr<const Values> values, Part part, const ScanRequest& request)
      : values_(std::move(values)), part_(part), request_(request) {}

  Result<bool> prepare(BatchMaker& maker) override {
    if (!cells_) FATHOM_CHECK(compute_cells());
    const std::size_t all = cells_->rows() * cells_->columns();
    if (next_ >= all) return false;
    const std::size_t begin = next_;
    next_ = std::min(all, begin + request_.batch_rows);
    maker = [values = values_, part = part_, request = request_, cells = cells_, begin,
             end = next_]() -> Result<Batch> { return piece(*values, part, request, *cells, begin, end); };
    return true;
  }
  Result<bool> next(Batch& batch) override {
    batch = {};
    BatchMaker maker;
    FATHOM_TRY(const bool more, prepare(maker));
    if (!more) return false;
    FATHOM_TRY(batch, maker());
    return true;
  }

 private:
  Result<void> compute_cells() {
    const ValueChoice& choice = values_->choice();
    Cells cells;
    if (part_.kind == Part::Kind::total) {
      FATHOM_TRY(cells, values_->total(part_.metric));
    } else if (part_.kind == Part::Kind::over_locations || part_.kind == Part::Kind::groups) {
      Grouping grouping{{}, {}};
      if (part_.kind == Part::Kind::over_locations)
        grouping.columns = {choice.locations};
      else
        for (const SystemGroup& group : choice.groups) grouping.columns.push_back(group.locations);
      for (const ContextId id : values_->contexts()) grouping.rows.push_back({id});
      FATHOM_TRY(cells, values_->grouped(part_.metric, grouping));
    } else {
      const Selection selection{.flavour = choice.flavour,
                                .contexts = values_->contexts(),
                                .locations = part_.locations,
                                .void_values = true};
      FATHOM_TRY(cells, values_->block(part_.metric, selection));
    }
    cells_ = std::make_shared<const Cells>(std::move(cells));
    return {};
  }

  // Cells [begin, end), counted row by row.
  static Batch piece(const Values& values, const Part& part, const Request& request, const Cells& cells,
                     std::size_t begin, std::size_t end) {
    Rows rows(values, values.defs().metric(part.metric).name, cells.type(), request.wants(kPath));
    const bool zeros = values.choice().zeros;
    const Form form = form_of(cells.type());
    const bool one_location = part.kind == Part::Kind::block;
    for (std::size_t at = begin; at < end;) {
      const std::size_t row = at / cells.columns();
      const std::size_t first = at % cells.columns();
      const std::size_t stop = std::min(cells.columns(), first + (end - at));
      bool started = false;
      for (std::size_t column = first; column < stop; ++column) {
        if (!zeros && cells.is_zero(row, column)) continue;
        if (!has_value(cells, row, column)) continue;  // an extreme of nothing
        if (!started) rows.start_context(part.kind == Part::Kind::total ? ContextId() : values.context(row));
        started = true;
        rows.start_row(one_location                      ? static_cast<std::uint32_t>(part.locations.begin + column)
                       : part.kind == Part::Kind::groups ? static_cast<std::uint32_t>(values.no_label() + 1 + column)
                                                         : values.no_label());
        if (form == Form::real) {
          rows.value(cells.reals(row)[column]);
        } else if (form == Form::integer) {
          rows.value(cells.integers(row)[column]);
        } else {
          rows.value(cells.at(row, column).text());
        }
      }
      at += stop - first;
    }
    return std::move(rows).finish(request.columns);
  }

  std::shared_ptr<const Values> values_;
  Part part_;
  Request request_;
  std::shared_ptr<const Cells> cells_;
  std::size_t next_ = 0;
};

constexpr ValueType kReal{ValueKind::f64, 0};

// Statistics that the file stores, one after the other, or their totals per metric.
class StatisticsReader final : public BatchReader {
 public:
  StatisticsReader(std::shared_ptr<const Values> values, Part part, const ScanRequest& request)
      : values_(std::move(values)), part_(part), request_(request) {}

  Result<bool> next(Batch& batch) override {
    batch = {};
    if (!read_) {
      FATHOM_TRY(all_, values_->profile().statistics());
      read_ = true;
      if (part_.kind == Part::Kind::column_totals) add_totals();
    }
    // The name of a metric is the same within a batch.
    while (next_ < all_.size() && !wanted(all_[next_])) ++next_;
    if (next_ == all_.size()) return false;
    const std::string name = name_of(all_[next_]);
    Rows rows(*values_, name, kReal, request_.wants(kPath));
    std::size_t count = 0;
    for (; next_ < all_.size() && count < request_.batch_rows; ++next_) {
      const StoredStatistic& one = all_[next_];
      if (!wanted(one)) continue;
      if (name_of(one) != name) break;
      rows.start_context(one.context);
      rows.start_row(values_->no_label());
      rows.value(one.value);
      ++count;
    }
    batch = std::move(rows).finish(request_.columns);
    return true;
  }

 private:
  [[nodiscard]] bool wanted(const StoredStatistic& one) const {
    const ValueChoice& choice = values_->choice();
    if (one.value == 0 && !choice.zeros) return false;
    if (part_.kind == Part::Kind::column_totals) return true;
    if (!one.context.valid()) return false;  // of the root above all
    if (std::find(choice.metrics.begin(), choice.metrics.end(), one.metric.metric) == choice.metrics.end())
      return false;
    return !choice.contexts || std::binary_search(choice.contexts->begin(), choice.contexts->end(), one.context);
  }

  [[nodiscard]] std::string name_of(const StoredStatistic& one) const {
    const Metric& metric = values_->defs().metric(one.metric.metric);
    std::string name = metric.name;
    if (part_.kind == Part::Kind::column_totals) return name;
    if (!one.statistic.empty()) name += ":" + one.statistic;
    // Inclusive ones go without their scope's name, as values do.
    if (metric.scopes.size() > 1 && metric.scopes[one.metric.scope].scope != Scope::inclusive) {
      name += fmt::format(" ({})", metric.scopes[one.metric.scope].name);
    }
    return name;
  }

  // Of the root above all where it is stored, else the sum over the roots, or over the contexts asked for.
  void add_totals() {
    const ValueChoice& choice = values_->choice();
    const std::vector<ContextId> rows = choice.contexts.value_or(values_->defs().contexts.roots());
    std::vector<StoredStatistic> totals;
    for (const MetricId metric : choice.metrics) {
      double sum = 0;
      std::optional<double> stored;
      for (const StoredStatistic& one : all_) {
        if (one.metric.metric != metric) continue;
        if (!one.context.valid()) stored = one.value;
        if (one.context.valid() && std::binary_search(rows.begin(), rows.end(), one.context)) sum += one.value;
      }
      totals.push_back({{metric, 0}, {}, {}, choice.contexts ? sum : stored.value_or(sum)});
    }
    all_ = std::move(totals);
  }

  std::shared_ptr<const Values> values_;
  Part part_;
  Request request_;
  bool read_ = false;
  std::vector<StoredStatistic> all_;
  std::size_t next_ = 0;
};

class ValueTable final : public TableSource {
 public:
  ValueTable(ProfilePtr profile, ValueChoice choice)
      : values_(std::make_shared<const Values>(std::move(profile), std::move(choice))), parts_(values_->parts()) {}
  [[nodiscard]] const Schema& schema() const override {
    static const Schema kSchema{"value",
                                {{"metric", ColumnType::text},
                                 {"context", ColumnType::uint64},
                                 {"path", ColumnType::text},
                                 {"location", ColumnType::text},
                                 {"value", ColumnType::float64}}};
    return kSchema;
  }
  [[nodiscard]] std::size_t parts() const override { return parts_.size(); }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    const Part& which = parts_[part];
    if (which.kind == Part::Kind::statistics || which.kind == Part::Kind::column_totals) {
      return std::unique_ptr<BatchReader>(std::make_unique<StatisticsReader>(values_, which, request));
    }
    return std::unique_ptr<BatchReader>(std::make_unique<BlockReader>(values_, which, request));
  }

 private:
  std::shared_ptr<const Values> values_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<TableSource> value_table(ProfilePtr profile, ValueChoice choice) {
  return std::make_unique<ValueTable>(std::move(profile), std::move(choice));
}

}  // namespace fathom
