#include "profile/expression/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "profile/expression/session.hpp"

namespace fathom::expression {

namespace {

// Metrics that a metric's program needs, each with the number of evaluations it will cost.
Result<void> check_references(const Profile& profile, MetricId start) {
  const Definitions& defs = profile.defs();
  enum class State : std::uint8_t { unseen, open, closed };
  struct Known {
    State state = State::unseen;
    std::size_t cost = 1;
    std::size_t height = 1;
  };
  // Of those that are reached: there may be many others. References to entries stay valid.
  std::unordered_map<MetricId, Known> known;
  std::vector<MetricId> stack{start};
  while (!stack.empty()) {
    const MetricId at = stack.back();
    const auto found = profile.programs.find(at);
    Known& here = known[at];
    if (here.state == State::closed || found == profile.programs.end()) {
      stack.pop_back();
      continue;
    }
    const bool leaving = here.state == State::open;
    here.state = leaving ? State::closed : State::open;
    std::vector<MetricReference> references = found->second->value.metrics;
    if (found->second->inclusive) {
      const auto& more = found->second->inclusive->metrics;
      references.insert(references.end(), more.begin(), more.end());
    }
    for (const MetricReference& reference : references) {
      const MetricId id = defs.find_metric(reference.metric);
      if (!id.valid() || !profile.programs.contains(id)) continue;
      const Known& other = known[id];
      if (leaving) {
        here.cost = std::min(here.cost + other.cost, kMaxEvaluations + 1);
        here.height = std::max(here.height, other.height + 1);
      } else if (other.state == State::open) {
        return Error(fmt::format("is derived from itself through '{}'", defs.metric(id).name));
      } else {
        stack.push_back(id);
      }
    }
    if (leaving) stack.pop_back();
  }
  if (known[start].cost > kMaxEvaluations || known[start].height > kMaxChain) {
    return Error("is derived from too long a chain of other derived metrics");
  }
  return success();
}

// One of the program's own operators, row by row; nothing where the program has none.
class Operator {
 public:
  Operator(const Profile& profile, MetricId metric, const Program& program, const std::optional<Tree>& tree)
      : profile_(profile),
        metric_(metric),
        program_(program),
        tree_(tree ? &*tree : nullptr),
        limit_(StepLimit::of(*profile.work)) {}
  explicit operator bool() const { return tree_ != nullptr; }

  Result<void> apply(std::span<double> target, std::span<const double> other) const {
    Nowhere nowhere(profile_, metric_);
    Interpreter interpreter(*tree_, program_, nowhere, target.size(), limit_);
    interpreter.set_arguments(Datum(std::vector<double>(target.begin(), target.end())),
                              Datum(std::vector<double>(other.begin(), other.end())));
    const Outcome outcome = interpreter.run();
    if (outcome == Outcome::done) {
      const std::vector<double> values = std::move(interpreter).numbers();
      std::copy(values.begin(), values.end(), target.begin());
      return success();
    }
    if (target.size() == 1) return interpreter.error();
    for (std::size_t i = 0; i < target.size(); ++i) FATHOM_CHECK(apply(target.subspan(i, 1), other.subspan(i, 1)));
    return success();
  }

 private:
  // Operators see their two arguments only.
  class Nowhere : public Surroundings {
   public:
    Nowhere(const Profile& profile, MetricId metric) {
      point_.profile = &profile;
      point_.metric = metric;
    }
    Datum metric(std::size_t) override { return 0.0; }
    Result<double> metric_at(std::size_t, double, double) override { return 0.0; }
    [[nodiscard]] Point point(std::size_t) const override { return point_; }
    [[nodiscard]] bool one_row() const override { return true; }
    [[nodiscard]] std::uint64_t number() const override { return 0; }
    [[nodiscard]] bool metric_exists(std::string_view name) const override {
      return point_.profile->defs().find_metric(name).valid();
    }

   private:
    Point point_;
  };
  const Profile& profile_;
  MetricId metric_;
  const Program& program_;
  const Tree* tree_;
  StepLimit limit_;
};

Grouping grouping_of(const Selection& selection) {
  Grouping out;
  for (const ContextId id : selection.contexts) out.rows.push_back({id});
  if (selection.aggregate) out.columns.emplace_back();
  for (std::uint32_t i = selection.locations.begin; i < selection.locations.end; ++i) {
    if (!selection.aggregate) out.columns.emplace_back();
    out.columns.back().emplace_back(i);
  }
  return out;
}

// Columns folded from 0 on, left to right.
Result<Cells> fold_columns(const Cells& cells, const std::vector<std::vector<LocationId>>& groups,
                           const Operator& plus) {
  Cells out(cells.type(), cells.rows(), groups.size());
  std::vector<double> sum(cells.rows());
  std::vector<double> column(cells.rows());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const LocationId location : groups[g]) {
      for (std::size_t row = 0; row < column.size(); ++row) column[row] = cells.scalar(row, location.index());
      if (plus) {
        FATHOM_CHECK(plus.apply(sum, column));
      } else {
        for (std::size_t row = 0; row < column.size(); ++row) sum[row] += column[row];
      }
    }
    for (std::size_t row = 0; row < column.size(); ++row) out.reals(row)[g] = sum[row];
  }
  return out;
}

Result<void> add(std::span<double> target, std::span<const double> other, const Operator& plus) {
  if (plus) return plus.apply(target, other);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += other[i];
  return success();
}

Result<void> make_inclusive(const ContextTree& tree, const Operator& plus, Cells& cells) {
  std::vector<double> sum(cells.columns());
  for (std::size_t i = tree.size(); i-- > 0;) {
    std::fill(sum.begin(), sum.end(), 0.0);
    FATHOM_CHECK(add(sum, cells.reals(i), plus));
    for (ContextId child = tree.first_child(ContextId(i)); child.valid(); child = tree.next_sibling(child)) {
      FATHOM_CHECK(add(sum, cells.reals(child.index()), plus));
    }
    std::copy(sum.begin(), sum.end(), cells.reals(i).begin());
  }
  return success();
}

Result<void> make_exclusive(const ContextTree& tree, const Operator& plus, const Operator& minus, Cells& cells) {
  std::vector<double> sum(cells.columns());
  // Parents come first, so that children still hold their inclusive values when they are taken off.
  for (std::size_t i = 0; i < tree.size(); ++i) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (ContextId child = tree.first_child(ContextId(i)); child.valid(); child = tree.next_sibling(child)) {
      FATHOM_CHECK(add(sum, cells.reals(child.index()), plus));
    }
    const auto own = cells.reals(i);
    if (minus) {
      FATHOM_CHECK(minus.apply(own, sum));
    } else {
      for (std::size_t k = 0; k < sum.size(); ++k) own[k] = difference(own[k], sum[k]);
    }
  }
  return success();
}

// Rows of several contexts: added up from the first on.
Result<Cells> fold_rows(const Cells& cells, const std::vector<std::vector<ContextId>>& groups, const Operator& plus) {
  Cells out(cells.type(), groups.size(), cells.columns());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    bool first = true;
    for (const ContextId id : groups[g]) {
      if (first) {
        out.copy_row(g, cells, id.index());
      } else {
        FATHOM_CHECK(add(out.reals(g), cells.reals(id.index()), plus));
      }
      first = false;
    }
  }
  return out;
}

// Every cell gives a "stored" value in the program's own flavour; groups, totals and the other flavour follow from
// them.
Result<Cells> evaluate_pre(const Profile& profile, MetricId id, const Flavour& flavour, const Grouping& grouping) {
  const Definitions& defs = profile.defs();
  const Program& program = *profile.programs.at(id);
  const bool gives_inclusive = defs.metric(id).derivation == Derivation::pre_inclusive;
  const Flavour native{gives_inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive, {}};
  const bool asks_inclusive =
      flavour.kind == Flavour::Kind::stored ? gives_inclusive : flavour.kind == Flavour::Kind::inclusive;
  const auto single = [](const auto& group) { return group.size() == 1; };
  const bool rows_as_asked =
      asks_inclusive == gives_inclusive && std::all_of(grouping.rows.begin(), grouping.rows.end(), single);
  const bool columns_as_asked = std::all_of(grouping.columns.begin(), grouping.columns.end(), single);
  Grouping whole = grouping;
  if (!rows_as_asked) whole.rows.clear();
  // Neighbouring locations in one column need no table over all of them.
  std::vector<std::vector<LocationId>> columns = grouping.columns;
  if (!columns_as_asked && columns.size() == 1) {
    whole.columns.clear();
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
      whole.columns.push_back({columns[0][i]});
      columns[0][i] = LocationId(i);
    }
  } else if (!columns_as_asked) {
    whole.columns.clear();
  }
  FATHOM_TRY(Cells cells, Session(profile, id, native, std::move(whole)).run());
  if (!columns_as_asked) {
    FATHOM_TRY(cells, fold_columns(cells, columns, Operator(profile, id, program, program.aggregate)));
  }
  const Operator plus(profile, id, program, program.plus);
  if (asks_inclusive && !gives_inclusive) FATHOM_CHECK(make_inclusive(defs.contexts, plus, cells));
  if (!asks_inclusive && gives_inclusive) {
    FATHOM_CHECK(make_exclusive(defs.contexts, plus, Operator(profile, id, program, program.minus), cells));
  }
  if (rows_as_asked || grouping.rows.empty()) return cells;
  return fold_rows(cells, grouping.rows, plus);
}

Result<Cells> evaluate_post(const Profile& profile, MetricId id, const Flavour& flavour, const Grouping& grouping) {
  const Program& program = *profile.programs.at(id);
  const bool grouped = std::any_of(grouping.columns.begin(), grouping.columns.end(),
                                   [](const auto& group) { return group.size() != 1; });
  if (!program.aggregate || !grouped) return Session(profile, id, flavour, grouping).run();
  // With an operator of its own even a post-derived metric is worked out per location and folded.
  FATHOM_TRY(const Cells cells, Session(profile, id, flavour, {grouping.rows, {}}).run());
  return fold_columns(cells, grouping.columns, Operator(profile, id, program, program.aggregate));
}

}  // namespace

Result<Cells> evaluate_groups(const Profile& profile, MetricId id, const Flavour& flavour, const Grouping& grouping) {
  FATHOM_CHECK(check_references(profile, id));
  return profile.defs().metric(id).derivation == Derivation::post ? evaluate_post(profile, id, flavour, grouping)
                                                                  : evaluate_pre(profile, id, flavour, grouping);
}

Result<Cells> evaluate(const Profile& profile, MetricId id, const Selection& selection) {
  if (cancelled()) return cancelled_error();
  const std::size_t columns = selection.aggregate ? 1 : selection.locations.size();
  if (row_count(profile, selection) == 0 || selection.locations.size() == 0) {
    return Cells({ValueKind::f64, 0}, row_count(profile, selection), columns);
  }
  return evaluate_groups(profile, id, selection.flavour, grouping_of(selection));
}

Result<bool> switched_off(const Profile& profile, MetricId id) {
  const Definitions& defs = profile.defs();
  if (defs.metric(id).switched_off) return true;
  const auto shares = [](const auto& entry) { return entry.second->globals != nullptr; };
  const auto some = std::find_if(profile.programs.begin(), profile.programs.end(), shares);
  if (some == profile.programs.end() || !some->second->globals->sets_properties) return false;
  // A program whose init fails switches nothing off; it says so itself when it is evaluated.
  if (const auto done = Session::initialise(profile, some->first);
      !done.ok() && done.error().kind() == ErrorKind::cancelled) {
    return done.error();
  }
  const auto& globals = some->second->globals;
  const std::lock_guard lock(globals->mutex);
  for (MetricId at = id; at.valid(); at = defs.metric(at).parent) {
    const auto found = globals->properties.find({defs.metric(at).name, "value"});
    if (found != globals->properties.end() && equal_ignoring_case(found->second, "VOID")) return true;
  }
  return false;
}

}  // namespace fathom::expression
