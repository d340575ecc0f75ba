#include "profile/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.hpp"
#include "defs/sample_weight.hpp"
#include "profile/compute.hpp"
#include "profile/expression/pattern.hpp"
#include "profile/views.hpp"

namespace fathom {

namespace {

// By name or title; late_sender is the title "Late Sender", for those who do not like quotes.
bool fits(const Metric& metric, const std::string& pattern) {
  if (matches_pattern(pattern, metric.name)) return true;
  if (metric.display_name.empty()) return false;
  if (matches_pattern(pattern, metric.display_name)) return true;
  std::string title = to_lower(metric.display_name);
  std::replace(title.begin(), title.end(), ' ', '_');
  return matches_pattern(pattern, title);
}

bool measures_time(const Metric& metric) {
  const std::string unit = to_lower(metric.unit);
  return unit == "sec" || unit == "s" || unit == "seconds" || unit == "usec" || unit == "nsec";
}

}  // namespace

Result<std::vector<MetricId>> choose_metrics(const Definitions& defs, const std::vector<std::string>& patterns) {
  std::vector<MetricId> chosen;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
      if (!fits(defs.metrics[i], pattern)) continue;
      any = true;
      if (std::find(chosen.begin(), chosen.end(), MetricId(i)) == chosen.end()) chosen.emplace_back(i);
    }
    if (!any) {
      return Error::usage(
                 fmt::format("no metric is called '{}'{}", pattern, did_you_mean(pattern, defs.metric_names())))
          .hint("'fathom info PATH --metrics' lists them; patterns take * and ?");
    }
  }
  return chosen;
}

namespace {

// Finds the first metric of `allowed` that a person most likely wants.
class Guess {
 public:
  using Wanted = std::function<bool(const Metric&)>;
  Guess(const Profile& profile, std::function<bool(MetricId)> allowed)
      : profile_(profile), allowed_(std::move(allowed)) {}

  [[nodiscard]] MetricId likely() const {
    for (const Wanted& wanted :
         {Wanted(weighs_samples), Wanted([](const Metric& metric) { return equal_ignoring_case(metric.name, "time"); }),
          Wanted([](const Metric& metric) { return measures_time(metric) && metric.type.kind == ValueKind::f64; }),
          Wanted([](const Metric& metric) { return metric.type.is_plain_number(); }),
          Wanted([](const Metric&) { return true; })}) {
      if (const MetricId found = find(wanted); found.valid()) return found;
    }
    return find([](const Metric&) { return true; }, false);
  }
  // All hidden: better than nothing.
  [[nodiscard]] MetricId hidden() const {
    const auto& metrics = profile_.defs().metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (metrics[i].hidden && !metrics[i].switched_off && !metrics[i].scopes.empty() && measured(MetricId(i)) &&
          allowed_(MetricId(i))) {
        return MetricId(i);
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool usable(MetricId id) const {
    const Metric& metric = profile_.defs().metric(id);
    return !metric.hidden && !metric.switched_off && why_unavailable(profile_, id).empty() &&
           (metric.derived() || !metric.scopes.empty());
  }
  // Databases of GPU tools declare many metrics that nothing was measured for. Looking is cheap where inclusive values
  // are stored; if none has any, the first is as good as another.
  [[nodiscard]] bool measured(MetricId id) const {
    const Metric& metric = profile_.defs().metric(id);
    if (metric.derived() || metric.stored_as(Scope::inclusive) < 0) return true;
    const auto total = metric_total(profile_, id, {});
    return !total.ok() || !total->is_zero();
  }
  [[nodiscard]] MetricId find(const Wanted& wanted, bool with_values = true) const {
    const auto& metrics = profile_.defs().metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const MetricId id(i);
      if (usable(id) && wanted(metrics[i]) && (!with_values || measured(id)) && allowed_(id)) return id;
    }
    return {};
  }

  const Profile& profile_;
  std::function<bool(MetricId)> allowed_;
};

Error no_values(const Profile& profile, std::string_view what) {
  return Error(fmt::format("holds no metric {}", what), Place::in(profile.name));
}

}  // namespace

Result<std::vector<MetricId>> choose_or_guess_metrics(const Profile& profile,
                                                      const std::vector<std::string>& patterns) {
  if (!patterns.empty()) return choose_metrics(profile.defs(), patterns);
  const Guess guess(profile, [](MetricId) { return true; });
  for (const MetricId found : {guess.likely(), guess.hidden()}) {
    if (found.valid()) return std::vector<MetricId>{found};
  }
  return no_values(profile, "with values");
}

Result<MetricId> guess_cost(const Profile& profile) {
  const Guess guess(profile, [&](MetricId id) { return adds_up(profile, id); });
  for (const MetricId found : {guess.likely(), guess.hidden()}) {
    if (found.valid()) return found;
  }
  return no_values(profile, "whose values add up");
}

namespace {

// roots, leaves, level<2, level=2, level>2; the roots are level 0.
std::optional<std::function<bool(ContextId, std::size_t)>> context_rule(const Definitions& defs,
                                                                        std::string_view text) {
  if (text == "all") return [](ContextId, std::size_t) { return true; };
  if (text == "roots") return [](ContextId, std::size_t level) { return level == 0; };
  if (text == "leaves" || text == "leafs") {
    return [&defs](ContextId id, std::size_t) { return !defs.contexts.first_child(id).valid(); };
  }
  if (!text.starts_with("level") || text.size() < 7) return std::nullopt;
  const auto wanted = parse_integer<std::size_t>(text.substr(6));
  if (!wanted) return std::nullopt;
  switch (text[5]) {
    case '<':
      return [wanted](ContextId, std::size_t level) { return level < *wanted; };
    case '=':
      return [wanted](ContextId, std::size_t level) { return level == *wanted; };
    case '>':
      return [wanted](ContextId, std::size_t level) { return level > *wanted; };
    default:
      return std::nullopt;
  }
}

// Of regions whose name matches /TEXT/ somewhere.
Result<std::vector<ContextId>> contexts_named(const Definitions& defs, std::string_view text) {
  if (text.size() < 2 || text.back() != '/') {
    return Error::usage(fmt::format("expected name=/REGULAR EXPRESSION/, found 'name={}'", text));
  }
  auto pattern = expression::make_pattern(text.substr(1, text.size() - 2));
  if (!pattern.ok()) return std::move(pattern).error().with(std::string(text)).as(ErrorKind::usage);
  std::vector<bool> fits(defs.regions.size(), false);
  for (std::size_t i = 0; i < fits.size(); ++i) {
    FATHOM_TRY(const bool found, expression::search(**pattern, demangle(defs.regions[i].name)));
    fits[i] = found;
  }
  std::vector<ContextId> out;
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const RegionId region = defs.contexts[ContextId(i)].region;
    if (region.valid() && fits[region.index()]) out.emplace_back(i);
  }
  return out;
}

}  // namespace

Result<std::vector<ContextId>> choose_contexts(const Definitions& defs, const std::vector<std::string>& wishes) {
  std::vector<ContextId> chosen;
  const auto refuse = [](std::string_view text) {
    return Error::usage(fmt::format("no context has the id '{}'", text))
        .hint(
            "'fathom tree PATH --ids' shows them; also 5-10, roots, leaves, level<N, level=N, level>N, name=/.../; "
            "--region takes names");
  };
  for (const std::string& wish : wishes) {
    // Commas may be part of a regular expression.
    if (const std::string_view all = trim(wish); all.starts_with("name=/")) {
      FATHOM_TRY(const auto named, contexts_named(defs, all.substr(5)));
      if (named.empty())
        return Error::usage(fmt::format("no context has a region whose name matches {}", all.substr(5)));
      chosen.insert(chosen.end(), named.begin(), named.end());
      continue;
    }
    for (const std::string_view piece : split(wish, ',')) {
      const std::string_view text = trim(piece);
      if (const auto rule = context_rule(defs, text)) {
        std::vector<std::size_t> level(defs.contexts.size(), 0);
        for (std::size_t i = 0; i < level.size(); ++i) {
          const ContextId parent = defs.contexts[ContextId(i)].parent;
          if (parent.valid()) level[i] = level[parent.index()] + 1;
          if ((*rule)(ContextId(i), level[i])) chosen.emplace_back(i);
        }
        continue;
      }
      const std::size_t dash = text.find('-');
      const auto first = parse_integer<std::uint64_t>(trim(text.substr(0, dash)));
      const auto last =
          dash == std::string_view::npos ? first : parse_integer<std::uint64_t>(trim(text.substr(dash + 1)));
      if (!first || !last || (first == last && !defs.contexts.find(*first).valid())) return refuse(text);
      bool any = false;
      for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
        const std::uint64_t id = defs.contexts[ContextId(i)].file_id;
        if (id < *first || id > *last) continue;
        chosen.emplace_back(i);
        any = true;
      }
      if (!any) return refuse(text);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

Result<std::vector<LocationId>> choose_locations(const Definitions& defs, const std::vector<std::string>& patterns) {
  const std::size_t count = defs.system.location_count();
  std::vector<bool> wanted(count, patterns.empty());
  std::vector<std::string> labels;
  std::vector<std::string> names;  // "RANK 3 THREAD 0"
  for (std::size_t i = 0; i < count && !patterns.empty(); ++i) {
    const LocationId id(i);
    labels.push_back(defs.system.location_label(id));
    const SystemNodeId group = defs.system.group_of(id);
    names.push_back((group.valid() ? defs.system.nodes[group.index()].name + " " : "") + defs.system.location(id).name);
  }
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const auto* list : {&labels, &names}) {
      for (std::size_t i = 0; i < count; ++i) {
        if (matches_pattern(pattern, (*list)[i])) any = wanted[i] = true;
      }
      if (any) break;
    }
    if (!any) {
      return Error::usage(fmt::format("no location has the id or name '{}'{}", pattern, did_you_mean(pattern, labels)))
          .hint("'fathom top PATH --by location -n 0' lists them");
    }
  }
  std::vector<LocationId> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    if (wanted[i]) chosen.emplace_back(i);
  }
  return chosen;
}

std::vector<IndexRange> as_ranges(const std::vector<LocationId>& locations) {
  std::vector<IndexRange> ranges;
  for (const LocationId id : locations) {
    if (ranges.empty() || ranges.back().end != id.value) ranges.push_back({id.value, id.value});
    ++ranges.back().end;
  }
  return ranges;
}

Result<void> check_region_patterns(const Definitions& defs, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    std::vector<std::string> names;
    bool any = false;
    for (const Region& region : defs.regions) {
      std::string name = demangle(region.name);
      any = any || matches_pattern(pattern, region.name) || matches_pattern(pattern, name);
      names.push_back(std::move(name));
    }
    if (!any) return Error::usage(fmt::format("no region is called '{}'{}", pattern, did_you_mean(pattern, names)));
  }
  return {};
}

}  // namespace fathom
