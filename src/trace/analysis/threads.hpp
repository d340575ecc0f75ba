// How well the threads of a run are used: efficiencies for programs with threads, tasks and GPUs (docs/findings.md).
#pragma once

#include <optional>
#include <string>

#include "trace/trace.hpp"

namespace fathom::analysis {

// Times in ns, over all threads of a process unless said otherwise.
struct ProcessTimes {
  double threads = 0;   // that it may use at a time
  double useful = 0;    // in the program's own code; where tasks are recorded, in their bodies
  double inside = 0;    // of that, in parallel regions and tasks
  double parallel = 0;  // some thread is in a parallel region or task (once, not by thread)
  double mpi = 0;
  double barrier = 0;    // waiting at the end of a parallel region
  double runtime = 0;    // in the runtime system
  double gpu_calls = 0;  // in calls of a GPU's runtime
};

// Sums of inefficiencies are 1 - parallel; nothing = the trace does not tell, `why_not` says why.
struct ThreadEfficiencies {
  double runtime = 0;  // ns
  double threads = 0;
  // Parallel regions, tasks or samples say what threads are for; else any thread of a process is taken for one of a
  // team.
  bool teams_known = true;
  double parallel = 1;  // = process + thread - 1
  double process = 1;   // = process_load_balance + process_communication - 1
  double process_load_balance = 1;
  double process_communication = 1;
  double thread = 1;  // = serial_region + parallel_region - 1
  double serial_region = 1;
  double parallel_region = 1;
  // The same as factors: U / (U + mpi), and what is left of the threads' time.
  double mpi_parallel = 1;
  double omp_parallel = 1;        // = omp_load_balance * omp_scheduling * omp_serialisation
  double omp_load_balance = 1;    // waiting at the end of parallel regions
  double omp_scheduling = 1;      // in the runtime system
  double omp_serialisation = 1;   // no work at all
  std::optional<double> offload;  // CPU time outside of the GPU's runtime / CPU time
  std::optional<double> gpu_load_balance;
  std::optional<double> gpu_orchestration;  // highest time of kernels on a GPU stream / runtime
};

// By the formulas alone.
ThreadEfficiencies thread_efficiencies(const std::vector<ProcessTimes>& processes, double runtime);

// One pass over all events of all locations, in parallel over processes. An error where nothing can be told.
Result<ThreadEfficiencies> thread_efficiencies(const Trace& trace, const Work& work);

}  // namespace fathom::analysis
