#include "profile/diff/diff.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "base/text.hpp"
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

// What a row is known by. Names of a path are joined by a character that no name has, so that they are compared one by
// one.
std::string key_of(const Profile& profile, const FlatProfile::Row& row, MatchBy match) {
  if (match == MatchBy::line && row.region.valid()) {
    const Region& region = profile.defs().region(row.region);
    if (!region.file.empty() && region.begin_line >= 0) return fmt::format("{}:{}", region.file, region.begin_line);
  }
  if (!row.context.valid() || match != MatchBy::path) return row.name;
  std::string out;
  for (ContextId at = row.context; at.valid(); at = profile.defs().contexts[at].parent) {
    out += profile.defs().context_name(at) + '\x1f';
  }
  return out;
}

}  // namespace

Result<MetricChanges> diff(std::span<const ProfilePtr> before, std::span<const ProfilePtr> after,
                           const std::string& metric, const DiffOptions& options) {
  MetricChanges out;
  out.metric = metric;
  std::unordered_map<std::string, std::size_t> rows;
  const auto take = [&](std::span<const ProfilePtr> runs, std::vector<double> BeforeAfter::*side,
                        std::vector<Int128> BeforeAfter::*exact) -> Result<void> {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const Profile& profile = *runs[run];
      const MetricId id = profile.defs().find_metric(metric);
      if (!id.valid()) {
        return Error::usage(fmt::format("{} has no metric '{}'{}", profile.name, metric,
                                        did_you_mean(metric, profile.defs().metric_names())));
      }
      if (out.unit.empty()) out.unit = profile.defs().metric(id).unit;
      FATHOM_TRY(const Value total, metric_total(profile, id, {}));
      (out.total.*side).push_back(total.scalar());
      if (total.type().is_integer()) (out.total.*exact).push_back(total.integer());
      FATHOM_TRY(const FlatProfile flat,
                 flat_profile(profile, {.metric = id, .locations = {}, .filter = {}}, grouping(options.match)));
      for (std::size_t i = 0; i < flat.rows.size(); ++i) {
        const auto [found, fresh] = rows.try_emplace(key_of(profile, flat.rows[i], options.match), out.rows.size());
        if (fresh) out.rows.push_back({flat.rows[i].name, {}, {}});
        // In a repetition that does not have it, it took nothing; two rows of one key (the same line) are one.
        std::vector<double>& values = out.rows[found->second].*side;
        const Cells& cells = options.inclusive ? flat.inclusive : flat.exclusive;
        values.resize(run + 1);
        values.back() += cells.scalar(i, 0);
        if (!cells.type().is_integer()) continue;
        std::vector<Int128>& integers = out.rows[found->second].*exact;
        integers.resize(run + 1);
        integers.back() += cells.integers(i)[0];
        values.back() = static_cast<double>(integers.back());
      }
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
