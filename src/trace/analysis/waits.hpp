// Wait states: what calls wait for, for how long, and because of whom (see docs/findings.md).
#pragma once

#include <array>
#include <string_view>

#include "trace/analysis/instances.hpp"

namespace fathom::analysis {

enum class WaitKind : std::uint8_t {
  late_sender,
  late_receiver,
  wait_barrier,
  wait_nxn,
  wait_finalize,
  wait_init,
  late_broadcast,
  early_reduce,
  early_scan,
  wait_fence,
  late_post,
  early_wait,
  lock_contention,
  wait_io,
};
inline constexpr std::size_t kWaitKinds = 14;
std::string_view to_string(WaitKind kind);
constexpr bool is_point_to_point(WaitKind kind) {
  return kind == WaitKind::late_sender || kind == WaitKind::late_receiver;
}

enum class Activity : std::uint8_t { compute, mpi, io };
inline constexpr std::size_t kActivities = 3;
std::string_view to_string(Activity activity);

// One call that waited. A call has at most one wait state.
struct Wait {
  std::int64_t until = 0;   // when what it waited for happened
  std::int64_t length = 0;  // ns
  std::uint32_t call = 0;
  std::uint32_t culprit = 0;       // location
  std::uint32_t culprit_call = 0;  // whose entry ended it
  // Where victim and culprit last had something in common: the first call behind it, on either side.
  std::uint32_t own_begin = 0;
  std::uint32_t culprit_begin = 0;
  // The culprit's own wait states in between, to which it can be passed: from, to.
  std::uint32_t passed_begin = 0;
  std::uint32_t passed_end = 0;
  WaitKind kind = WaitKind::late_sender;
  bool wrong_order = false;  // a message that had come earlier was taken later
  // And the order matters: something was computed before the last of those was taken, which could have been done
  // while it waited.
  bool order_matters = false;
  // The culprit's side begins with the entry into culprit_begin, not behind the call before: that call sent the last
  // message and waited then, so that it lies behind what both had in common, and the computation before it does not.
  bool from_entry = false;
  // Shares of what it costs: delays of the culprit in each activity; the rest was passed to the culprit by its waits.
  std::array<double, kActivities> direct{};
  double cost = 0;  // ns: its own length and what later waits passed to it

  [[nodiscard]] double passed() const { return 1.0 - (direct[0] + direct[1] + direct[2]); }
};

// Of one location.
struct LocationWaits {
  LargeArray<Wait> waits;  // in the order of calls
  std::array<std::int64_t, kWaitKinds> ns{};
  std::array<std::uint64_t, kWaitKinds> count{};
  std::int64_t wrong_order_ns = 0;
  std::uint64_t wrong_order = 0;
  std::int64_t no_overlap_ns = 0;
  std::uint64_t no_overlap = 0;
  std::int64_t barrier_completion_ns = 0;
  std::int64_t nxn_completion_ns = 0;

  [[nodiscard]] std::int64_t total() const;
};

struct RunWaits {
  std::vector<LocationWaits> locations;          // as RunCalls::locations
  std::vector<std::int64_t> no_overlap_by_name;  // ns, as RunCalls::names
};

// What a barrier or a collective of all with all takes after everybody has come and the first one has left; 0 for
// others.
std::int64_t completion(const RunCalls& run, const std::vector<GroupInstances>& instances, const Call& call,
                        const Part& part);

// Finds all of them; fills Call::first_wait. Without causes: not where victims and culprits last had something in
// common, which only those know who have the calls of all.
Result<RunWaits> find_waits(RunCalls& run, const std::vector<GroupInstances>& instances, bool causes = true);

}  // namespace fathom::analysis
