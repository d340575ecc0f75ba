#include "profile/source_lines.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "profile/aggregate.hpp"

namespace fathom {

Result<std::vector<SourceLines>> source_lines(const Profile& profile, const ViewInput& input) {
  const Definitions& defs = profile.defs();
  Grouping grouping = Grouping::over_whole_system(defs);
  if (!input.locations.empty()) grouping.columns[0] = input.locations;
  FATHOM_TRY(const Cells own, compute_groups(profile, input.metric, {Flavour::Kind::own, {}}, grouping));
  std::map<std::string, SourceLines> files;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextId id(i);
    const Region& region = defs.region_of(id);
    if (region.file.empty() || (input.filter && !input.filter(id))) continue;
    SourceLines& file = files[region.file];
    file.file = region.file;
    const std::int64_t line = std::max<std::int64_t>(0, region.begin_line);
    if (const double value = own.scalar(i, 0); value != 0) {
      file.lines[line] += value;
      file.total += value;
    }
    const bool function = region.role != "line" && region.role != "loop" && region.role != "call site";
    if (function && line > 0 && seen.insert(defs.contexts[id].region.value).second) {
      file.functions.emplace_back(line, region.name);
    }
  }
  std::vector<SourceLines> out;
  for (auto& [name, file] : files) {
    std::sort(file.functions.begin(), file.functions.end());
    out.push_back(std::move(file));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SourceLines& a, const SourceLines& b) { return std::abs(a.total) > std::abs(b.total); });
  return out;
}

}  // namespace fathom
