#include "profile/source_lines.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "profile/absent.hpp"
#include "profile/aggregate.hpp"

namespace fathom {

namespace {

// Which files and lines the path to the present context has passed, while contexts are visited depth first.
class OpenLines {
 public:
  void leave_before(std::size_t context) {
    while (!path_.empty() && path_.back().end <= context) {
      --files_[path_.back().file];
      --lines_[{path_.back().file, path_.back().line}];
      path_.pop_back();
    }
  }
  void enter(std::size_t end, const SourceLines* file, std::int64_t line) {
    path_.push_back({end, file, line});
    ++files_[file];
    ++lines_[{file, line}];
  }
  bool inside(const SourceLines* file) { return files_[file] > 0; }
  bool inside(const SourceLines* file, std::int64_t line) { return lines_[{file, line}] > 0; }

 private:
  struct Step {
    std::size_t end;
    const SourceLines* file;
    std::int64_t line;
  };
  std::vector<Step> path_;
  std::map<const SourceLines*, std::size_t> files_;
  std::map<std::pair<const SourceLines*, std::int64_t>, std::size_t> lines_;
};

using Parts = std::map<double*, std::vector<ContextId>>;  // what a value is made of

Result<void> put_together(const Profile& profile, MetricId metric, Flavour::Kind flavour, Grouping grouping,
                          const Parts& parts) {
  if (parts.empty()) return {};
  for (const auto& [target, contexts] : parts) grouping.rows.push_back(contexts);
  FATHOM_TRY(const Cells cells, compute_groups(profile, metric, {flavour, {}}, grouping));
  std::size_t row = 0;
  for (const auto& [target, contexts] : parts) *target = cells.scalar(row++, 0);
  return {};
}

}  // namespace

Result<std::vector<SourceLines>> source_lines(const Profile& profile, const ViewInput& input) {
  const Definitions& defs = profile.defs();
  Grouping grouping = Grouping::over_whole_system(defs);
  if (!input.locations.empty()) grouping.columns[0] = input.locations;
  FATHOM_TRY(const Cells own, compute_groups(profile, input.metric, {Flavour::Kind::own, {}}, grouping));
  FATHOM_TRY(const Cells inclusive, compute_groups(profile, input.metric, {Flavour::Kind::inclusive, {}}, grouping));
  // Ratios and extremes do not add up: what belongs together is worked out together.
  const Metric& metric = defs.metric(input.metric);
  const bool adds_up = metric.type.is_plain_number() && !metric.derived();
  Parts own_parts;
  Parts inclusive_parts;
  const auto counts = [&](const Cells& cells, std::size_t i) {
    return adds_up ? cells.scalar(i, 0) != 0 : has_value(cells, i, 0);
  };
  const auto add = [&](double& target, const Cells& cells, std::size_t i, Parts& parts) {
    if (adds_up) {
      target += cells.scalar(i, 0);
    } else {
      parts[&target].emplace_back(i);
    }
  };
  std::map<std::string, SourceLines> files;
  std::set<std::uint32_t> seen;
  OpenLines open;
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextId id(i);
    open.leave_before(i);
    const Region& region = defs.region_of(id);
    if (region.file.empty() || (input.filter && !input.filter(id))) continue;
    SourceLines& file = files[region.file];
    file.file = region.file;
    const std::int64_t line = std::max<std::int64_t>(0, region.begin_line);
    if (counts(own, i)) {
      add(file.lines[line].own, own, i, own_parts);
      add(file.total, own, i, own_parts);
    }
    if (counts(inclusive, i)) {
      if (!open.inside(&file, line)) add(file.lines[line].inclusive, inclusive, i, inclusive_parts);
      if (!open.inside(&file)) add(file.inclusive, inclusive, i, inclusive_parts);
    }
    open.enter(defs.contexts[id].end, &file, line);
    const bool function = region.role != "line" && region.role != "loop" && region.role != "call site";
    if (function && line > 0 && seen.insert(defs.contexts[id].region.value).second) {
      file.functions.emplace_back(line, region.name);
    }
  }
  FATHOM_CHECK(put_together(profile, input.metric, Flavour::Kind::own, grouping, own_parts));
  FATHOM_CHECK(put_together(profile, input.metric, Flavour::Kind::inclusive, grouping, inclusive_parts));
  std::vector<SourceLines> out;
  for (auto& [name, file] : files) {
    if (!adds_up)
      std::erase_if(file.lines, [](const auto& line) { return line.second.own == 0 && line.second.inclusive == 0; });
    std::sort(file.functions.begin(), file.functions.end());
    out.push_back(std::move(file));
  }
  // What is no number comes last.
  const auto weight = [](double value) { return std::isnan(value) ? -1 : std::abs(value); };
  std::stable_sort(out.begin(), out.end(), [&](const SourceLines& a, const SourceLines& b) {
    return std::pair(weight(a.total), weight(a.inclusive)) > std::pair(weight(b.total), weight(b.inclusive));
  });
  return out;
}

}  // namespace fathom
