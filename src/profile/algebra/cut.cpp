#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/algebra/mapping.hpp"

namespace fathom::algebra {

namespace {

// Regions that go by one of the names, each of which must fit at least one.
Result<std::vector<bool>> chosen(const Definitions& defs, const std::vector<std::string>& names) {
  std::vector<bool> out(defs.regions.size(), false);
  std::vector<std::string> known;
  for (const Region& region : defs.regions) known.push_back(region.name);
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const bool fits = known[i] == name || (is_pattern(name) && matches_pattern(name, known[i]));
      if (fits) out[i] = any = true;
    }
    if (!any) return Error::usage(fmt::format("there is no region '{}'{}", name, did_you_mean(name, known)));
  }
  return out;
}

constexpr auto kNoHandle = ContextTreeBuilder::kRoot;

// Where contexts are moved under another one, inclusive values that were stored no longer fit those around them: they
// are added up anew.
void add_up_anew(Definitions& defs) {
  for (Metric& metric : defs.metrics) {
    if (form_of(metric.type) == Form::packed) continue;
    const auto stored = [&](Scope scope) {
      return std::find_if(metric.scopes.begin(), metric.scopes.end(), [&](const auto& s) { return s.scope == scope; });
    };
    const auto inclusive = stored(Scope::inclusive);
    if (inclusive == metric.scopes.end()) continue;
    if (stored(Scope::exclusive) == metric.scopes.end() && stored(Scope::own) == metric.scopes.end()) {
      *inclusive = {Scope::exclusive, {}};
    } else {
      metric.scopes.erase(inclusive);
    }
  }
}

}  // namespace

Result<ProfilePtr> cut(const ProfilePtr& profile, const CutOptions& options) {
  const Definitions& defs = profile->defs();
  const ContextTree& tree = defs.contexts;
  FATHOM_TRY(const std::vector<bool> roots, chosen(defs, options.roots));
  FATHOM_TRY(const std::vector<bool> prune, chosen(defs, options.prune));
  FATHOM_TRY(const std::vector<bool> elide, chosen(defs, options.elide));
  FATHOM_TRY(const std::vector<bool> fold, chosen(defs, options.fold));
  FATHOM_TRY(const std::vector<bool> collapse, chosen(defs, options.collapse));
  Mapping mapping = Mapping::identity(defs);
  mapping.absorbed.assign(tree.size(), ContextId());
  ContextTreeBuilder builder;
  std::vector<ContextTreeBuilder::Handle> handle(tree.size(), kNoHandle);
  // Who a context's children hang below, and who absorbs the context when it has no handle of its own.
  std::vector<ContextTreeBuilder::Handle> holder(tree.size(), kNoHandle);
  std::vector<bool> inside(tree.size(), options.roots.empty());
  std::vector<bool> gone(tree.size());  // with all below
  // Inside of a call whose recursion is collapsed the same calls from the same place become one.
  std::vector<bool> joins(tree.size());
  using Call = std::tuple<ContextTreeBuilder::Handle, RegionId, std::int64_t>;
  std::map<Call, ContextTreeBuilder::Handle> joined;
  // By region: the outermost call that is still there, as long as what is looked at lies in it.
  std::vector<ContextId> outermost(defs.regions.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const ContextId id(i);
    const Context& context = tree[id];
    const std::size_t parent = context.parent.valid() ? context.parent.index() : tree.size();
    const bool below = parent < tree.size() && inside[parent];
    if (!options.roots.empty()) inside[i] = below || roots[context.region.index()];
    if (!inside[i]) continue;
    const auto above = below ? holder[parent] : kNoHandle;
    holder[i] = above;
    gone[i] = below && (gone[parent] || (fold[tree[context.parent].region.index()] && handle[parent] != kNoHandle));
    gone[i] = gone[i] || prune[context.region.index()];
    joins[i] = (below && joins[parent]) || collapse[context.region.index()];
    if (gone[i] || elide[context.region.index()]) continue;
    if (collapse[context.region.index()]) {
      const ContextId outer = outermost[context.region.index()];
      if (outer.valid() && id.value < tree[outer].end) {
        holder[i] = handle[outer.index()];
        continue;
      }
    }
    // Loops stay apart: what they take is part of what they lie in.
    if (below && joins[parent] && context.edge != Edge::lexical) {
      const auto [place, fresh] = joined.emplace(Call{above, context.region, context.line}, kNoHandle);
      if (!fresh) {
        holder[i] = place->second;
        continue;
      }
      place->second = static_cast<ContextTreeBuilder::Handle>(builder.size());
    }
    handle[i] = holder[i] = builder.add(above, context.region, options.keep_ids ? context.file_id : builder.size(),
                                        context.line, context.edge);
    ContextId& outer = outermost[context.region.index()];
    if (!outer.valid() || id.value >= tree[outer].end) outer = id;
    if (const ContextDetails& details = tree.details(id); details != ContextDetails()) {
      builder.details(handle[i]) = details;
    }
  }
  std::vector<ContextId> numbers;
  Definitions result = defs;
  result.contexts = std::move(builder).build(&numbers);
  if (!options.collapse.empty()) add_up_anew(result);
  std::uint64_t without_caller = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    mapping.contexts[i] = handle[i] == kNoHandle ? ContextId() : numbers[handle[i]];
    if (handle[i] != kNoHandle) continue;
    if (holder[i] != kNoHandle) mapping.absorbed[i] = numbers[holder[i]];
    if (inside[i] && holder[i] == kNoHandle) ++without_caller;
  }
  if (without_caller > 0) {
    FATHOM_CHECK(profile->work->diagnostics.add(
        "profile.no_caller", Severity::data_loss, Place::in(profile->name),
        "a context vanishes that has no caller to take its values: they are gone", without_caller));
  }
  return combine(std::move(result), {{profile, std::move(mapping)}}, Rule::last);
}

Result<ProfilePtr> subtree(const ProfilePtr& profile, ContextId root) {
  const Definitions& defs = profile->defs();
  const ContextTree& tree = defs.contexts;
  if (root.index() >= tree.size()) return Error::usage("there is no such context");
  Mapping mapping = Mapping::identity(defs);
  mapping.contexts.assign(tree.size(), ContextId());
  ContextTreeBuilder builder;
  for (std::uint32_t i = root.value; i < tree[root].end; ++i) {
    const Context& context = tree[ContextId(i)];
    const auto parent = i == root.value ? ContextTreeBuilder::kRoot : context.parent.value - root.value;
    const auto handle = builder.add(parent, context.region, i - root.value, context.line, context.edge);
    if (const ContextDetails& details = tree.details(ContextId(i)); details != ContextDetails()) {
      builder.details(handle) = details;
    }
    mapping.contexts[i] = ContextId(i - root.value);
  }
  Definitions result = defs;
  result.contexts = std::move(builder).build();
  return combine(std::move(result), {{profile, std::move(mapping)}}, Rule::last);
}

}  // namespace fathom::algebra
