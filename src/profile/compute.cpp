#include "profile/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/self_profile.hpp"
#include "profile/expression/evaluate.hpp"
#include "profile/rounding.hpp"
#include "profile/stored_flavour.hpp"
#include "profile/stored_values.hpp"

namespace fathom {

namespace {

// How a flavour follows from what is stored.
struct Recipe {
  enum class Step : std::uint8_t {
    take,               // it is stored
    sum_subtree,        // inclusive from own values
    sum_to_function,    // exclusive from own values, where lexical contexts exist
    subtract_children,  // exclusive from inclusive values
    subtract_all,       // own from inclusive values, where lexical contexts exist
  } step = Step::take;
  std::uint32_t scope = 0;  // which stored one to start from
};

// The error says what the metric lacks, without its name.
Result<Recipe> find_recipe(const Profile& profile, const Metric& metric, const Flavour& flavour) {
  using Step = Recipe::Step;
  const bool only_calls = profile.defs().contexts.only_calls();
  const auto stored = [&](Scope scope) { return metric.stored_as(scope); };
  const auto recipe = [](Step step, int scope) { return Recipe{step, static_cast<std::uint32_t>(scope)}; };
  // Where every edge is a call, own and exclusive are the same thing under two names.
  const int own = stored(Scope::own) >= 0 ? stored(Scope::own) : (only_calls ? stored(Scope::exclusive) : -1);
  const int exclusive = stored(Scope::exclusive) >= 0 ? stored(Scope::exclusive) : (only_calls ? own : -1);
  const int inclusive = stored(Scope::inclusive);
  switch (flavour.kind) {
    case Flavour::Kind::stored:
      // A format that stores several flavours shows the inclusive one unasked.
      return recipe(Step::take, metric.scopes.size() > 1 && inclusive >= 0 ? inclusive : 0);
    case Flavour::Kind::named: {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < metric.scopes.size(); ++i) {
        if (metric.scopes[i].name == flavour.name) return recipe(Step::take, static_cast<int>(i));
        if (!metric.scopes[i].name.empty()) names.push_back(metric.scopes[i].name);
      }
      return Error::usage(fmt::format("has no scope '{}'; it has: {}", flavour.name,
                                      names.empty() ? "none with a name" : fmt::format("{}", fmt::join(names, ", "))));
    }
    case Flavour::Kind::own:
      if (own >= 0) return recipe(Step::take, own);
      if (inclusive >= 0) return recipe(only_calls ? Step::subtract_children : Step::subtract_all, inclusive);
      break;
    case Flavour::Kind::exclusive:
      if (exclusive >= 0) return recipe(Step::take, exclusive);
      if (own >= 0) return recipe(Step::sum_to_function, own);
      if (inclusive >= 0) return recipe(Step::subtract_children, inclusive);
      break;
    case Flavour::Kind::inclusive:
      if (inclusive >= 0) return recipe(Step::take, inclusive);
      if (own >= 0) return recipe(Step::sum_subtree, own);
      break;
  }
  return Error("has nothing stored from which the values asked for follow");
}

Result<Recipe> recipe_of(const Profile& profile, const Metric& metric, const Flavour& flavour) {
  auto recipe = find_recipe(profile, metric, flavour);
  if (!recipe) return std::move(recipe).error().with(fmt::format("metric '{}'", metric.name));
  return recipe;
}

// Parents gain what lies below them: one backward loop, since children come after their parents.
void sum_up(const ContextTree& tree, IndexRange contexts, bool across_calls, Cells& cells) {
  for (std::uint32_t id = contexts.end; id-- > contexts.begin;) {
    const Context& context = tree[ContextId(id)];
    if (!context.parent.valid() || context.parent.value < contexts.begin) continue;
    if (across_calls || context.edge == Edge::lexical) {
      cells.add_row(context.parent.value - contexts.begin, cells, id - contexts.begin);
    }
  }
}

// Exclusive = inclusive minus the inclusive values of what is called: of children behind a call edge, and of those
// behind lexical ones again what they call. Children are summed first and taken off once, as the official tools do.
std::size_t subtract_calls(const ContextTree& tree, IndexRange contexts, const Cells& inclusive, Cells& out) {
  std::size_t clamped = 0;
  std::vector<ContextId> pending;
  for (std::uint32_t id = contexts.begin; id < contexts.end; ++id) {
    Cells called(inclusive.type(), 1, inclusive.columns());
    bool any = false;
    pending.assign(1, ContextId(id));
    while (!pending.empty()) {
      const ContextId at = pending.back();
      pending.pop_back();
      for (ContextId child = tree.first_child(at); child.valid(); child = tree.next_sibling(child)) {
        if (tree[child].edge == Edge::lexical) {
          pending.push_back(child);
        } else if (any) {
          called.add_row(0, inclusive, child.value - contexts.begin);
        } else {
          called.copy_row(0, inclusive, child.value - contexts.begin);
          any = true;
        }
      }
    }
    const std::size_t row = id - contexts.begin;
    if (any) out.subtract_row(row, called, 0);
    clamped += out.clamp_row(row);
  }
  return clamped;
}

// Own = inclusive minus the inclusive values of all children, so that own values add up to the total.
void subtract_all_children(const ContextTree& tree, IndexRange contexts, const Cells& inclusive, Cells& out) {
  for (std::uint32_t id = contexts.begin; id < contexts.end; ++id) {
    const ContextId parent = tree[ContextId(id)].parent;
    if (!parent.valid() || parent.value < contexts.begin) continue;
    out.subtract_row(parent.value - contexts.begin, inclusive, id - contexts.begin);
  }
  if (!out.type().is_double()) return;
  for (std::size_t row = 0; row < out.rows(); ++row) {
    const auto before = inclusive.reals(row);
    const auto after = out.reals(row);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (is_rounding(after[i], before[i])) after[i] = 0;
    }
  }
}

bool disjoint(const ContextTree& tree, const std::vector<ContextId>& contexts) {
  return std::adjacent_find(contexts.begin(), contexts.end(),
                            [&](ContextId a, ContextId b) { return b.value < tree[a].end; }) == contexts.end();
}

Cells pick_rows(const Cells& cells, const std::vector<ContextId>& contexts, std::uint32_t first) {
  Cells out(cells.type(), contexts.size(), cells.columns());
  for (std::size_t i = 0; i < contexts.size(); ++i) out.copy_row(i, cells, contexts[i].value - first);
  return out;
}

// The smallest range of contexts that holds the chosen ones, and maybe all that lies below them.
IndexRange covering_range(const ContextTree& tree, const std::vector<ContextId>& contexts, bool below) {
  if (contexts.empty()) return {0, static_cast<std::uint32_t>(tree.size())};
  IndexRange range{contexts.front().value, contexts.front().value + 1};
  for (const ContextId id : contexts) {
    range.begin = std::min(range.begin, id.value);
    range.end = std::max(range.end, below ? tree[id].end : id.value + 1);
  }
  return range;
}

// What was read of a range of contexts becomes the flavour that is asked for.
Result<void> take_step(const Profile& profile, const Metric& metric, Recipe::Step step, IndexRange range,
                       Cells& cells) {
  const ContextTree& tree = profile.defs().contexts;
  switch (step) {
    case Recipe::Step::take:
      break;
    case Recipe::Step::sum_subtree:
      sum_up(tree, range, true, cells);
      break;
    case Recipe::Step::sum_to_function:
      sum_up(tree, range, false, cells);
      break;
    case Recipe::Step::subtract_all: {
      const Cells inclusive = cells;
      subtract_all_children(tree, range, inclusive, cells);
      break;
    }
    case Recipe::Step::subtract_children: {
      const Cells inclusive = cells;
      const std::size_t clamped = subtract_calls(tree, range, inclusive, cells);
      if (clamped > 0) {
        FATHOM_CHECK(profile.work->diagnostics.add(
            "profile.clamped", Severity::warning, Place::in(profile.name),
            fmt::format("metric '{}': exclusive values below zero are shown as 0 (unsigned counters)", metric.name),
            clamped));
      }
    }
  }
  return {};
}

Result<Cells> compute_stored(const Profile& profile, MetricId id, const Selection& selection) {
  const Definitions& defs = profile.defs();
  const Metric& metric = defs.metric(id);
  const std::size_t columns = selection.aggregate ? 1 : selection.locations.size();
  if (metric.scopes.empty()) return Cells(metric.type, row_count(profile, selection), columns);
  FATHOM_TRY(const Recipe recipe, find_recipe(profile, metric, selection.flavour));
  const StoredMetric stored{id, recipe.scope};
  // Sums of few subtrees need no table over all their contexts.
  constexpr std::size_t kFewSubtrees = 16;
  if (recipe.step == Recipe::Step::sum_subtree && profile.values->cheap_axis() != Axis::location &&
      metric.type.is_plain_number() && !selection.contexts.empty() && selection.contexts.size() <= kFewSubtrees &&
      disjoint(defs.contexts, selection.contexts)) {
    return read_subtrees(profile, stored, selection);
  }
  const IndexRange range = covering_range(defs.contexts, selection.contexts, recipe.step != Recipe::Step::take);
  FATHOM_TRY(Cells cells, read_stored(profile, stored, range, selection.locations, selection.aggregate));
  FATHOM_CHECK(take_step(profile, metric, recipe.step, range, cells));
  if (selection.contexts.empty()) return cells;
  const auto& wanted = selection.contexts;
  const bool neighbours = range.size() == wanted.size() &&
                          std::adjacent_find(wanted.begin(), wanted.end(), std::greater_equal<>()) == wanted.end();
  if (neighbours) return cells;
  return pick_rows(cells, selection.contexts, range.begin);
}

}  // namespace

Result<std::optional<StoredMetric>> stored_as_asked(const Profile& profile, MetricId id, const Flavour& flavour) {
  const Metric& metric = profile.defs().metric(id);
  if (metric.derived() || metric.scopes.empty()) return std::optional<StoredMetric>();
  FATHOM_TRY(const Recipe recipe, recipe_of(profile, metric, flavour));
  if (recipe.step != Recipe::Step::take) return std::optional<StoredMetric>();
  return std::optional(StoredMetric{id, recipe.scope});
}

std::size_t row_count(const Profile& profile, const Selection& selection) {
  return selection.contexts.empty() ? profile.defs().contexts.size() : selection.contexts.size();
}

std::string why_unavailable(const Profile& profile, MetricId id) {
  const Metric& metric = profile.defs().metric(id);
  if (!metric.unusable.empty()) return metric.unusable;
  if (metric.derived() && !profile.programs.contains(id)) {
    return "is derived from others by an expression that cannot be evaluated yet";
  }
  return {};
}

std::string why_unavailable(const Profile& profile, MetricId id, const Flavour& flavour) {
  std::string why = why_unavailable(profile, id);
  const Metric& metric = profile.defs().metric(id);
  if (!why.empty() || metric.derived() || metric.scopes.empty()) return why;
  const auto recipe = find_recipe(profile, metric, flavour);
  return recipe ? std::string() : recipe.error().what();
}

Result<Cells> compute(const Profile& profile, MetricId id, const Selection& selection) {
  const Phase phase("compute");
  const Metric& metric = profile.defs().metric(id);
  if (const std::string why = why_unavailable(profile, id); !why.empty()) {
    return Error(fmt::format("metric '{}': {}", metric.name, why), Place::in(profile.name));
  }
  if (!selection.void_values) {
    FATHOM_TRY(const bool off, expression::switched_off(profile, id));
    if (off) {
      const std::size_t columns = selection.aggregate ? 1 : selection.locations.size();
      return Cells(metric.type, row_count(profile, selection), columns);
    }
  }
  auto cells = metric.derived() ? expression::evaluate(profile, id, selection) : compute_stored(profile, id, selection);
  if (!cells) {
    return std::move(cells).error().with(fmt::format("metric '{}'", metric.name)).where(Place::in(profile.name));
  }
  return cells;
}

namespace {

// How all flavours are made from one reading of every context; nothing where they are not.
Result<std::vector<Recipe>> shared_recipes(const Profile& profile, MetricId id, std::span<const Flavour> flavours,
                                           const Selection& selection) {
  const Metric& metric = profile.defs().metric(id);
  std::vector<Recipe> recipes;
  if (metric.derived() || metric.scopes.empty() || !selection.contexts.empty()) return recipes;
  if (!why_unavailable(profile, id).empty()) return recipes;
  if (!selection.void_values) {
    FATHOM_TRY(const bool off, expression::switched_off(profile, id));
    if (off) return recipes;
  }
  for (const Flavour& flavour : flavours) {
    FATHOM_TRY(const Recipe recipe, recipe_of(profile, metric, flavour));
    if (!recipes.empty() && recipe.scope != recipes.front().scope) return std::vector<Recipe>();
    recipes.push_back(recipe);
  }
  return recipes;
}

}  // namespace

Result<std::vector<Cells>> compute_flavours(const Profile& profile, MetricId id, std::span<const Flavour> flavours,
                                            const Selection& selection) {
  std::vector<Cells> out;
  FATHOM_TRY(const std::vector<Recipe> recipes, shared_recipes(profile, id, flavours, selection));
  if (recipes.empty()) {
    for (const Flavour& flavour : flavours) {
      Selection one = selection;
      one.flavour = flavour;
      FATHOM_TRY(out.emplace_back(), compute(profile, id, one));
    }
    return out;
  }
  const Phase phase("compute");
  const Metric& metric = profile.defs().metric(id);
  const auto explained = [&](Error error) {
    return std::move(error).with(fmt::format("metric '{}'", metric.name)).where(Place::in(profile.name));
  };
  const IndexRange all{0, static_cast<std::uint32_t>(profile.defs().contexts.size())};
  auto read = read_stored(profile, {id, recipes.front().scope}, all, selection.locations, selection.aggregate);
  if (!read) return explained(std::move(read).error());
  for (const Recipe& recipe : recipes) {
    out.push_back(*read);
    if (auto done = take_step(profile, metric, recipe.step, all, out.back()); !done.ok()) {
      return explained(std::move(done).error());
    }
  }
  return out;
}

}  // namespace fathom
