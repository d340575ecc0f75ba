#include "profile/diff/diff.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "profile/aggregate.hpp"
#include "profile/other_unit.hpp"
#include "profile/views.hpp"

namespace fathom {

namespace {

GroupBy grouping(MatchBy match) {
  switch (match) {
    case MatchBy::path:
      return GroupBy::context;
    case MatchBy::file:
      return GroupBy::file;
    case MatchBy::name:
    case MatchBy::line:
      break;
  }
  return GroupBy::region;
}

// Numbers for call paths of several profiles: the same one where all names from the root down are the same. Whole paths
// as texts would be quadratic in the depth of a recursion.
class PathNumbers {
 public:
  std::vector<std::size_t> of(const Definitions& defs) {
    std::vector<std::size_t> numbers(defs.contexts.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const ContextId above = defs.contexts[ContextId(i)].parent;
      const std::size_t parent = above.valid() ? numbers[above.index()] : 0;
      numbers[i] = known_.try_emplace({parent, defs.context_name(ContextId(i))}, known_.size() + 1).first->second;
    }
    return numbers;
  }

 private:
  std::map<std::pair<std::size_t, std::string>, std::size_t> known_;
};

// What a row is known by; `paths` has the numbers of the profile's contexts.
std::string key_of(const Profile& profile, const FlatProfile::Row& row, MatchBy match,
                   std::span<const std::size_t> paths) {
  if (match == MatchBy::line && row.region.valid()) {
    const Region& region = profile.defs().region(row.region);
    if (!region.file.empty() && region.begin_line >= 0) return fmt::format("{}:{}", region.file, region.begin_line);
  }
  if (!row.context.valid() || match != MatchBy::path) return row.name;
  return std::to_string(paths[row.context.index()]);
}

// What several rows of a key have together where they do not add up: extremes, and what is derived. `keys`: of the
// rows.
Result<std::map<std::size_t, double>> together(const Profile& profile, MetricId metric, const FlatProfile& flat,
                                               const std::vector<std::size_t>& keys, bool inclusive) {
  std::map<std::size_t, double> out;
  const Definitions& defs = profile.defs();
  if (defs.metric(metric).type.is_plain_number() && !defs.metric(metric).derived()) return out;
  std::map<std::size_t, std::size_t> rows_of;
  for (const std::size_t key : keys) ++rows_of[key];
  std::erase_if(rows_of, [](const auto& one) { return one.second < 2; });
  if (rows_of.empty()) return out;
  std::map<RegionId, std::size_t> of_region;
  std::map<ContextId, std::size_t> of_context;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!rows_of.contains(keys[i])) continue;
    if (flat.rows[i].context.valid()) {
      of_context.emplace(flat.rows[i].context, keys[i]);
    } else if (flat.rows[i].region.valid()) {
      of_region.emplace(flat.rows[i].region, keys[i]);
    }
  }
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> key(defs.contexts.size(), kNone);
  std::map<std::size_t, std::vector<ContextId>> contexts;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const ContextId id(i);
    if (const auto found = of_context.find(id); found != of_context.end()) {
      key[i] = found->second;
    } else if (const auto region = of_region.find(defs.contexts[id].region);
               region != of_region.end() && defs.contexts[id].edge != Edge::lexical) {
      key[i] = region->second;
    }
    if (key[i] == kNone) continue;
    bool nested = false;  // inclusive values of the one above have those of this one in them
    for (ContextId at = defs.contexts[id].parent; inclusive && at.valid() && !nested; at = defs.contexts[at].parent) {
      nested = key[at.index()] == key[i];
    }
    if (!nested) contexts[key[i]].push_back(id);
  }
  Grouping grouping = Grouping::over_whole_system(defs);
  for (const auto& [row, list] : contexts) grouping.rows.push_back(list);
  const Flavour flavour{inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive, {}};
  FATHOM_TRY(const Cells cells, compute_groups(profile, metric, flavour, grouping));
  std::size_t at = 0;
  for (const auto& [row, list] : contexts) out[row] = cells.scalar(at++, 0);
  return out;
}

}  // namespace

Result<MetricChanges> diff(std::span<const ProfilePtr> before, std::span<const ProfilePtr> after,
                           const std::string& metric, const DiffOptions& options) {
  MetricChanges out;
  out.metric = metric;
  std::unordered_map<std::string, std::size_t> rows;
  PathNumbers path_numbers;
  const auto take = [&](std::span<const ProfilePtr> runs, std::vector<double> BeforeAfter::*side,
                        std::vector<Int128> BeforeAfter::*exact) -> Result<void> {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const Profile& profile = *runs[run];
      const MetricId id = profile.defs().find_metric(metric);
      if (!id.valid()) {
        return Error::usage(fmt::format("{} has no metric '{}'{}", profile.name, metric,
                                        did_you_mean(metric, profile.defs().metric_names())));
      }
      const std::string& unit = profile.defs().metric(id).unit;
      if (out.unit.empty()) out.unit = unit;
      const bool other_unit = other_time_unit(unit, out.unit);
      FATHOM_CHECK(tell_other_unit(profile, id, out.unit));
      FATHOM_TRY(const Value total, metric_total(profile, id, {}));
      (out.total.*side).push_back(in_time_unit(total.scalar(), unit, out.unit));
      if (total.type().is_integer() && !other_unit) (out.total.*exact).push_back(total.integer());
      FATHOM_TRY(const FlatProfile flat,
                 flat_profile(profile, {.metric = id, .locations = {}, .filter = {}}, grouping(options.match)));
      const std::vector<std::size_t> paths =
          options.match == MatchBy::path ? path_numbers.of(profile.defs()) : std::vector<std::size_t>();
      std::vector<std::size_t> keys;
      for (std::size_t i = 0; i < flat.rows.size(); ++i) {
        const auto [found, fresh] =
            rows.try_emplace(key_of(profile, flat.rows[i], options.match, paths), out.rows.size());
        if (fresh) out.rows.push_back({flat.rows[i].name, {}, {}});
        keys.push_back(found->second);
        // In a repetition that does not have it, it took nothing; two rows of one key (the same line) are one.
        std::vector<double>& values = out.rows[found->second].*side;
        const Cells& cells = options.inclusive ? flat.inclusive : flat.exclusive;
        values.resize(run + 1);
        values.back() += in_time_unit(cells.scalar(i, 0), unit, out.unit);
        if (!cells.type().is_integer() || other_unit) continue;
        std::vector<Int128>& integers = out.rows[found->second].*exact;
        integers.resize(run + 1);
        integers.back() += cells.integers(i)[0];
        values.back() = static_cast<double>(integers.back());
      }
      FATHOM_TRY(const auto combined, together(profile, id, flat, keys, options.inclusive));
      for (const auto& [row, value] : combined) (out.rows[row].*side).back() = in_time_unit(value, unit, out.unit);
    }
    for (BeforeAfter& row : out.rows) {
      if (!(row.*side).empty()) (row.*side).resize(runs.size());
      if (!(row.*exact).empty()) (row.*exact).resize(runs.size());
    }
    return {};
  };
  FATHOM_CHECK(take(before, &BeforeAfter::before, &BeforeAfter::exact_before));
  FATHOM_CHECK(take(after, &BeforeAfter::after, &BeforeAfter::exact_after));
  return out;
}

}  // namespace fathom
