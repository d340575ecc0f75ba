#include "profile/algebra/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "profile/absent.hpp"
#include "profile/algebra/mapping.hpp"
#include "profile/algebra/unite.hpp"
#include "profile/compute.hpp"
#include "profile/expression/evaluate.hpp"

namespace fathom::algebra {

namespace {

// Of others there is no way back: what a minimum is without those of the callees, say.
bool exclusive_follows_from_inclusive(ValueType type) {
  return !absent_is_no_value(type) && type.kind != ValueKind::histogram;
}

ContextTree copy_tree(const ContextTree& tree, const std::vector<RegionId>& regions) {
  ContextTreeBuilder builder;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Context& at = tree[ContextId(i)];
    const auto handle = builder.add(at.parent.valid() ? at.parent.value : ContextTreeBuilder::kRoot,
                                    regions[at.region.index()], i, at.line, at.edge);
    if (const ContextDetails& details = tree.details(ContextId(i)); details != ContextDetails()) {
      builder.details(handle) = details;
    }
  }
  return std::move(builder).build();
}

// "int ns::f(char) const" is "ns::f".
std::string plain_name(const std::string& name) {
  std::string out(trim(std::string_view(name).substr(0, name.find('('))));
  // The return type ends at the last blank outside template arguments.
  std::size_t depth = 0;
  for (std::size_t i = out.size(); i-- > 0;) {
    if (out[i] == '>') ++depth;
    if (out[i] == '<' && depth > 0) --depth;
    if (out[i] == ' ' && depth == 0) return out.substr(i + 1);
  }
  return out;
}

ProfilePtr reshaped(const ProfilePtr& profile, Definitions definitions) {
  return combine(std::move(definitions), {{profile, Mapping::identity(profile->defs())}}, Rule::last);
}

}  // namespace

Result<ProfilePtr> clean(const ProfilePtr& profile) {
  Definitions defs = profile->defs();
  std::vector<bool> used(defs.regions.size(), false);
  for (const Context& context : defs.contexts.all()) used[context.region.index()] = true;
  std::vector<RegionId> to(defs.regions.size());
  std::vector<Region> kept;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    to[i] = RegionId(kept.size());
    kept.push_back(std::move(defs.regions[i]));
    kept.back().file_id = kept.size() - 1;
  }
  defs.regions = std::move(kept);
  defs.contexts = copy_tree(defs.contexts, to);
  return reshaped(profile, std::move(defs));
}

Result<ProfilePtr> store_as(const ProfilePtr& profile, Scope scope) {
  Definitions defs = profile->defs();
  // Own values are the ones that others follow from; where every edge is a call they are the exclusive ones.
  if (scope == Scope::exclusive && !defs.contexts.only_calls()) scope = Scope::own;
  for (Metric& metric : defs.metrics) {
    if (metric.derived() || metric.scopes.empty()) continue;
    if (scope != Scope::inclusive || exclusive_follows_from_inclusive(metric.type)) metric.scopes = {{scope, {}}};
  }
  defs.contexts = renumbered(defs.contexts);
  return reshaped(profile, std::move(defs));
}

Result<ProfilePtr> canonize(const ProfilePtr& profile, const CanonizeOptions& options) {
  Definitions defs = profile->defs();
  for (Region& region : defs.regions) {
    if (options.plain_names) region.name = plain_name(region.name);
    if (options.lower_case) region.name = to_lower(region.name);
    if (options.max_length) region.name = region.name.substr(0, *options.max_length);
    if (options.drop_files) region.file.clear();
    if (options.drop_lines) region.begin_line = region.end_line = 0;
  }
  return reshaped(profile, std::move(defs));
}

Result<std::vector<ProfilePtr>> common_call_tree(const Inputs& inputs, bool keep_lost) {
  if (inputs.empty()) return Error::usage("no profiles to work on");
  FATHOM_TRY(const United united, unite(inputs, SystemMatch::collapse));
  std::vector<std::size_t> seen(united.definitions.contexts.size(), 0);
  for (const Mapping& mapping : united.mappings) {
    for (const ContextId id : mapping.contexts) ++seen[id.index()];
  }
  std::vector<ProfilePtr> out;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Definitions& defs = inputs[k]->defs();
    const ContextTree& tree = defs.contexts;
    std::vector<std::uint64_t> old_ids;
    const auto common = [&](std::size_t i) { return seen[united.mappings[k].contexts[i].index()] == inputs.size(); };
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (common(i)) old_ids.push_back(tree[ContextId(i)].file_id);
    }
    std::sort(old_ids.begin(), old_ids.end());
    Mapping mapping = Mapping::identity(defs);
    mapping.contexts.assign(tree.size(), ContextId());
    mapping.absorbed.assign(tree.size(), ContextId());
    ContextTreeBuilder builder;
    // Kept contexts come in depth-first order, so that handles are the new numbers.
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Context& context = tree[ContextId(i)];
      const ContextId parent = context.parent.valid() ? mapping.contexts[context.parent.index()] : ContextId();
      if (!common(i)) {
        if (keep_lost)
          mapping.absorbed[i] =
              parent.valid() || !context.parent.valid() ? parent : mapping.absorbed[context.parent.index()];
        continue;
      }
      const auto id = static_cast<std::uint64_t>(std::lower_bound(old_ids.begin(), old_ids.end(), context.file_id) -
                                                 old_ids.begin());
      const auto handle = builder.add(parent.valid() ? parent.value : ContextTreeBuilder::kRoot, context.region, id,
                                      context.line, context.edge);
      if (const ContextDetails& details = tree.details(ContextId(i)); details != ContextDetails()) {
        builder.details(handle) = details;
      }
      mapping.contexts[i] = ContextId(handle);
    }
    Definitions result = defs;
    result.contexts = std::move(builder).build();
    out.push_back(combine(std::move(result), {{inputs[k], std::move(mapping)}}, Rule::last));
  }
  return out;
}

Result<std::vector<RankRange>> parse_ranks(std::string_view text) {
  std::vector<RankRange> out;
  for (const std::string_view piece : split(text, ',')) {
    const std::string_view word = trim(piece);
    const std::size_t dash = word.find('-');
    const auto first = parse_integer<std::int64_t>(trim(word.substr(0, dash)));
    std::optional<std::int64_t> last = first;
    if (dash != std::string_view::npos) {
      const std::string_view rest = trim(word.substr(dash + 1));
      last = rest.empty() ? std::numeric_limits<std::int64_t>::max() : parse_integer<std::int64_t>(rest);
    }
    if (!first || !last || *last < *first) {
      return Error::usage(fmt::format("expected ranks such as 0-3,7,13-, found '{}'", word));
    }
    out.push_back({*first, *last});
  }
  return out;
}

Result<ProfilePtr> partition(const ProfilePtr& profile, const std::vector<RankRange>& ranks, bool invert) {
  Definitions defs = profile->defs();
  Mapping mapping = Mapping::identity(defs);
  const auto wanted = [&](std::int64_t rank) {
    const bool listed =
        std::any_of(ranks.begin(), ranks.end(), [&](const RankRange& r) { return rank >= r.first && rank <= r.last; });
    return listed != invert;
  };
  bool any = false;
  for (std::size_t i = 0; i < defs.system.location_count(); ++i) {
    const SystemNodeId group = profile->defs().system.group_of(LocationId(i));
    const SystemNode* node = group.valid() ? &profile->defs().system.nodes[group.index()] : nullptr;
    const bool keep = node != nullptr && node->rank && wanted(*node->rank);
    any = any || keep;
    if (!keep) mapping.locations[i] = LocationId();
  }
  if (!any) return Error::usage("none of the ranks is in the profile");
  for (SystemNode& node : defs.system.nodes) {
    if (node.kind == SystemKind::group && !(node.rank && wanted(*node.rank))) node.name += " <VOID>";
  }
  for (Metric& metric : defs.metrics) {
    if (metric.name == "imbalance") metric.switched_off = true;  // it spoke of all ranks
  }
  return combine(std::move(defs), {{profile, std::move(mapping)}}, Rule::last);
}

Result<ProfilePtr> materialise(const ProfilePtr& profile, const std::vector<MetricId>& metrics) {
  Definitions defs = profile->defs();
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
    Metric& metric = defs.metrics[i];
    const bool chosen =
        metrics.empty() ? metric.convertible : std::find(metrics.begin(), metrics.end(), MetricId(i)) != metrics.end();
    // What expressions switch off must stay so without them.
    if (const auto off = expression::switched_off(*profile, MetricId(i)); off.ok() && *off) metric.switched_off = true;
    if (!metric.derived() || !chosen || !why_unavailable(*profile, MetricId(i)).empty()) continue;
    const bool inclusive = metric.derivation == Derivation::pre_inclusive;
    metric.scopes = {{inclusive ? Scope::inclusive : Scope::exclusive, {}}};
    metric.derivation = Derivation::none;
    metric.expression.clear();
    metric.type = {ValueKind::f64, 0};
  }
  return reshaped(profile, std::move(defs));
}

}  // namespace fathom::algebra
