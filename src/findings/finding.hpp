// What is wrong and why: a finding with its evidence, and the report that holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/table.hpp"
#include "trace/analysis/threads.hpp"

namespace fathom {

enum class FindingLevel : std::uint8_t { note, warning, problem };
std::string_view to_string(FindingLevel level);
// By the share of all time that is lost.
FindingLevel level_of(double severity);

// A location with its part in something.
struct LocationShare {
  std::int32_t rank = -1;
  std::string location;
  double s = 0;
  double share = 0;
};

// The largest ones, and how many more there are.
struct LocationShares {
  static constexpr std::size_t kMost = 16;
  std::vector<LocationShare> list;
  std::size_t more = 0;
};

struct NamedSeconds {
  std::string name;
  double s = 0;
};

using EvidenceValue = std::variant<double, std::uint64_t, std::string, std::vector<NamedSeconds>>;

struct Finding {
  std::string kind;
  FindingLevel level = FindingLevel::note;
  double severity = 0;  // share of all time
  double lost_s = 0;
  std::optional<std::string> unit;  // of what is lost, where it is no time: what is called seconds counts that then
  LocationShares culprits;
  LocationShares victims;
  struct Where {
    std::string region;
    std::vector<NamedSeconds> regions;
    std::string activity;
    std::string before;                   // the call that follows the computation in question
    std::string callpath;                 // where it is known
    std::vector<NamedSeconds> callpaths;  // of the computation in question, the largest first
    std::size_t callpaths_more = 0;
    std::optional<double> from_s;
    std::optional<double> to_s;
    std::vector<std::uint64_t> iterations;
  } where;
  std::vector<std::pair<std::string, EvidenceValue>> evidence;
  std::string text;
  std::string advice;

  void add_evidence(std::string name, EvidenceValue value) { evidence.emplace_back(std::move(name), std::move(value)); }
};

struct EfficiencyNumbers {
  double parallel = 1;
  double load_balance = 1;
  double communication = 1;
  std::optional<double> serialisation;
  std::optional<double> transfer;
  double runtime_s = 0;
  std::optional<double> ideal_runtime_s;
  double useful_mean_s = 0;
  double useful_max_s = 0;
  // From counters of computation; nothing = the trace has none.
  std::optional<double> instructions;
  std::optional<double> ipc;
  std::optional<double> frequency_hz;
  std::string why_not;  // no serialisation and transfer
};

struct PathPart {
  std::int32_t rank = -1;
  std::string location;
  std::string activity;
  double s = 0;
  double share = 0;
  double imbalance_s = 0;
};

struct WaitState {
  std::string kind;
  double s = 0;
  std::uint64_t count = 0;
  double share = 0;
  LocationShares victims;
  LocationShares culprits;
  std::vector<NamedSeconds> regions;
};

struct DelayCost {
  std::int32_t rank = -1;
  std::string location;
  std::string activity;
  double short_s = 0;
  double long_s = 0;
  struct OfPath {
    std::string name;
    double short_s = 0;
    double long_s = 0;
  };
  std::vector<OfPath> callpaths;  // the largest first; empty where no regions are known
  std::size_t callpaths_more = 0;
};

struct PhaseNumbers {
  std::string name;
  double from_s = 0;
  double to_s = 0;
  double median_s = 0;
  double parallel = 1;
  double load_balance = 1;
};

struct IterationNumbers {
  std::uint64_t count = 0;
  double median_s = 0;
  std::vector<std::uint64_t> slow;
  std::vector<PhaseNumbers> phases;
};

struct PatternNumbers {
  std::string name;
  std::vector<std::int64_t> offsets;
  std::uint64_t messages = 0;
  double mean_bytes = 0;
};

// What `fathom report` says of one dataset. Parts that do not apply are absent.
struct Report {
  std::string path;
  std::string format;
  std::uint64_t locations = 0;
  std::optional<double> runtime_s;
  std::optional<double> location_time_s;
  // Of a profile without time: what location_time_s and the findings with a unit count.
  struct Counted {
    std::string metric, unit;
  };
  std::optional<Counted> counted;
  std::vector<Finding> findings;  // by falling severity, then by kind
  std::optional<EfficiencyNumbers> efficiencies;
  std::optional<std::vector<PathPart>> critical_path;
  std::optional<std::vector<WaitState>> wait_states;
  std::optional<std::vector<DelayCost>> delay_costs;
  std::optional<IterationNumbers> iterations;
  std::optional<PatternNumbers> pattern;
  std::optional<analysis::ThreadEfficiencies> threads;
  // Of a directory of runs: efficiencies over scale (run_efficiency.hpp).
  std::optional<Table> runs;
  bool runs_weak = false;    // computation is compared for a problem that grows with the ranks
  std::string why_no_waits;  // of a trace: there are no wait states, no critical path and no efficiencies of ranks

  // Leaves out what is too small to tell, puts the rest in order.
  void finish();
  // For rules that count in the unit of a metric: makes it seconds, or says what is counted.
  void count_in(std::string_view metric, std::string_view unit);
};

// "rank 7", "ranks 0, 4, 8 and 12", "ranks 3, 5, 6 and 9 others"
std::string ranks_text(const LocationShares& locations);

}  // namespace fathom
