// The processes that work on one command together. Every process runs the same command on the same input; where work
// can be split each takes its part (base/share_out.hpp) and the results come together in a fixed order. A team of one
// is the default, and all there is without MPI. Nothing is global: whoever starts
// work says so for the time it takes, as with threads (base/execution.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "base/result.hpp"
#include "base/work.hpp"

namespace fathom {

using Parcel = std::vector<std::byte>;  // what goes from one process to another

// This class is a team of one. Every process must make the same calls in the same order, from the thread that runs the
// command: inside of parallel loops everybody is a team of one. A process that fails on its way to a call ends the work
// of all: the others get its error from the call they are in.
class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  // Who takes part. Number 0, the first, is where results are and the one that speaks. Ask after assemble().
  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] bool first() const { return rank_ == 0; }
  [[nodiscard]] bool alone() const { return size_ == 1; }
  // Processes of the team on this machine: they share its cores and its memory.
  [[nodiscard]] unsigned on_this_machine() const { return on_this_machine_; }

  // Where a piece of work begins that is split. When the others have done their part and gone, the first goes on alone.
  virtual Result<void> assemble(std::string_view label);

  // What every process has, by rank; at the first process only (empty elsewhere), or everywhere.
  virtual Result<std::vector<Parcel>> gather(Parcel own);
  virtual Result<std::vector<Parcel>> gather_all(Parcel own);
  // What the first has, everywhere.
  virtual Result<Parcel> broadcast(Parcel of_first);
  // runs[i] goes to process i; what the others sent here, by rank.
  virtual Result<std::vector<Parcel>> exchange(std::vector<Parcel> runs);
  // One parcel after the other at the first process, its own first, then those of the second, ...: more than memory
  // holds. next(parcel) makes the next one of this process, false = there is none; take(parcel) is called at the first
  // and returns false when it has enough.
  virtual Result<void> relay(const std::function<Result<bool>(Parcel&)>& next,
                             const std::function<bool(const Parcel&)>& take);
  // Sums over all processes, everywhere; integers, so that no order matters.
  virtual Result<std::vector<std::int64_t>> sum(std::vector<std::int64_t> values);

  // Whose diagnostics all processes share; null = nobody's.
  [[nodiscard]] const Work& work() const { return work_; }
  void report_to(Work work) { work_ = std::move(work); }
  // The sink of the first process hears how far all are.
  virtual ProgressSink progress(ProgressSink own) { return own; }

  // What became of the command here: `error` null = all is well. Everybody hears the first error of any process; null =
  // there is none.
  virtual std::optional<Error> conclude(const Error* error);

  // Work that was split took this much here; for those who want to know how well it was dealt out.
  virtual void worked(double /*seconds*/, double /*cpu_seconds*/, std::uint64_t /*weight*/) {}

 protected:
  unsigned size_ = 1;
  unsigned rank_ = 0;
  unsigned on_this_machine_ = 1;
  Work work_;
};

// The team of this thread. Bodies of parallel loops are on their own.
Team& team();

// For its life time the team holds on this thread; null = a team of one.
class TeamScope {
 public:
  explicit TeamScope(Team* team);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  Team* before_;
};

// Not a failure: this process has done its part, the first one has the result. The rest of the work is cancelled here.
Error elsewhere();
bool is_elsewhere(const Error& error);
// For commands, behind the last thing that is split: only the first process goes on.
Result<void> first_goes_on();

// Team::relay() where making parcels is work: every process but the first makes some before it is asked, up to that
// many bytes, so that all work at the same time.
Result<void> relay_ahead(std::uint64_t bytes, const std::function<Result<bool>(Parcel&)>& next,
                         const std::function<bool(const Parcel&)>& take);

// Which process does which item, so that the weights (bytes) are spread evenly: the heaviest first, each to whoever has
// least so far. Everybody comes to the same answer.
std::vector<unsigned> deal(std::span<const std::uint64_t> weights, unsigned processes);

}  // namespace fathom
