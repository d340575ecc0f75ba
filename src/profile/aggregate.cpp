#include "profile/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "profile/expression/evaluate.hpp"

namespace fathom {

namespace {

// The first of several values is taken as it is, since minima do not start from zero.
Cells fold_rows(const Cells& cells, const std::vector<std::vector<ContextId>>& groups) {
  Cells out(cells.type(), groups.size(), cells.columns());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool first = true;
    for (const ContextId id : groups[i]) {
      if (first) {
        out.copy_row(i, cells, id.index());
      } else {
        out.add_row(i, cells, id.index());
      }
      first = false;
    }
  }
  return out;
}

Cells fold_columns(const Cells& cells, const std::vector<std::vector<LocationId>>& groups) {
  Cells out(cells.type(), cells.rows(), groups.size());
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      bool first = true;
      for (const LocationId id : groups[g]) {
        out.add_cell(row, g, cells, row, id.index(), first);
        first = false;
      }
    }
  }
  return out;
}

// One column of neighbouring locations can be combined while reading.
std::optional<IndexRange> one_range(const Grouping& grouping) {
  if (grouping.columns.size() != 1 || grouping.columns[0].empty()) return std::nullopt;
  const auto& list = grouping.columns[0];
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].value != list[0].value + i) return std::nullopt;
  }
  return IndexRange{list[0].value, list[0].value + static_cast<std::uint32_t>(list.size())};
}

// Columns that are neighbouring locations, one each.
std::optional<IndexRange> single_columns(const Grouping& grouping) {
  if (grouping.columns.empty() || grouping.columns[0].empty()) return std::nullopt;
  const std::uint32_t first = grouping.columns[0][0].value;
  for (std::size_t i = 0; i < grouping.columns.size(); ++i) {
    if (grouping.columns[i].size() != 1 || grouping.columns[i][0].value != first + i) return std::nullopt;
  }
  return IndexRange{first, first + static_cast<std::uint32_t>(grouping.columns.size())};
}

}  // namespace

Grouping Grouping::over_whole_system(const Definitions& defs) {
  Grouping out;
  out.columns.emplace_back();
  for (std::size_t i = 0; i < defs.system.location_count(); ++i) out.columns[0].emplace_back(i);
  return out;
}

Cells fold_groups(const Cells& cells, const Grouping& grouping) {
  if (grouping.columns.empty()) return grouping.rows.empty() ? cells : fold_rows(cells, grouping.rows);
  if (grouping.rows.empty()) return fold_columns(cells, grouping.columns);
  return fold_columns(fold_rows(cells, grouping.rows), grouping.columns);
}

Result<Cells> compute_groups(const Profile& profile, MetricId id, const Flavour& flavour, const Grouping& grouping,
                             bool void_values) {
  const Definitions& defs = profile.defs();
  if (defs.metric(id).derived() && why_unavailable(profile, id).empty()) {
    bool off = false;
    if (!void_values) {
      FATHOM_TRY(off, expression::switched_off(profile, id));
    }
    if (!off) {
      auto cells = expression::evaluate_groups(profile, id, flavour, grouping);
      if (cells.ok()) return cells;
      return std::move(cells)
          .error()
          .with(fmt::format("metric '{}'", defs.metric(id).name))
          .where(Place::in(profile.name));
    }
  }
  const std::optional<IndexRange> range = one_range(grouping);
  const std::optional<IndexRange> singles_range = single_columns(grouping);
  Selection selection{
      flavour, {}, range.value_or(singles_range.value_or(all_locations(defs))), range.has_value(), void_values};
  // Rows that are single contexts need no table over all of them.
  const bool singles = !grouping.rows.empty() && std::all_of(grouping.rows.begin(), grouping.rows.end(),
                                                             [](const auto& g) { return g.size() == 1; });
  if (singles) {
    for (const auto& group : grouping.rows) selection.contexts.push_back(group[0]);
  }
  FATHOM_TRY(Cells cells, compute(profile, id, selection));
  Grouping rest;
  if (!singles) rest.rows = grouping.rows;
  if (!range && !singles_range) rest.columns = grouping.columns;
  return fold_groups(cells, rest);
}

Result<std::vector<Cells>> compute_groups(const Profile& profile, MetricId id,
                                          const std::vector<GroupRequest>& requests,
                                          const std::vector<LocationId>& column) {
  std::vector<Cells> out;
  const std::optional<IndexRange> range = one_range({{}, {column}});
  // A few contexts of many are better read by themselves.
  const std::size_t contexts = profile.defs().contexts.size();
  const bool few = std::all_of(requests.begin(), requests.end(), [&](const GroupRequest& request) {
    std::size_t named = 0;
    for (const auto& group : request.rows) named += group.size();
    return !request.rows.empty() && named < contexts / 4;
  });
  if (profile.defs().metric(id).derived() || !range || few) {
    for (const GroupRequest& request : requests) {
      FATHOM_TRY(out.emplace_back(), compute_groups(profile, id, request.flavour, {request.rows, {column}}));
    }
    return out;
  }
  std::vector<Flavour> flavours;
  const auto place_of = [&](const Flavour& flavour) {
    for (std::size_t i = 0; i < flavours.size(); ++i) {
      if (flavours[i].kind == flavour.kind && flavours[i].name == flavour.name) return i;
    }
    flavours.push_back(flavour);
    return flavours.size() - 1;
  };
  std::vector<std::size_t> places;
  for (const GroupRequest& request : requests) places.push_back(place_of(request.flavour));
  FATHOM_TRY(const std::vector<Cells> tables, compute_flavours(profile, id, flavours, {{}, {}, *range, true}));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    out.push_back(fold_groups(tables[places[i]], {requests[i].rows, {}}));
  }
  return out;
}

}  // namespace fathom
