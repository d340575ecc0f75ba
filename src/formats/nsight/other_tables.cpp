#include "formats/nsight/other_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"

namespace fathom::nsight {

Result<void> note_other_tables(const Database& database, Diagnostics& diagnostics) {
  constexpr std::string_view kRead[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                        "CUPTI_ACTIVITY_KIND_MEMCPY",
                                        "CUPTI_ACTIVITY_KIND_MEMSET",
                                        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                        "CUPTI_ACTIVITY_KIND_RUNTIME",
                                        "OSRT_API",
                                        "CUBLAS_EVENTS",
                                        "CUDNN_EVENTS",
                                        "NVTX_EVENTS",
                                        "MPI_P2P_EVENTS",
                                        "MPI_START_WAIT_EVENTS",
                                        "MPI_OTHER_EVENTS",
                                        "MPI_COLLECTIVES_EVENTS",
                                        "SCHED_EVENTS",
                                        "COMPOSITE_EVENTS"};
  std::uint64_t sum = 0;
  std::string names;
  for (const std::string& table : database.tables()) {
    if (std::find(std::begin(kRead), std::end(kRead), table) != std::end(kRead)) continue;
    FATHOM_TRY(const auto columns, database.columns(table));
    if (std::find(columns.begin(), columns.end(), "start") == columns.end()) continue;
    std::uint64_t count = 0;
    FATHOM_CHECK(database.rows(table, {"start"}, [&](const Row&) -> Result<void> {
      ++count;
      return {};
    }));
    if (count == 0) continue;
    sum += count;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", table, grouped(count));
  }
  if (sum == 0) return {};
  return diagnostics.add("nsight.other_tables", Severity::info, Place::in(database.blob().name()),
                         "tables with rows that are not used: " + names, sum);
}

}  // namespace fathom::nsight
