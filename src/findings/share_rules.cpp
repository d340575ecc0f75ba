// Where the time of a profile goes: hot spots, and what is not computation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.hpp"
#include "findings/profile_rules.hpp"
#include "trace/analysis/call_kinds.hpp"

namespace fathom {

namespace {

constexpr double kHot = 0.10;
constexpr double kManyShare = 0.20;
constexpr double kTooManyShare = 0.40;

using analysis::CallKind;

struct Share {
  const char* kind;
  const char* activity;
  const char* takes;
  const char* advice;
};
enum : std::size_t { kMpi, kOpenMp, kIo, kGpu };
constexpr std::array<Share, 4> kShares = {{
    {"mpi_share", "mpi", "MPI takes",
     "A profile does not tell waiting from transfer: record a trace of a short run and ask for its report."},
    {"openmp_share", "openmp", "OpenMP itself (barriers, locks, making tasks) takes",
     "Look for barriers at the end of loops with uneven work, and for parallel regions that are very short."},
    {"io_share", "io", "Reading and writing files takes",
     "Write less often, in larger pieces, and with all ranks together (MPI-IO, HDF5 collective)."},
    {"gpu_share", "gpu", "Calls of the GPU's runtime (launching, copying, waiting for it) take",
     "Let processors compute while the GPU does: asynchronous copies, several streams, fewer synchronisations."},
}};

// cudaMemcpy, cuLaunchKernel, hipDeviceSynchronize, clFinish; kernels themselves are named by the program.
bool is_gpu_call(const Region& region) {
  for (const std::string_view prefix : {"cuda", "cu", "hip", "cl"}) {
    if (!region.name.starts_with(prefix) || region.name.size() <= prefix.size()) continue;
    if (std::isupper(static_cast<unsigned char>(region.name[prefix.size()])) == 0) continue;
    // Without a word of the file only what cannot be a function of the program.
    if (prefix == "cuda" || prefix == "hip") return true;
    const std::string paradigm = to_lower(region.paradigm);
    return paradigm == "cuda" || paradigm == "opencl" || region.module.find("libcuda") != std::string::npos;
  }
  return region.name.starts_with("acc_wait") || region.name.starts_with("acc_update");
}

std::optional<std::size_t> share_of(const Region& region, const std::string& group) {
  const CallKind kind = analysis::call_facts(region).kind;
  if (analysis::is_io(kind) || to_lower(region.paradigm) == "io" || to_lower(region.role) == "file_io") return kIo;
  if (group == "MPI" || kind != CallKind::none) return kMpi;
  if (group == "OMP" && is_openmp_runtime(region)) return kOpenMp;
  if (is_gpu_call(region)) return kGpu;
  return std::nullopt;
}

struct Sum {
  double all = 0;
  double synchronisation = 0;
  double collective = 0;
  double point_to_point = 0;
  std::string largest;
  double largest_value = 0;

  void add(const std::string& name, double value, CallKind kind) {
    all += value;
    if (kind == CallKind::barrier || kind == CallKind::init || kind == CallKind::finalize) {
      synchronisation += value;
    } else if (analysis::is_collective(kind)) {
      collective += value;
    } else if (analysis::is_point_to_point(kind)) {
      point_to_point += value;
    }
    if (value <= largest_value) return;
    largest_value = value;
    largest = name;
  }
};

// Calls of the system that wait.
bool sleeps(std::string_view name) {
  name = name.substr(0, name.find(' '));  // "poll [libc.so]"
  for (const std::string_view call : {"poll", "ppoll", "epoll_wait", "select", "nanosleep", "pthread_cond_wait",
                                      "pthread_cond_timedwait", "futex_wait", "sem_wait", "sched_yield"}) {
    if (name == call || (name.starts_with("__") && name.ends_with(call))) return true;
  }
  return false;
}

// Nothing that could be made faster: a thread's state of having nothing to do, and the span that a profiler (PyTorch's)
// says it recorded.
bool is_no_code(const Region& region) { return equal_ignoring_case(region.name, "idle") || region.paradigm == "Trace"; }

bool is_memory(const Metric& metric) { return metric.unit == "bytes" || metric.unit == "B"; }

}  // namespace

void find_hot_spots(ProfileRules& rules) {
  for (const std::size_t row : rules.flat.ranking(false)) {
    const double value = rules.flat.exclusive.scalar(row, 0);
    if (value < kHot * rules.total) break;
    const FlatProfile::Row& of = rules.flat.rows[row];
    if (!of.region.valid() || is_no_code(rules.defs.region(of.region))) continue;
    Finding& finding = rules.add("hot_spot", value);
    // A hot spot is not a loss: that it is uneven or waits is another finding.
    finding.level = FindingLevel::note;
    finding.where.region = of.name;
    finding.where.activity = rules.is_library(of.region) ? "mpi" : "compute";
    const Region& region = rules.defs.region(of.region);
    if (!region.file.empty()) finding.add_evidence("file", region.file);
    finding.add_evidence("share", value / rules.total);
    const bool uneven = std::find(rules.uneven.begin(), rules.uneven.end(), of.name) != rules.uneven.end();
    finding.text = fmt::format("{} itself takes {}{}.", shorten_name(of.name, 60), rules.lost_text(finding),
                               uneven ? ", and not the same everywhere" : "");
    finding.advice =
        rules.is_library(of.region) || is_gpu_call(region)
            ? "See which code calls it: fathom tree PATH --view bottomup."
        : sleeps(of.name)
            ? "Threads sleep here until something happens: see who calls it, fathom tree PATH --view bottomup."
        : is_memory(rules.defs.metric(rules.time)) ? "This is where needing less of it pays most."
                                                   : "This is where faster code pays most.";
  }
}

void find_shares(ProfileRules& rules) {
  std::array<Sum, kShares.size()> sums;
  for (std::size_t row = 0; row < rules.flat.rows.size(); ++row) {
    const FlatProfile::Row& of = rules.flat.rows[row];
    const double value = rules.flat.exclusive.scalar(row, 0);
    if (!of.region.valid() || !(value > 0)) continue;
    const Region& region = rules.defs.region(of.region);
    const auto which = share_of(region, rules.group_of[of.region.index()]);
    if (which) sums[*which].add(of.name, value, analysis::call_facts(region).kind);
  }
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const Sum& sum = sums[i];
    if (!(sum.all > 0)) continue;
    Finding& finding = rules.add(kShares[i].kind, sum.all);
    finding.level = finding.severity >= kTooManyShare ? FindingLevel::problem
                    : finding.severity >= kManyShare  ? FindingLevel::warning
                                                      : FindingLevel::note;
    finding.where.region = sum.largest;
    finding.where.activity = kShares[i].activity;
    finding.where.regions = {{sum.largest, sum.largest_value}};
    finding.text = fmt::format("{} {}, most of it in {}.", kShares[i].takes, rules.lost_text(finding),
                               shorten_name(sum.largest, 60));
    finding.advice = kShares[i].advice;
    if (i != kMpi) continue;
    if (rules.knows_waits) finding.advice = "The wait states that the file holds say how much of it is waiting.";
    finding.add_evidence("synchronisation_s", sum.synchronisation);
    finding.add_evidence("collective_s", sum.collective);
    finding.add_evidence("point_to_point_s", sum.point_to_point);
  }
}

}  // namespace fathom
