#include "findings/kinds.hpp"

#include <array>

namespace fathom {

namespace {

constexpr FindingKind kKinds[] = {
    {"load_imbalance", FoundIn::trace, "some ranks compute more than others, in sum"},
    {"alternating_imbalance", FoundIn::trace, "in each step another rank is late; sums are even"},
    {"late_sender", FoundIn::trace, "messages are sent too late"},
    {"late_receiver", FoundIn::trace, "receives of large messages are posted too late"},
    {"wrong_order", FoundIn::trace, "messages are taken in a fixed order while others are there"},
    {"serialisation", FoundIn::trace, "ranks work one after the other along a chain of messages"},
    {"master_worker", FoundIn::trace, "everybody waits for one rank that serves all"},
    {"io_serialisation", FoundIn::trace, "others wait while few read or write files"},
    {"wait_io", FoundIn::trace, "ranks wait for each other in collective file operations"},
    {"early_reduce", FoundIn::trace, "the root of a reduction or gathering comes too early"},
    {"late_broadcast", FoundIn::trace, "the root of a broadcast or scattering comes too late"},
    {"early_scan", FoundIn::trace, "ranks of a scan wait for those before them"},
    {"wait_fence", FoundIn::trace, "ranks wait for each other at fences of windows"},
    {"late_post", FoundIn::trace, "targets of one-sided transfers open their windows too late"},
    {"early_wait", FoundIn::trace, "targets wait for origins to complete one-sided transfers"},
    {"lock_contention", FoundIn::trace, "ranks wait for the lock of a window"},
    {"slow_iteration", FoundIn::trace, "few steps take much longer than the others"},
    {"tiny_messages", FoundIn::trace, "most messages are tiny, and the calls for them take long"},
    {"no_overlap", FoundIn::trace, "large transfers run only inside of the waiting call"},
    {"sparse_alltoall", FoundIn::trace, "most parts of an exchange of all with all are empty"},
    {"communication", FoundIn::trace, "moving data takes more than a tenth of all time"},
    {"serial_section", FoundIn::threads, "threads have nothing to do while one works alone"},
    {"idle_threads", FoundIn::threads, "threads do not work inside of parallel regions and tasks"},
    {"gpu_idle", FoundIn::threads, "a GPU has nothing to do"},
    {"imbalance", FoundIn::profile, "locations spend different times in a call path"},
    {"hot_spot", FoundIn::profile, "a function takes much of the time; no loss in itself"},
    {"mpi_share", FoundIn::profile, "time in MPI"},
    {"openmp_share", FoundIn::profile, "time in the OpenMP runtime"},
    {"io_share", FoundIn::profile, "time in file operations"},
    {"gpu_share", FoundIn::profile, "time of processors in the GPU's runtime"},
    {"measurement_overhead", FoundIn::profile, "functions so short and frequent that measuring them takes the time"},
    {"wait_barrier", FoundIn::profile, "stored in the file: waiting at barriers"},
    {"wait_nxn", FoundIn::profile, "stored in the file: waiting in collectives of all with all"},
    {"wait_init", FoundIn::profile, "stored in the file: waiting in MPI_Init"},
    {"wait_finalize", FoundIn::profile, "stored in the file: waiting in MPI_Finalize"},
    {"scaling_bug", FoundIn::experiment, "a call path grows faster than expected and will matter at the target scale"},
    {"scaling_loss", FoundIn::runs, "a factor of the efficiency falls with the number of ranks"},
    {"regression", FoundIn::pair, "a region became slower, beyond the noise"},
    {"improvement", FoundIn::pair, "a region became faster"},
};

std::string_view to_string(FoundIn in) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "trace", "threads of a trace or profile", "profile", "experiment", "directory of runs", "two datasets"};
  return kNames[static_cast<std::size_t>(in)];
}

}  // namespace

std::span<const FindingKind> finding_kinds() { return kKinds; }

Table finding_kind_table() {
  TableBuilder table(
      {"kinds", {{"kind", ColumnType::text}, {"found_in", ColumnType::text}, {"what_happens", ColumnType::text}}});
  for (const FindingKind& kind : kKinds) table.row(kind.name, to_string(kind.in), kind.what);
  return std::move(table).finish();
}

}  // namespace fathom
