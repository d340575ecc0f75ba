#include "profile/export/void_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profile/absent.hpp"
#include "profile/compute.hpp"
#include "profile/expression/evaluate.hpp"

namespace fathom {

namespace {

constexpr std::uint32_t kBlock = 64;  // locations that are read at once

// Values as stored; what is derived stores none.
Result<std::uint64_t> values_that_count(const Profile& profile, MetricId id) {
  const Definitions& defs = profile.defs();
  if (defs.metric(id).derived() || defs.metric(id).scopes.empty() || !why_unavailable(profile, id).empty()) {
    return std::uint64_t{0};
  }
  std::uint64_t count = 0;
  const IndexRange all = all_locations(defs);
  for (std::uint32_t begin = all.begin; begin < all.end; begin += kBlock) {
    const Selection selection{.flavour = {},
                              .contexts = {},
                              .locations = {begin, std::min(all.end, begin + kBlock)},
                              .aggregate = false,
                              .void_values = true};
    FATHOM_TRY(const Cells cells, compute(profile, id, selection));
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (std::size_t column = 0; column < cells.columns(); ++column) {
        count += has_value(cells, row, column) && !cells.is_zero(row, column);
      }
    }
  }
  return count;
}

}  // namespace

Result<std::vector<MetricId>> without_void_metrics(const Profile& profile, const std::vector<MetricId>& metrics,
                                                   std::string_view written) {
  std::vector<MetricId> others;
  std::vector<std::string> names;
  std::uint64_t values = 0;
  for (const MetricId id : metrics) {
    FATHOM_TRY(const bool off, expression::switched_off(profile, id));
    if (!off) {
      others.push_back(id);
      continue;
    }
    FATHOM_TRY(const std::uint64_t count, values_that_count(profile, id));
    if (count == 0) continue;
    names.push_back(profile.defs().metric(id).name);
    values += count;
  }
  if (!names.empty()) {
    FATHOM_CHECK(profile.work->diagnostics.add(
        "convert.void_metric_left_out", Severity::data_loss, Place::in(profile.name),
        fmt::format("{} has no place for values of metrics that are declared void ({} left out: {}; {} values)",
                    written, names.size(), fmt::join(names, ", "), values),
        names.size()));
  }
  return others;
}

}  // namespace fathom
