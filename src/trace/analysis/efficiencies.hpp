// How well a run uses its machine, as factors that multiply (POP).
#pragma once

#include <optional>

#include "trace/analysis/replay.hpp"

namespace fathom::analysis {

struct Efficiencies {
  double parallel = 1;                  // = load_balance * communication
  double load_balance = 1;              // mean / highest useful time
  double communication = 1;             // highest useful time / runtime = serialisation * transfer
  std::optional<double> serialisation;  // what is lost to waiting even on an ideal network
  std::optional<double> transfer;       // what is lost to moving data
  std::int64_t runtime = 0;             // ns
  std::optional<std::int64_t> ideal_runtime;
  double useful_mean = 0;  // ns
  double useful_max = 0;
  // Of computation, over all locations; nothing = some have no such counter.
  std::optional<double> instructions;
  std::optional<double> cycles;
  std::string why_not;  // no serialisation and transfer; for people
};

// Time of a location outside of calls, between two moments of the run.
double useful_time(const RunCalls& run, std::uint32_t location, std::int64_t from, std::int64_t to);

// Of a piece of the run; without ideal times.
Efficiencies window_efficiencies(const RunCalls& run, std::int64_t from, std::int64_t to);
Efficiencies run_efficiencies(const RunCalls& run, const std::optional<ReplayResult>& ideal);

}  // namespace fathom::analysis
