#include <fmt/format.h>

#include <algorithm>
#include <set>

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

}  // namespace

Result<ProfilePtr> cut(const ProfilePtr& profile, const CutOptions& options) {
  const Definitions& defs = profile->defs();
  const ContextTree& tree = defs.contexts;
  FATHOM_TRY(const std::vector<bool> roots, chosen(defs, options.roots));
  FATHOM_TRY(const std::vector<bool> prune, chosen(defs, options.prune));
  FATHOM_TRY(const std::vector<bool> elide, chosen(defs, options.elide));
  FATHOM_TRY(const std::vector<bool> fold, chosen(defs, options.fold));
  Mapping mapping = Mapping::identity(defs);
  mapping.absorbed.assign(tree.size(), ContextId());
  ContextTreeBuilder builder;
  std::vector<ContextTreeBuilder::Handle> handle(tree.size(), kNoHandle);
  // Who a context's children hang below, and who absorbs the context when it has no handle of its own.
  std::vector<ContextTreeBuilder::Handle> holder(tree.size(), kNoHandle);
  std::vector<bool> inside(tree.size(), options.roots.empty());
  std::vector<bool> gone(tree.size());  // with all below
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
    if (gone[i] || elide[context.region.index()]) continue;
    handle[i] = holder[i] = builder.add(above, context.region, options.keep_ids ? context.file_id : builder.size(),
                                        context.line, context.edge);
    if (const ContextDetails& details = tree.details(id); details != ContextDetails()) {
      builder.details(handle[i]) = details;
    }
  }
  std::vector<ContextId> numbers;
  Definitions result = defs;
  result.contexts = std::move(builder).build(&numbers);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    mapping.contexts[i] = handle[i] == kNoHandle ? ContextId() : numbers[handle[i]];
    if (handle[i] == kNoHandle && holder[i] != kNoHandle) mapping.absorbed[i] = numbers[holder[i]];
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
