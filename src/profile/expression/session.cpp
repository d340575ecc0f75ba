#include "profile/expression/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/parallel.hpp"
#include "profile/expression/fold_locations.hpp"
#include "profile/statistics.hpp"

namespace fathom::expression {

namespace {

constexpr std::size_t kBlock = 4096;                 // cells worked out together
constexpr std::size_t kBand = std::size_t{1} << 18;  // cells whose operands are in memory together, per thread

// Most integers fit 64 bits, and converting those is an instruction.
double to_double(Int128 value) {
  const auto low = static_cast<std::int64_t>(value);
  return low == value ? static_cast<double>(low) : static_cast<double>(value);
}

template <class T>
std::vector<T> identity(std::size_t count) {
  std::vector<T> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = T(i);
  return out;
}

// Unasked, a derived metric shows what its operands show unasked: inclusive values where several flavours are stored,
// exclusive ones otherwise.
Flavour::Kind unasked_flavour(const Profile& profile, MetricId metric) {
  const Program& program = *profile.programs.at(metric);
  if (program.value.nodes.empty()) return Flavour::Kind::inclusive;
  if (program.inclusive && program.inclusive->nodes.empty()) return Flavour::Kind::exclusive;
  std::unordered_set<MetricId> seen;
  std::vector<MetricId> pending{metric};
  while (!pending.empty()) {
    const MetricId at = pending.back();
    pending.pop_back();
    const Metric& known = profile.defs().metric(at);
    if (known.scopes.size() > 1 && known.stored_as(Scope::inclusive) >= 0) return Flavour::Kind::inclusive;
    const auto found = profile.programs.find(at);
    if (found == profile.programs.end()) continue;
    for (const MetricReference& reference : found->second->value.metrics) {
      const MetricId id = profile.defs().find_metric(reference.metric);
      if (id.valid() && seen.insert(id).second) pending.push_back(id);
    }
  }
  return Flavour::Kind::exclusive;
}

}  // namespace

// The cells [begin, end) of a session, numbered row by row.
class Session::Block : public Surroundings {
 public:
  Block(Session& session, const Tree& tree, std::size_t begin, std::size_t end)
      : session_(session), tree_(tree), begin_(begin), end_(end) {}

  Datum metric(std::size_t index) override {
    const Cells* cells = index < session_.operands_.size() ? session_.operands_[index].get() : nullptr;
    if (cells == nullptr || cells->columns() == 0) return 0.0;
    const Reach reach = session_.reach_of(tree_.metrics[index]);
    std::vector<double> out(end_ - begin_);
    const std::size_t columns = session_.columns_;
    for (std::size_t cell = begin_; cell < end_;) {
      const std::size_t row = cell / columns;
      const std::size_t stop = std::min(end_, (row + 1) * columns);
      if (reach == Reach::system || reach == Reach::total) {
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(cell - begin_),
                  out.begin() + static_cast<std::ptrdiff_t>(stop - begin_),
                  cells->scalar(reach == Reach::total ? 0 : row, 0));
      } else if (reach == Reach::roots) {
        for (std::size_t i = cell; i < stop; ++i) out[i - begin_] = cells->scalar(0, i - row * columns);
      } else if (cells->type().kind == ValueKind::f64) {
        const auto values = cells->reals(row);
        for (std::size_t i = cell; i < stop; ++i) out[i - begin_] = values[i - row * columns];
      } else if (form_of(cells->type()) == Form::integer) {
        const auto values = cells->integers(row);
        for (std::size_t i = cell; i < stop; ++i) out[i - begin_] = to_double(values[i - row * columns]);
      } else {
        for (std::size_t i = cell; i < stop; ++i) out[i - begin_] = cells->scalar(row, i - row * columns);
      }
      cell = stop;
    }
    return out;
  }

  Result<double> metric_at(std::size_t index, double context, double system) override {
    return session_.value_at(tree_.metrics[index], context, system);
  }
  [[nodiscard]] Point point(std::size_t cell) const override { return session_.point(begin_ + cell); }
  [[nodiscard]] bool one_row() const override { return begin_ / session_.columns_ == (end_ - 1) / session_.columns_; }
  [[nodiscard]] std::uint64_t number() const override { return session_.first_cell_ + begin_; }
  [[nodiscard]] bool metric_exists(std::string_view name) const override {
    return session_.profile_.defs().find_metric(name).valid();
  }

 private:
  Session& session_;
  const Tree& tree_;
  std::size_t begin_;
  std::size_t end_;
};

namespace {

// The innermost part of the system that has exactly these locations in it; invalid where there is none.
SystemNodeId part_of(const SystemTree& system, const std::vector<LocationId>& locations) {
  if (locations.size() < 2) return {};
  SystemNodeId at = system.location(locations[0]).parent;
  for (; at.valid(); at = system.nodes[at.index()].parent) {
    std::vector<LocationId> all = locations_below(system, at);
    if (all.size() < locations.size()) continue;
    std::vector<LocationId> these = locations;
    std::sort(all.begin(), all.end());
    std::sort(these.begin(), these.end());
    return all == these ? at : SystemNodeId();
  }
  return {};
}

}  // namespace

Session::Session(const Profile& profile, MetricId metric, Flavour flavour, Grouping grouping)
    : profile_(profile),
      metric_(metric),
      flavour_(std::move(flavour)),
      grouping_(std::move(grouping)),
      program_(*profile.programs.at(metric)),
      limit_(StepLimit::of(*profile.work)) {
  const Definitions& defs = profile.defs();
  if (flavour_.kind == Flavour::Kind::stored) flavour_ = {unasked_flavour(profile, metric), {}};
  rows_ = grouping_.rows.empty() ? defs.contexts.size() : grouping_.rows.size();
  columns_ = grouping_.columns.empty() ? defs.system.location_count() : grouping_.columns.size();
  if (grouping_.rows.empty()) contexts_ = identity<ContextId>(rows_);
  if (grouping_.columns.empty()) locations_ = identity<LocationId>(columns_);
  whole_system_ = columns_ == 1 && !grouping_.columns.empty() &&
                  grouping_.columns[0].size() == defs.system.location_count() && defs.system.location_count() != 1;
  if (whole_system_) return;
  for (const auto& column : grouping_.columns) resources_.push_back(part_of(defs.system, column));
}

bool Session::wants_inclusive() const {
  if (flavour_.kind != Flavour::Kind::named) return flavour_.kind == Flavour::Kind::inclusive;
  // A scope by its name, as the operands know it.
  for (const Metric& metric : profile_.defs().metrics) {
    const int stored = metric.stored_as(Scope::inclusive);
    if (stored >= 0 && metric.scopes[static_cast<std::size_t>(stored)].name == flavour_.name) return true;
  }
  return false;
}

Reach Session::reach_of(const MetricReference& reference) const {
  const Derivation derivation = profile_.defs().metric(metric_).derivation;
  const bool pre = derivation == Derivation::pre_exclusive || derivation == Derivation::pre_inclusive;
  if (reference.reach == Reach::fixed) return pre ? Reach::system : Reach::here;
  if (reference.reach == Reach::total) return pre ? Reach::total : Reach::system;
  return reference.reach;
}

Flavour Session::flavour_of(Wanted wanted) const {
  switch (wanted) {
    case Wanted::inclusive:
      return {Flavour::Kind::inclusive, {}};
    case Wanted::exclusive:
      return {Flavour::Kind::exclusive, {}};
    case Wanted::running:
      break;
  }
  return flavour_;
}

Point Session::point(std::size_t cell) const {
  Point out;
  out.profile = &profile_;
  out.metric = metric_;
  if (rows_ * columns_ == 0) return out;
  const std::size_t row = cell / columns_;
  const std::size_t column = cell % columns_;
  out.contexts = contexts_.empty() ? std::span<const ContextId>(grouping_.rows[row])
                                   : std::span<const ContextId>(&contexts_[row], 1);
  out.locations = locations_.empty() ? std::span<const LocationId>(grouping_.columns[column])
                                     : std::span<const LocationId>(&locations_[column], 1);
  out.whole_system = whole_system_;
  if (!resources_.empty()) out.resource = resources_[column];
  out.state = wants_inclusive() ? State::inclusive : State::exclusive;
  return out;
}

Result<void> Session::fetch(const Tree& tree) {
  const Definitions& defs = profile_.defs();
  operands_.clear();
  for (const MetricReference& reference : tree.metrics) {
    operands_.emplace_back();
    const MetricId id = defs.find_metric(reference.metric);
    const Reach reach = reach_of(reference);
    if (!id.valid() || reach == Reach::call) continue;
    Grouping grouping = grouping_;
    const bool at_roots = reach == Reach::roots || reach == Reach::total;
    if (reach == Reach::system || reach == Reach::total) {
      grouping.columns = Grouping::over_whole_system(defs).columns;
    }
    if (at_roots) grouping.rows = {defs.contexts.roots()};
    const Flavour flavour = at_roots ? Flavour{Flavour::Kind::inclusive, {}} : flavour_of(reference.flavour);
    FATHOM_TRY(Cells cells, reference.over == Over::sum
                                ? compute_groups(profile_, id, flavour, grouping)
                                : fold_locations(profile_, id, flavour, grouping, reference.over));
    operands_.back() = std::make_shared<const Cells>(std::move(cells));
  }
  return success();
}

Result<double> Session::value_at(const MetricReference& reference, double context, double system) {
  const Definitions& defs = profile_.defs();
  const MetricId id = defs.find_metric(reference.metric);
  if (!id.valid()) return 0.0;
  const bool number = context >= 0 && context < 1e15;
  const ContextId at = number ? defs.contexts.find(static_cast<std::uint64_t>(context)) : ContextId();
  if (!at.valid()) {
    FATHOM_CHECK(profile_.work->diagnostics.warn(
        "expression.no_context", Place::in(profile_.name),
        fmt::format("metric '{}' asks for call path {:g}, which is not there: 0", defs.metric(metric_).name, context)));
    return 0.0;
  }
  std::int64_t node = -1;
  if (system >= 0) {
    if (!(system < static_cast<double>(defs.system.nodes.size()))) return 0.0;
    node = static_cast<std::int64_t>(system);
    // Processes and nodes have nothing of their own.
    const bool location = defs.system.nodes[static_cast<std::size_t>(node)].kind == SystemKind::location;
    if (!location && reference.system != Wanted::inclusive) return 0.0;
  }
  // An expression that asks for one call path mostly asks for many: all of them are worked out at once.
  const auto key = std::make_tuple(id, reference.flavour, node);
  {
    const std::lock_guard lock(called_->mutex);
    const auto found = called_->tables.find(key);
    if (found != called_->tables.end()) return found->second->scalar(at.index(), 0);
  }
  Grouping grouping = Grouping::over_whole_system(defs);
  if (node >= 0) grouping.columns = {locations_below(defs.system, SystemNodeId(static_cast<std::size_t>(node)))};
  if (grouping.columns[0].empty()) return 0.0;
  FATHOM_TRY(Cells cells, compute_groups(profile_, id, flavour_of(reference.flavour), grouping));
  const double value = cells.scalar(at.index(), 0);
  const std::lock_guard lock(called_->mutex);
  called_->tables.emplace(key, std::make_shared<const Cells>(std::move(cells)));
  return value;
}

Result<void> Session::initialise(const Profile& profile, MetricId metric) {
  const Program& own = *profile.programs.at(metric);
  if (!own.globals || !own.globals->any_init) return success();
  const std::lock_guard only(own.globals->initialising);
  // Those of all metrics in the order of the document, since globals that one sets are read by others.
  for (const auto& [id, program] : profile.programs) {
    if (program->init.empty() || program->globals != own.globals) continue;
    {
      const std::lock_guard lock(own.globals->mutex);
      if (!own.globals->initialised.emplace(program.get(), "").second) continue;
    }
    // There is no cell yet that is being worked out: metrics are those of the whole run.
    Grouping whole = Grouping::over_whole_system(profile.defs());
    whole.rows = {profile.defs().contexts.roots()};
    auto done = Session(profile, id, {Flavour::Kind::inclusive, {}}, std::move(whole)).run_init();
    if (done.ok()) continue;
    if (done.error().kind() == ErrorKind::cancelled) return done;
    const std::lock_guard lock(own.globals->mutex);
    own.globals->initialised[program.get()] = done.error().text();
  }
  const std::lock_guard lock(own.globals->mutex);
  const auto problem = own.globals->initialised.find(&own);
  if (problem != own.globals->initialised.end() && !problem->second.empty()) return Error(problem->second);
  return success();
}

Result<void> Session::run_init() {
  if (rows_ * columns_ == 0) return success();
  for (const Tree& tree : program_.init) {
    FATHOM_CHECK(fetch(tree));
    Block block(*this, tree, 0, 1);
    Interpreter interpreter(tree, program_, block, 1, limit_);
    interpreter.allow_for(profile_.defs().contexts.size());
    if (interpreter.run() == Outcome::failed) return Error(interpreter.error()).with("initial expression");
  }
  return success();
}

bool Session::must_run_in_order(const Tree& tree) const {
  if (tree.changes_globals) return true;
  if (!program_.globals) return false;
  const std::lock_guard lock(program_.globals->mutex);
  return std::any_of(tree.nodes.begin(), tree.nodes.end(), [&](const Node& node) {
    return node.op == Op::assign && program_.globals->variables.contains(tree.variables[node.index]);
  });
}

Result<bool> Session::try_block(const Tree& tree, std::size_t begin, std::size_t end, Cells& out) {
  Block block(*this, tree, begin, end);
  Interpreter interpreter(tree, program_, block, end - begin, limit_);
  const Outcome outcome = interpreter.run();
  if (outcome == Outcome::failed) {
    // A block may be too large for the limits where one cell is not.
    const bool final =
        end - begin == 1 || program_.meter->given_up() || interpreter.error().kind() == ErrorKind::cancelled;
    if (final) return interpreter.error();
  }
  if (outcome != Outcome::done) return false;
  const std::vector<double> values = std::move(interpreter).numbers();
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t column = (begin + i) % columns_;
    const std::size_t count = std::min(columns_ - column, values.size() - i);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i), count,
                out.reals(first_row_ + (begin + i) / columns_).begin() + static_cast<std::ptrdiff_t>(column));
    i += count;
  }
  return true;
}

Result<void> Session::run_block(const Tree& tree, std::size_t begin, std::size_t end, Cells& out) {
  FATHOM_TRY(const bool done, try_block(tree, begin, end, out));
  if (done || end - begin == 1) return success();
  // Within a row at least the call path is the same; then one cell at a time.
  for (std::size_t cell = begin; cell < end;) {
    const std::size_t stop = std::min(end, (cell / columns_ + 1) * columns_);
    bool together = false;
    if (stop - cell < end - begin || stop - cell == 1) {
      FATHOM_TRY(together, try_block(tree, cell, stop, out));
    }
    for (std::size_t i = cell; !together && i < stop; ++i) {
      FATHOM_CHECK(try_block(tree, i, i + 1, out));
    }
    cell = stop;
  }
  return success();
}

Result<Cells> Session::run() {
  if (program_.meter->given_up()) return endless_error();
  FATHOM_CHECK(initialise(profile_, metric_));
  const ValueType type{ValueKind::f64, 0};
  FATHOM_TRY(const auto reservation,
             profile_.work->budget.reserve(Cells::bytes_needed(type, rows_, columns_), "values of a derived metric"));
  Cells out(type, rows_, columns_);
  const std::size_t rows_at_once = std::max<std::size_t>(1, kBand / std::max<std::size_t>(1, columns_));
  if (rows_at_once < rows_ && rows_stand_alone(tree())) {
    FATHOM_CHECK(run_in_bands(rows_at_once, out));
  } else {
    FATHOM_CHECK(run_rows(out, 0));
  }
  return out;
}

const Tree& Session::tree() const {
  return wants_inclusive() && program_.inclusive ? *program_.inclusive : program_.value;
}

bool Session::rows_stand_alone(const Tree& tree) const {
  const Definitions& defs = profile_.defs();
  if (must_run_in_order(tree)) return false;
  return std::all_of(tree.metrics.begin(), tree.metrics.end(), [&](const MetricReference& reference) {
    const MetricId id = defs.find_metric(reference.metric);
    if (!id.valid() || reference.reach == Reach::call) return true;
    const Metric& metric = defs.metric(id);
    const Flavour::Kind kind = flavour_of(reference.flavour).kind;
    const Reach reach = reach_of(reference);
    if (kind == Flavour::Kind::named || reach == Reach::roots || reach == Reach::total) return false;
    const bool stored = metric.stored_as(kind == Flavour::Kind::inclusive ? Scope::inclusive : Scope::exclusive) >= 0;
    return stored && !metric.derived() && profile_.values->cheap_axis() == Axis::context;
  });
}

Result<void> Session::run_in_bands(std::size_t rows_at_once, Cells& out) {
  return parallel_blocks(rows_, rows_at_once, [&](std::size_t begin, std::size_t end) -> Result<void> {
    Grouping some{{}, grouping_.columns};
    for (std::size_t row = begin; row < end; ++row) {
      some.rows.push_back(contexts_.empty() ? grouping_.rows[row] : std::vector<ContextId>{contexts_[row]});
    }
    Session band(profile_, metric_, flavour_, std::move(some));
    band.first_cell_ = begin * columns_;
    band.called_ = called_;
    return band.run_rows(out, begin);
  });
}

Result<void> Session::run_rows(Cells& out, std::size_t first_row) {
  first_row_ = first_row;
  FATHOM_CHECK(fetch(tree()));
  const std::size_t cells = rows_ * columns_;
  if (must_run_in_order(tree())) {
    for (std::size_t i = 0; i < cells; ++i) FATHOM_CHECK(run_block(tree(), i, i + 1, out));
    return success();
  }
  return parallel_blocks(cells, kBlock,
                         [&](std::size_t begin, std::size_t end) { return run_block(tree(), begin, end, out); });
}

}  // namespace fathom::expression
