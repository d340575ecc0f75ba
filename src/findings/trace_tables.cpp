#include "findings/trace_tables.hpp"

#include <algorithm>
#include <map>

#include "base/pack.hpp"
#include "findings/trace_report.hpp"

namespace fathom {

using namespace analysis;

namespace {
constexpr double kSecond = 1e-9;
}

namespace {

using WaitKey = std::array<std::uint32_t, 4>;  // kind, location, culprit, call; kNone = not told apart
struct WaitSum {
  std::int64_t ns = 0;
  std::uint64_t count = 0;
  std::int64_t longest = 0;

  void add(const WaitSum& more) {
    ns += more.ns;
    count += more.count;
    longest = std::max(longest, more.longest);
  }
};
using WaitSums = std::map<WaitKey, WaitSum>;

// Of those that every process of a team has found.
Result<void> join(WaitSums& sums) {
  FATHOM_TRY(const auto all, team().gather(packed(sums)));
  FATHOM_CHECK(first_goes_on());
  for (std::size_t i = 1; i < all.size(); ++i) {
    FATHOM_TRY(const auto others, unpacked<WaitSums>(all[i]));
    for (const auto& [key, sum] : others) sums[key].add(sum);
  }
  return {};
}

}  // namespace

Result<Table> wait_table(const Analysis& analysis, const WaitGrouping& by) {
  const RunCalls& run = analysis.run;
  WaitSums sums;
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    for (const Wait& wait : analysis.waits.locations[l].waits) {
      const WaitKey key = {by.kind ? static_cast<std::uint32_t>(wait.kind) : kNone, by.rank ? l : kNone,
                           by.culprit ? wait.culprit : kNone,
                           by.call ? std::uint32_t{run.locations[l].calls[wait.call].name} : kNone};
      sums[key].add({wait.length, 1, wait.length});
    }
  }
  if (run.apart()) FATHOM_CHECK(join(sums));
  std::vector<std::pair<WaitKey, WaitSum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  Schema schema{"waits", {}};
  if (by.kind) schema.columns.push_back({"kind", ColumnType::text});
  if (by.rank) schema.columns.push_back({"location", ColumnType::text});
  if (by.culprit) schema.columns.push_back({"culprit", ColumnType::text});
  if (by.call) schema.columns.push_back({"call", ColumnType::text});
  schema.columns.push_back({"count", ColumnType::uint64});
  schema.columns.push_back({"waited_s", ColumnType::float64, "s"});
  schema.columns.push_back({"longest_s", ColumnType::float64, "s"});
  schema.columns.push_back({"share", ColumnType::float64});
  TableBuilder table(std::move(schema));
  for (const auto& [key, sum] : rows) {
    std::vector<std::string> texts;
    if (by.kind) texts.emplace_back(to_string(static_cast<WaitKind>(key[0])));
    if (by.rank) texts.push_back(run.label(key[1]));
    if (by.culprit) texts.push_back(run.label(key[2]));
    if (by.call) texts.push_back(run.names[key[3]].name);
    std::vector<TableBuilder::Cell> cells;
    for (const std::string& text : texts) cells.emplace_back(std::string_view(text));
    cells.emplace_back(sum.count);
    cells.emplace_back(static_cast<double>(sum.ns) * kSecond);
    cells.emplace_back(static_cast<double>(sum.longest) * kSecond);
    cells.emplace_back(analysis.location_time() > 0 ? static_cast<double>(sum.ns) / analysis.location_time() : 0.0);
    table.add(cells);
  }
  return std::move(table).finish();
}

Table critical_path_table(const Analysis& analysis) {
  TableBuilder table(Schema{"critical_path",
                            {{"location", ColumnType::text},
                             {"activity", ColumnType::text},
                             {"time_s", ColumnType::float64, "s"},
                             {"share", ColumnType::float64},
                             {"imbalance_s", ColumnType::float64, "s"}}});
  for (const PathPart& part : critical_path_numbers(analysis)) {
    table.row(part.location, part.activity, part.s, part.share, part.imbalance_s);
  }
  return std::move(table).finish();
}

Table thread_table(const std::vector<RunThreads>& runs) {
  Schema schema{"thread_efficiency",
                {{"run", ColumnType::text}, {"threads", ColumnType::uint64}, {"runtime_s", ColumnType::float64, "s"}}};
  for (const char* name : {"parallel", "process", "process_load_balance", "process_communication", "thread",
                           "serial_region", "parallel_region", "mpi_parallel", "omp_parallel", "omp_load_balance",
                           "omp_scheduling", "omp_serialisation", "offload", "gpu_load_balance", "gpu_orchestration"}) {
    schema.columns.push_back({name, ColumnType::float64});
  }
  TableBuilder table(std::move(schema));
  for (const RunThreads& run : runs) {
    const ThreadEfficiencies& n = run.numbers;
    table.row(run.name, static_cast<std::uint64_t>(n.threads), n.runtime * kSecond, n.parallel, n.process,
              n.process_load_balance, n.process_communication, n.thread, n.serial_region, n.parallel_region,
              n.mpi_parallel, n.omp_parallel, n.omp_load_balance, n.omp_scheduling, n.omp_serialisation, n.offload,
              n.gpu_load_balance, n.gpu_orchestration);
  }
  return std::move(table).finish();
}

}  // namespace fathom
