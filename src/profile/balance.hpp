// Load balance: how the time of each region spreads over the processes, and what it costs that they are not equal.
#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "profile/compute.hpp"

namespace fathom {

// What is compared with each other.
enum class BalanceOver : std::uint8_t { processes, locations, nodes };

struct BalanceRow {
  RegionId region;
  double sum = 0;
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  // What all others could have done until the slowest was done: n * maximum - sum.
  double lost = 0;
  std::size_t slowest = 0;     // index into the members
  std::vector<double> values;  // per member, of the rows that are shown
};

struct Balance {
  std::vector<std::string> members;  // "rank 3", "3", "node17": in the order of the system tree
  double total = 0;                  // of all regions and members
  double lost = 0;                   // of all regions together
  std::vector<BalanceRow> rows;      // the costliest first
};

// Exclusive values by region. `most` rows are returned, 0 = all that have values. Memory for a block of members.
Result<Balance> load_balance(const Profile& profile, MetricId metric, BalanceOver over, std::size_t most);

// Columns region, minimum, mean, maximum, imbalance, lost, slowest.
Table balance_table(const Profile& profile, MetricId metric, const Balance& balance);

}  // namespace fathom
