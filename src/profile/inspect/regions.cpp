#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/views.hpp"

namespace fathom::inspect {

namespace {

// The profiling names are what a sampling tool sees of an MPI library. Fortran compilers make lower case of them.
bool is_mpi_name(std::string_view name) {
  if (name.starts_with("P") || name.starts_with("p")) name.remove_prefix(1);
  return name.starts_with("MPI_") || name.starts_with("mpi_");
}

std::string group_of(const Region& region) {
  const std::string paradigm = to_lower(trim(region.paradigm));
  if (paradigm == "mpi" || (paradigm.empty() && is_mpi_name(region.name))) return "MPI";
  if (paradigm == "openmp" || paradigm == "omp" || paradigm == "pthread") return "OMP";
  if (paradigm == "measurement") return "SCOREP";
  if (paradigm.empty() || paradigm == "compiler" || paradigm == "user" || paradigm == "unknown" ||
      paradigm == "sampling") {
    return "USR";
  }
  std::string out = paradigm;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

bool communicates(const std::string& group) { return group == "MPI" || group == "SHMEM"; }

}  // namespace

Result<std::vector<Routine>> routines(const Definitions& defs, const std::vector<std::string>& names) {
  const ContextTree& tree = defs.contexts;
  std::vector<ContextId> chosen = names.empty() ? tree.roots() : std::vector<ContextId>();
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Region& region = defs.region_of(ContextId(i));
      if (!matches_pattern(name, region.name) && !matches_pattern(name, region.mangled_name)) continue;
      chosen.emplace_back(i);
      any = true;
    }
    if (any) continue;
    std::vector<std::string> known;
    for (const Region& region : defs.regions) known.push_back(region.name);
    return Error::usage(fmt::format("there is no region '{}'{}", name, did_you_mean(name, known)));
  }
  std::vector<Routine> out;
  for (const ContextId id : chosen) {
    Routine routine{id, {}};
    using Part = RoutineLine::Part;
    routine.lines.push_back({Part::inclusive, id, false});
    routine.lines.push_back({Part::exclusive, id, false});
    // What is called from loops and lines inside it is called by the routine.
    for (std::uint32_t i = id.value + 1; i < tree[id].end;) {
      const ContextId child{i};
      const bool lexical = tree[child].edge == Edge::lexical;
      if (!lexical) routine.lines.push_back({Part::callee, child, !tree.first_child(child).valid()});
      i = lexical ? i + 1 : tree[child].end;
    }
    out.push_back(std::move(routine));
  }
  return out;
}

std::vector<std::string> region_groups(const Definitions& defs) {
  std::vector<std::string> out;
  for (const Region& region : defs.regions) out.push_back(group_of(region));
  const ContextTree& tree = defs.contexts;
  std::vector<bool> talks(tree.size(), false);
  for (std::size_t i = tree.size(); i-- > 0;) {
    const Context& context = tree[ContextId(i)];
    const bool itself = communicates(out[context.region.index()]);
    if (talks[i] && out[context.region.index()] == "USR") out[context.region.index()] = "COM";
    if ((talks[i] || itself) && context.parent.valid()) talks[context.parent.index()] = true;
  }
  return out;
}

Result<std::vector<RegionId>> suggest_filter(const Profile& profile, MetricId time, MetricId visits,
                                             const FilterRules& rules) {
  const Definitions& defs = profile.defs();
  FATHOM_TRY(const FlatProfile times, flat_profile(profile, {time, {}, {}}, GroupBy::region));
  FATHOM_TRY(const FlatProfile counts, flat_profile(profile, {visits, {}, {}}, GroupBy::region));
  double all_visits = 0;
  for (std::size_t i = 0; i < counts.rows.size(); ++i) all_visits += counts.exclusive.scalar(i, 0);
  const std::vector<std::string> groups = region_groups(defs);
  std::vector<RegionId> out;
  for (const std::size_t i : counts.ranking(false)) {
    const RegionId region = counts.rows[i].region;
    const double count = counts.exclusive.scalar(i, 0);
    if (groups[region.index()] != "USR" || count < rules.min_visit_share * all_visits || count <= 1) continue;
    // Both views have their rows in the order of first appearance.
    const double spent = times.exclusive.scalar(i, 0);
    if (spent / count <= rules.max_seconds_per_visit) out.push_back(region);
  }
  return out;
}

std::string filter_text(const Definitions& defs, const std::vector<RegionId>& regions) {
  std::string out = "SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE\n";
  for (const RegionId id : regions) {
    const Region& region = defs.region(id);
    if (!region.mangled_name.empty() && region.mangled_name != region.name) {
      out += fmt::format("    MANGLED {}\n", region.mangled_name);
    } else {
      // The filter takes shell patterns: what means something there is escaped.
      std::string name;
      for (const char c : region.name) {
        if (c == '*' || c == '?' || c == '[' || c == ' ' || c == '\\' || c == '#') name += '\\';
        name += c;
      }
      out += fmt::format("    {}\n", name);
    }
  }
  return out + "SCOREP_REGION_NAMES_END\n";
}

namespace {

struct FilterRule {
  bool exclude = true;
  bool mangled = false;
  std::string pattern;
};

// Words of a filter line; "\\ " is a blank inside a word, '#' begins a remark.
std::vector<std::string> filter_words(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) out.push_back(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      word += line[++i];
    } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      finish();
    } else {
      word += line[i];
    }
  }
  finish();
  return out;
}

std::vector<FilterRule> filter_rules(std::string_view filter) {
  std::vector<FilterRule> out;
  bool exclude = true;
  bool files = false;  // rules for file names are about what is compiled in
  for (const std::string_view line : split(filter, '\n')) {
    bool mangled = false;
    for (const std::string& word : filter_words(line)) {
      if (word.starts_with("SCOREP_")) {
        files = word == "SCOREP_FILE_NAMES_BEGIN";
      } else if (word == "EXCLUDE" || word == "INCLUDE") {
        exclude = word == "EXCLUDE";
      } else if (word == "MANGLED") {
        mangled = true;
      } else if (!files) {
        out.push_back({exclude, mangled, word});
      }
    }
  }
  return out;
}

}  // namespace

std::vector<bool> excluded_by(const Definitions& defs, std::string_view filter) {
  const std::vector<FilterRule> rules = filter_rules(filter);
  std::vector<bool> out(defs.regions.size(), false);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Region& region = defs.regions[i];
    for (const FilterRule& rule : rules) {
      if (matches_pattern(rule.pattern,
                          rule.mangled && !region.mangled_name.empty() ? region.mangled_name : region.name)) {
        out[i] = rule.exclude;
      }
    }
  }
  return out;
}

}  // namespace fathom::inspect
