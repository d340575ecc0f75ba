// How well runs use their machine: one run in numbers, several as the table that consultants make, and what falls
// first.
#pragma once

#include "base/table.hpp"
#include "findings/finding.hpp"
#include "formats/dataset.hpp"

namespace fathom {

// One run of an efficiency table.
struct RunEfficiency {
  std::string name;
  std::uint64_t locations = 0;
  EfficiencyNumbers numbers;
  double useful_s = 0;  // of all locations
};
template <class Pack>
void pack_fields(Pack& pack, RunEfficiency& run) {
  EfficiencyNumbers& n = run.numbers;
  pack(run.name, run.locations, run.useful_s, n.parallel, n.load_balance, n.communication, n.serialisation, n.transfer,
       n.runtime_s, n.ideal_runtime_s, n.useful_mean_s, n.useful_max_s, n.instructions, n.ipc, n.frequency_hz,
       n.why_not);
}

// Of a trace by its analysis; of a profile by the time in MPI of the first thread of each process, which tells load
// balance and communication, not the parts of the latter. A usage error where there is no MPI.
Result<RunEfficiency> run_efficiency(Dataset& dataset, const Work& work);
// How a run is called in tables: its file without the ending, its directory.
std::string run_name(const std::filesystem::path& path);
// Whether a path is one dataset and not a directory of several; nothing of it is read.
bool is_one_run(const std::filesystem::path& path, const Work& work);
// The runs that a directory holds, by number of locations; those that cannot be used are left out with a diagnostic.
Result<std::vector<RunEfficiency>> run_efficiencies(const std::filesystem::path& directory, const Work& work);

// Runs as rows, by number of locations; computation scalability relative to the first one, for a problem that stays
// the same (strong) or grows with the ranks (weak).
Table efficiency_table(std::vector<RunEfficiency> runs, bool weak);
// Whether all locations together do more work the more of them there are.
bool looks_weak(const std::vector<RunEfficiency>& runs);

// The factor that falls behind at the smallest scale, with its values at the first, that and the last scale.
struct FallingFactor {
  std::string name;  // "load_balance", ...
  std::uint64_t first_locations = 0;
  std::uint64_t locations = 0;
  std::uint64_t last_locations = 0;
  double first = 0;
  double then = 0;
  double last = 0;
};
// Nothing for runs of one scale, and where no factor falls. Repetitions count by their mean.
std::optional<FallingFactor> falls_first(const std::vector<RunEfficiency>& runs, bool weak);
// "From 4 to 64 locations load balance falls first: ..."
std::string falling_text(const FallingFactor& factor);

// Efficiencies over scale: the table and what falls first. Everything but path and format.
Report scaling_report(std::vector<RunEfficiency> runs);

}  // namespace fathom
