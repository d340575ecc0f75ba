#include "profile/expression/fold_locations.hpp"

#include <algorithm>

namespace fathom::expression {

namespace {

constexpr std::size_t kCells = std::size_t{1} << 21;  // that are in memory together

void add(Over over, double value, double& out) {
  if (value == 0) return;
  switch (over) {
    case Over::sum:
      out += value;
      break;
    case Over::count:
      out += 1;
      break;
    case Over::squares:
      out += value * value;
      break;
    case Over::lowest:
      out = out == 0 ? value : std::min(out, value);
      break;
    case Over::highest:
      out = out == 0 ? value : std::max(out, value);
      break;
  }
}

}  // namespace

Result<Cells> fold_locations(const Profile& profile, MetricId metric, const Flavour& flavour, const Grouping& grouping,
                             Over over) {
  const Definitions& defs = profile.defs();
  const std::size_t rows = grouping.rows.empty() ? defs.contexts.size() : grouping.rows.size();
  std::vector<std::vector<LocationId>> groups = grouping.columns;
  for (std::size_t i = 0; grouping.columns.empty() && i < defs.system.location_count(); ++i) {
    groups.push_back({LocationId(i)});
  }
  const std::size_t at_once = std::max<std::size_t>(1, kCells / std::max<std::size_t>(1, rows));
  const ValueType type{ValueKind::f64, 0};
  FATHOM_TRY(const auto reservation,
             profile.work->budget.reserve(Cells::bytes_needed(type, rows, groups.size()), "statistics over locations"));
  Cells out(type, rows, groups.size());
  // Runs of neighbours, also across columns: those can be read without the other locations.
  std::vector<std::pair<LocationId, std::size_t>> all;  // with the column
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const LocationId location : groups[g]) all.emplace_back(location, g);
  }
  for (std::size_t begin = 0; begin < all.size();) {
    Grouping some{grouping.rows, {}};
    std::size_t end = begin;
    do {
      some.columns.push_back({all[end].first});
      ++end;
    } while (end < all.size() && end - begin < at_once && all[end].first.value == all[end - 1].first.value + 1);
    FATHOM_TRY(const Cells cells, compute_groups(profile, metric, flavour, some));
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = begin; i < end; ++i) add(over, cells.scalar(row, i - begin), out.reals(row)[all[i].second]);
    }
    begin = end;
  }
  return out;
}

bool is_over_locations(const Profile& profile, MetricId metric) {
  const Definitions& defs = profile.defs();
  std::vector<bool> seen(defs.metrics.size());
  std::vector<MetricId> pending{metric};
  while (!pending.empty()) {
    const auto found = profile.programs.find(pending.back());
    pending.pop_back();
    if (found == profile.programs.end()) continue;
    for (const Tree* tree : {&found->second->value, found->second->inclusive ? &*found->second->inclusive : nullptr}) {
      if (tree == nullptr) continue;
      for (const MetricReference& reference : tree->metrics) {
        if (reference.over != Over::sum) return true;
        const MetricId id = defs.find_metric(reference.metric);
        if (!id.valid() || seen[id.index()]) continue;
        seen[id.index()] = true;
        pending.push_back(id);
      }
    }
  }
  return false;
}

}  // namespace fathom::expression
