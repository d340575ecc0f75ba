#include "tables/value_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/cancel.hpp"
#include "profile/aggregate.hpp"
#include "profile/expression/fold_locations.hpp"
#include "profile/selection.hpp"
#include "profile/stored_flavour.hpp"
#include "tables/ids.hpp"
#include "tables/request.hpp"

namespace fathom {

namespace {

// Cells that a part may cover.
constexpr std::uint64_t kDenseCells = 1U << 17;  // what fits the caches
// Where pieces are read along locations or contexts most cells are empty: as many as are worth a part.
constexpr std::uint64_t kSparseCells = 1U << 23;
// Enough parts for any number of threads, whose last ones end at about the same time.
constexpr std::uint64_t kManyParts = 64;

enum Columns : std::size_t { kMetric, kContext, kLocation, kValue };

struct Part {
  enum class Kind : std::uint8_t { stored, computed, over_locations, columns } kind = Kind::stored;
  std::vector<StoredMetric> metrics;
  IndexRange contexts;
  IndexRange locations;
};

struct Shared {
  ProfilePtr profile;
  ValueBounds bounds;
  std::vector<bool> chosen;  // contexts, when not all of a range are
  std::vector<Part> parts;
  Schema schema;
  Dictionary metric_names;
  IdColumn context_ids;
  IdColumn location_ids;

  [[nodiscard]] bool wants(std::uint32_t context) const { return chosen.empty() || chosen[context]; }
};

// Which columns are collected at all.
struct Wanted {
  bool metric = false, context = false, location = false, value = false;
};

// Rows of a part; large integers, others and doubles apart, so that all stay exact.
template <class Number>
struct Rows {
  std::vector<std::uint32_t> metrics, contexts, locations;
  std::vector<Number> values;
  std::size_t count = 0;

  void reserve(const Wanted& wanted, std::size_t rows) {
    if (wanted.metric) metrics.reserve(rows);
    if (wanted.context) contexts.reserve(rows);
    if (wanted.location) locations.reserve(rows);
    if (wanted.value) values.reserve(rows);
  }
  void add(const Wanted& wanted, std::uint32_t metric, std::uint32_t context, std::uint32_t location, Number value) {
    if (wanted.metric) metrics.push_back(metric);
    if (wanted.context) contexts.push_back(context);
    if (wanted.location) locations.push_back(location);
    if (wanted.value) values.push_back(value);
    ++count;
  }
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

class Reader final : public BatchReader {
 public:
  Reader(std::shared_ptr<const Shared> shared, const Part& part, const ScanRequest& request)
      : shared_(std::move(shared)),
        part_(part),
        batch_rows_(std::max<std::size_t>(1, request.batch_rows)),
        columns_(wanted_columns(shared_->schema, request)) {
    const auto wants = [&](std::size_t column) {
      return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
    };
    wanted_ = {wants(kMetric), wants(kContext), wants(kLocation), wants(kValue)};
  }

  Result<bool> next(Batch& batch) override {
    batch = {};
    if (!read_) FATHOM_CHECK(read());
    read_ = true;
    // First the doubles, then the integers.
    std::size_t before = 0;
    if (take(reals_, before, batch)) return true;
    before += reals_.count;
    if (take(integers_, before, batch)) return true;
    before += integers_.count;
    return take(large_, before, batch);
  }

 private:
  [[nodiscard]] const Definitions& defs() const { return shared_->profile->defs(); }

  // Rows that begin at row `first` of all.
  template <class Number>
  bool take(const Rows<Number>& rows, std::size_t first, Batch& batch) {
    if (at_ < first || at_ >= first + rows.count) return false;
    const std::size_t begin = at_ - first;
    const std::size_t end = std::min(rows.count, begin + batch_rows_);
    batch.rows = end - begin;
    for (const std::size_t column : columns_) batch.columns.push_back(make(rows, column, begin, end));
    at_ = first + end;
    return true;
  }

  Result<void> read() {
    if (cancelled()) return cancelled_error();
    switch (part_.kind) {
      case Part::Kind::stored:
        return read_stored();
      case Part::Kind::computed:
        return read_computed();
      case Part::Kind::over_locations:
        return read_over_locations();
      case Part::Kind::columns:
        return read_columns();
    }
    return {};
  }

  Result<void> read_stored() {
    const Box box{part_.metrics, part_.contexts, part_.locations};
    return shared_->profile->values->scan(box, [&](const Run& run) -> Result<void> {
      if (run.along == Axis::location && !shared_->wants(run.context.value)) return {};
      const ValueType type = defs().metric(run.metric.metric).type;
      switch (type.kind) {
        case ValueKind::u8:
          add_run<std::uint8_t>(run, integers_);
          break;
        case ValueKind::i8:
          add_run<std::int8_t>(run, integers_);
          break;
        case ValueKind::u16:
          add_run<std::uint16_t>(run, integers_);
          break;
        case ValueKind::i16:
          add_run<std::int16_t>(run, integers_);
          break;
        case ValueKind::u32:
          add_run<std::uint32_t>(run, integers_);
          break;
        case ValueKind::i32:
          add_run<std::int32_t>(run, integers_);
          break;
        case ValueKind::u64:
          add_run<std::uint64_t>(run, large_);
          break;
        case ValueKind::i64:
          add_run<std::int64_t>(run, integers_);
          break;
        case ValueKind::f64:
        case ValueKind::min_f64:
        case ValueKind::max_f64:
          add_run<double>(run, reals_);
          break;
        default:
          add_composites(run, type);
          break;
      }
      return {};
    });
  }

  static std::uint32_t position(const Run& run, std::size_t i) {
    return run.positions.empty() ? run.first + static_cast<std::uint32_t>(i) : run.positions[i];
  }

  template <class Stored, class Number>
  void add_run(const Run& run, Rows<Number>& rows) {
    if (rows.count == 0) rows.reserve(wanted_, std::min<std::size_t>(kDenseCells, cells()));
    const bool by_location = run.along == Axis::location;
    const std::uint32_t metric = run.metric.metric.value;
    for (std::size_t i = 0; i < run.count; ++i) {
      const auto value = load<Stored>(run.values + i * sizeof(Stored));
      if (value == 0) continue;
      const std::uint32_t at = position(run, i);
      if (by_location) {
        rows.add(wanted_, metric, run.context.value, at, static_cast<Number>(value));
      } else if (shared_->wants(at)) {
        rows.add(wanted_, metric, at, run.location.value, static_cast<Number>(value));
      }
    }
  }

  void add_composites(const Run& run, ValueType type) {
    const bool by_location = run.along == Axis::location;
    for (std::size_t i = 0; i < run.count; ++i) {
      const Value value(type, Bytes(run.values + i * type.size(), type.size()));
      const std::uint32_t at = position(run, i);
      if (value.is_zero() || (!by_location && !shared_->wants(at))) continue;
      reals_.add(wanted_, run.metric.metric.value, by_location ? run.context.value : at,
                 by_location ? at : run.location.value, value.scalar());
    }
  }

  // Rows that the part has at the most.
  [[nodiscard]] std::size_t cells() const {
    return part_.metrics.size() * part_.contexts.size() * part_.locations.size();
  }

  void add(const Cells& cells, std::size_t row, std::size_t column, std::uint32_t context, std::uint32_t location) {
    if (cells.is_zero(row, column)) return;
    const std::uint32_t metric = part_.metrics.front().metric.value;
    if (cells.type().is_integer()) {
      large_.add(wanted_, metric, context, location, cells.integers(row)[column]);
    } else {
      reals_.add(wanted_, metric, context, location, cells.scalar(row, column));
    }
  }

  [[nodiscard]] std::vector<ContextId> contexts() const {
    return shared_->bounds.contexts.value_or(std::vector<ContextId>());
  }
  [[nodiscard]] std::uint32_t context_of(std::size_t row) const {
    const auto& chosen = shared_->bounds.contexts;
    return chosen ? (*chosen)[row].value : static_cast<std::uint32_t>(row);
  }

  Result<void> read_computed() {
    const Selection selection{.flavour = shared_->bounds.flavour,
                              .contexts = contexts(),
                              .locations = part_.locations,
                              .aggregate = false,
                              .void_values = true};
    FATHOM_TRY(const Cells cells, compute(*shared_->profile, part_.metrics.front().metric, selection));
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (std::size_t column = 0; column < cells.columns(); ++column) {
        add(cells, row, column, context_of(row), part_.locations.begin + static_cast<std::uint32_t>(column));
      }
    }
    return {};
  }

  Result<void> read_over_locations() {
    Grouping grouping{{}, {shared_->bounds.locations}};
    for (const ContextId id : contexts()) grouping.rows.push_back({id});
    FATHOM_TRY(const Cells cells,
               compute_groups(*shared_->profile, part_.metrics.front().metric, shared_->bounds.flavour, grouping));
    for (std::size_t row = 0; row < cells.rows(); ++row) add(cells, row, 0, context_of(row), IdColumn::kNone);
    return {};
  }

  // Columns of classic XML stand for themselves.
  Result<void> read_columns() {
    FATHOM_TRY(const std::vector<StoredStatistic> all, shared_->profile->statistics());
    const auto& metrics = shared_->bounds.metrics;
    for (const StoredStatistic& one : all) {
      if (!one.context.valid() || one.value == 0 || !shared_->wants(one.context.value)) continue;
      if (std::find(metrics.begin(), metrics.end(), one.metric.metric) == metrics.end()) continue;
      const auto& scopes = defs().metric(one.metric.metric).scopes;
      const bool other_scope = scopes.size() > 1 && scopes[one.metric.scope].scope != Scope::inclusive;
      if (!one.statistic.empty() || other_scope) continue;
      reals_.add(wanted_, one.metric.metric.value, one.context.value, IdColumn::kNone, one.value);
    }
    return {};
  }

  template <class Number>
  Column make(const Rows<Number>& rows, std::size_t column, std::size_t begin, std::size_t end) const {
    const auto piece = [&](const auto& all) {
      return std::vector<std::decay_t<decltype(all[0])>>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                                         all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    if (column == kMetric) return Column::texts(piece(rows.metrics), shared_->metric_names);
    if (column == kContext) return shared_->context_ids.at(piece(rows.contexts));
    if (column == kLocation) return shared_->location_ids.at(piece(rows.locations));
    if constexpr (std::is_same_v<Number, double>) {
      return Column::reals(piece(rows.values));
    } else if constexpr (std::is_same_v<Number, std::int64_t>) {
      return Column::integers(piece(rows.values));
    } else {
      return Column::sums(piece(rows.values));
    }
  }

  std::shared_ptr<const Shared> shared_;
  const Part& part_;  // of shared_
  std::size_t batch_rows_;
  std::vector<std::size_t> columns_;
  Wanted wanted_;
  Rows<double> reals_;
  Rows<std::int64_t> integers_;
  Rows<Int128> large_;
  std::size_t at_ = 0;
  bool read_ = false;
};

class ValueTable final : public TableSource {
 public:
  explicit ValueTable(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}
  [[nodiscard]] const Schema& schema() const override { return shared_->schema; }
  [[nodiscard]] std::size_t parts() const override { return shared_->parts.size(); }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t part, const ScanRequest& request) const override {
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(shared_, shared_->parts[part], request));
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

// One type for the column: integers where all metrics are, wide enough for any of their sums.
ColumnType value_type(const Definitions& defs, const std::vector<MetricId>& metrics, bool computed) {
  bool integers = !metrics.empty();
  bool large = computed;
  bool naturals = true;
  for (const MetricId id : metrics) {
    const ValueType type = defs.metric(id).type;
    integers = integers && type.is_integer();
    large = large || type.kind == ValueKind::u64;
    naturals = naturals && type.is_unsigned();
  }
  if (!integers) return ColumnType::float64;
  if (!large) return ColumnType::int64;
  return naturals && !computed ? ColumnType::uint64 : ColumnType::int128;
}

// Ranges of at most `cells` cells, at least one position each.
template <class Visit>
void cut(IndexRange range, std::uint64_t per_position, std::uint64_t cells, const Visit& visit) {
  const std::uint64_t step = std::max<std::uint64_t>(1, cells / std::max<std::uint64_t>(1, per_position));
  for (std::uint64_t begin = range.begin; begin < range.end; begin += step) {
    visit(IndexRange{static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(range.end, begin + step))});
  }
}

// In the order of Reader::next: doubles, integers, large ones.
int order_of(ValueType type) {
  if (!type.is_integer()) return 0;
  return type.kind == ValueKind::u64 ? 2 : 1;
}

// One metric after the other, each by contexts. Small metrics share a part.
void add_by_metric(const std::vector<StoredMetric>& metrics, IndexRange contexts, IndexRange locations,
                   std::vector<Part>& parts) {
  const std::uint64_t cells = contexts.size() * locations.size();
  if (cells == 0) return;
  if (cells > kDenseCells) {
    for (const StoredMetric& metric : metrics) {
      cut(contexts, locations.size(), kDenseCells, [&](IndexRange range) {
        parts.push_back({Part::Kind::stored, {metric}, range, locations});
      });
    }
    return;
  }
  const std::size_t step = kDenseCells / cells;
  for (std::size_t first = 0; first < metrics.size(); first += step) {
    const auto begin = metrics.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(step, metrics.size() - first));
    parts.push_back({Part::Kind::stored, {begin, end}, contexts, locations});
  }
}

// Parts depend on the profile alone, never on the number of threads: so does the order of the rows.
void add_stored(const std::vector<StoredMetric>& metrics, IndexRange contexts, IndexRange locations,
                const ValueSource& source, std::vector<Part>& parts) {
  if (metrics.empty()) return;
  if (source.reads_well_by(Axis::metric)) return add_by_metric(metrics, contexts, locations, parts);
  const std::uint64_t cells =
      std::clamp(metrics.size() * contexts.size() * locations.size() / kManyParts, kDenseCells, kSparseCells);
  if (source.cheap_axis() == Axis::location) {
    cut(locations, contexts.size() * metrics.size(), cells, [&](IndexRange range) {
      parts.push_back({Part::Kind::stored, metrics, contexts, range});
    });
  } else {
    cut(contexts, locations.size() * metrics.size(), cells, [&](IndexRange range) {
      parts.push_back({Part::Kind::stored, metrics, range, locations});
    });
  }
}

}  // namespace

Result<std::unique_ptr<TableSource>> value_scan(ProfilePtr profile, ValueBounds bounds) {
  const Definitions& defs = profile->defs();
  auto shared = std::make_shared<Shared>();
  IndexRange contexts{0, static_cast<std::uint32_t>(defs.contexts.size())};
  if (bounds.contexts) {
    const auto& chosen = *bounds.contexts;
    contexts = chosen.empty() ? IndexRange{} : IndexRange{chosen.front().value, chosen.back().value + 1};
    if (chosen.size() != contexts.size()) {
      shared->chosen.resize(defs.contexts.size());
      for (const ContextId id : chosen) shared->chosen[id.index()] = true;
    }
  }
  std::vector<StoredMetric> stored;
  bool any_computed = false;
  for (const MetricId id : bounds.metrics) {
    if (contexts.size() == 0) break;
    if (expression::is_over_locations(*profile, id)) {
      shared->parts.push_back({Part::Kind::over_locations, {{id, 0}}, contexts, {}});
      continue;
    }
    FATHOM_TRY(const auto as_asked, stored_as_asked(*profile, id, bounds.flavour));
    if (as_asked) {
      stored.push_back(*as_asked);
      continue;
    }
    if (defs.metric(id).scopes.empty() && !defs.metric(id).derived()) continue;
    any_computed = true;
    const std::size_t rows = bounds.contexts ? bounds.contexts->size() : defs.contexts.size();
    for (const IndexRange range : as_ranges(bounds.locations)) {
      cut(range, rows, kSparseCells, [&](IndexRange piece) {
        shared->parts.push_back({Part::Kind::computed, {{id, 0}}, contexts, piece});
      });
    }
  }
  std::stable_sort(stored.begin(), stored.end(), [&](const StoredMetric& a, const StoredMetric& b) {
    return order_of(defs.metric(a.metric).type) < order_of(defs.metric(b.metric).type);
  });
  for (const IndexRange range : as_ranges(bounds.locations)) {
    add_stored(stored, contexts, range, *profile->values, shared->parts);
  }
  if (profile->statistics_are_columns && bounds.all_locations && profile->statistics && contexts.size() > 0) {
    shared->parts.push_back({Part::Kind::columns, {}, contexts, {}});
  }
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Metric& metric : defs.metrics) names->push_back(metric.name);
  shared->metric_names = std::move(names);
  shared->context_ids = context_ids(defs.contexts);
  shared->location_ids = location_ids(defs.system);
  const bool reals_too = profile->statistics_are_columns;
  shared->schema = {"value",
                    {{"metric", ColumnType::text},
                     {"context", shared->context_ids.type()},
                     {"location", shared->location_ids.type()},
                     {"value", reals_too ? ColumnType::float64 : value_type(defs, bounds.metrics, any_computed)}}};
  shared->bounds = std::move(bounds);
  shared->profile = std::move(profile);
  return std::unique_ptr<TableSource>(std::make_unique<ValueTable>(std::move(shared)));
}

}  // namespace fathom
