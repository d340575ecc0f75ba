#include "profile/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "profile/aggregate.hpp"
#include "profile/statistics.hpp"
#include "profile/views.hpp"

namespace fathom {

namespace {

constexpr std::uint64_t kBlockBytes = 64ULL << 20;

struct Member {
  std::string name;
  std::vector<LocationId> locations;
};

std::vector<Member> members_of(const SystemTree& system, BalanceOver over) {
  std::vector<Member> out;
  if (over == BalanceOver::locations) {
    for (std::size_t i = 0; i < system.location_count(); ++i) {
      out.push_back({system.location_label(LocationId(i)), {LocationId(i)}});
    }
    return out;
  }
  // Every location goes to the nearest node above it that is one.
  std::vector<std::size_t> member_of(system.nodes.size(), SIZE_MAX);
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    const SystemNode& node = system.nodes[i];
    const bool is_member = over == BalanceOver::processes
                               ? node.kind == SystemKind::group
                               : node.kind == SystemKind::node && equal_ignoring_case(node.type, "node");
    if (is_member) {
      member_of[i] = out.size();
      const bool ranked = over == BalanceOver::processes && node.rank;
      out.push_back({ranked ? "rank " + std::to_string(*node.rank) : node.name, {}});
    } else if (node.parent.valid()) {
      member_of[i] = member_of[node.parent.index()];
    }
    if (node.location.valid() && member_of[i] != SIZE_MAX) out[member_of[i]].locations.push_back(node.location);
  }
  std::erase_if(out, [](const Member& member) { return member.locations.empty(); });
  // A system without processes or nodes: its locations.
  return out.empty() ? members_of(system, BalanceOver::locations) : out;
}

// Loops and lines belong to their function, as exclusive values have them already.
std::vector<std::vector<ContextId>> contexts_by_region(const Definitions& defs) {
  std::vector<std::vector<ContextId>> out(defs.regions.size());
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const Context& context = defs.contexts[ContextId(i)];
    if (context.edge != Edge::lexical && context.region.valid()) out[context.region.index()].emplace_back(i);
  }
  return out;
}

// Values of all contexts, added up by region, for the members [begin, end): region after region.
Result<std::vector<double>> by_region(const Profile& profile, MetricId metric, const std::vector<Member>& members,
                                      std::size_t begin, std::size_t end) {
  const Definitions& defs = profile.defs();
  Grouping grouping;
  for (std::size_t i = begin; i < end; ++i) grouping.columns.push_back(members[i].locations);
  const std::size_t count = end - begin;
  std::vector<double> out(defs.regions.size() * count, 0);
  // Ratios do not add up: what is derived is worked out for all contexts of a region together.
  const bool derived = defs.metric(metric).derived();
  if (derived) grouping.rows = contexts_by_region(defs);
  FATHOM_TRY(const Cells cells, compute_groups(profile, metric, {Flavour::Kind::exclusive, {}}, grouping));
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    if (derived) {
      for (std::size_t i = 0; i < count; ++i) out[row * count + i] = cells.scalar(row, i);
      continue;
    }
    // Loops and lines belong to their function, as exclusive values have them already.
    const ContextId id(row);
    if (defs.contexts[id].edge == Edge::lexical) continue;
    const RegionId region = defs.contexts[id].region;
    if (!region.valid()) continue;
    for (std::size_t i = 0; i < count; ++i) out[region.index() * count + i] += cells.scalar(row, i);
  }
  return out;
}

}  // namespace

Result<Balance> load_balance(const Profile& profile, MetricId metric, BalanceOver over, std::size_t most) {
  const Definitions& defs = profile.defs();
  if (const Metric& info = defs.metric(metric); !info.type.is_plain_number()) {
    return Error::usage(fmt::format("values of '{}' are of the type {} and do not add up: they have no balance",
                                    info.name, info.type.text()))
        .hint("'fathom table --by process' shows them");
  }
  if (!adds_up(profile, metric)) {
    return Error::usage(fmt::format("values of '{}' are derived from others and do not add up: they have no balance",
                                    defs.metric(metric).name))
        .hint("'fathom table --by process' shows them");
  }
  const std::vector<Member> members = members_of(defs.system, over);
  Balance balance;
  for (const Member& member : members) balance.members.push_back(member.name);
  std::vector<BalanceRow> rows(defs.regions.size());
  std::vector<double> only;  // the values of the only block
  const std::size_t per_member = (defs.contexts.size() + defs.regions.size() + 1) * sizeof(Int128);
  const std::size_t block = std::max<std::size_t>(1, kBlockBytes / per_member);
  for (std::size_t begin = 0; begin < members.size(); begin += block) {
    const std::size_t end = std::min(members.size(), begin + block);
    FATHOM_TRY(auto values, by_region(profile, metric, members, begin, end));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      BalanceRow& row = rows[r];
      row.region = RegionId(r);
      for (std::size_t i = begin; i < end; ++i) {
        const double value = values[r * (end - begin) + (i - begin)];
        row.sum += value;
        if (i == 0 || value > row.maximum || (std::isnan(value) && !std::isnan(row.maximum))) {
          row.maximum = value;
          row.slowest = i;
        }
        row.minimum = i == 0 ? value : std::min(row.minimum, value);
      }
    }
    if (members.size() <= block) only = std::move(values);
  }
  const auto n = static_cast<double>(members.size());
  std::erase_if(rows, [](const BalanceRow& row) { return row.maximum == 0 && row.minimum == 0; });
  for (BalanceRow& row : rows) {
    row.mean = row.sum / n;
    row.lost = n * row.maximum - row.sum;
    // Where a member's value is no number neither is what it is compared with.
    if (std::isnan(row.sum)) row.minimum = row.maximum = row.lost = row.sum;
    if (row.lost < 0) row.lost = 0;
    balance.total += row.sum;
    balance.lost += row.lost;
  }
  const auto weight = [](const BalanceRow& row) { return std::isnan(row.lost) ? -1 : row.lost; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const BalanceRow& a, const BalanceRow& b) { return weight(a) > weight(b); });
  if (most > 0 && rows.size() > most) rows.resize(most);
  // The members' values of the rows that are left, in a second pass.
  for (BalanceRow& row : rows) row.values.resize(members.size());
  for (std::size_t begin = 0; begin < members.size(); begin += block) {
    const std::size_t end = std::min(members.size(), begin + block);
    std::vector<double> values = std::move(only);
    if (values.empty()) {
      FATHOM_TRY(values, by_region(profile, metric, members, begin, end));
    }
    for (BalanceRow& row : rows) {
      for (std::size_t i = begin; i < end; ++i) {
        row.values[i] = values[row.region.index() * (end - begin) + (i - begin)];
      }
    }
  }
  balance.rows = std::move(rows);
  return balance;
}

Table balance_table(const Profile& profile, MetricId metric, const Balance& balance) {
  const std::string& unit = profile.defs().metric(metric).unit;
  TableBuilder table({"balance",
                      {{"region", ColumnType::text},
                       {"minimum", ColumnType::float64, unit},
                       {"mean", ColumnType::float64, unit},
                       {"maximum", ColumnType::float64, unit},
                       {"imbalance", ColumnType::float64},
                       {"lost", ColumnType::float64, unit},
                       {"slowest", ColumnType::text}}});
  for (const BalanceRow& row : balance.rows) {
    table.row(profile.defs().region(row.region).name, row.minimum, row.mean, row.maximum,
              row.maximum == 0 ? 0 : (row.maximum - row.mean) / row.maximum, row.lost, balance.members[row.slowest]);
  }
  return std::move(table).finish();
}

}  // namespace fathom
