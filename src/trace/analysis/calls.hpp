// The calls of a run, as an analysis needs them: per location in order, with the ends of messages and the parts in
// collectives. Read once, in parallel; everything else works on this.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "io/large_array.hpp"
#include "trace/analysis/call_kinds.hpp"
#include "trace/analysis/compute_paths.hpp"
#include "trace/trace.hpp"

namespace fathom::analysis {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct CallPlace {
  std::uint32_t location = kNone;
  std::uint32_t call = kNone;
};

// What the reader needs of events, besides times and names of calls (all of it may be missing; see trace/event.hpp):
//   send, recv, complete, collective    as everywhere; collective: tag = counts of Alltoallv or Alltoallw that are zero
//   enter of a receive                  peer = kUnknownPeer: it takes a message from anybody
//   enter of a call that all members of a communicator make without an event of its own (making communicators and
//     windows, fences, files)           communicator; of a fence with tag 1: nothing was begun before, it does not wait
//   enter of Win_post, _start, _complete, _wait, _lock, _unlock
//                                       communicator of the window, tag = which one of its windows; origin = the group
//                                       of a post or start as an entry of Trace::communicators(), of a lock 1 =
//                                       exclusive, 0 = shared; peer = the target of a lock or unlock
//   leave of a probe                    peer, tag of what was found
//   where enter does not tell: marker lock, unlock in Win_lock, _unlock    communicator, peer, value
//     any marker in Win_post, _start, _complete, _wait          communicator, value = which window; origin = the group

// One call of the message-passing library; what lies between two of them is computation.
struct Call {
  static constexpr std::uint8_t kSends = 1;       // a message leaves in it
  static constexpr std::uint8_t kAnySource = 2;   // takes a message from whomever
  static constexpr std::uint8_t kUnfinished = 8;  // the trace ends in it
  static constexpr std::uint8_t kNoWait = 16;     // the program says that there is nothing to wait for

  std::int64_t entry = 0;
  std::int64_t exit = 0;
  std::uint32_t first_wait = 0;  // wait states of the location before this one
  std::uint16_t name = 0;        // in RunCalls::names
  CallKind kind = CallKind::other;
  std::uint8_t flags = 0;

  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

// Messages with one peer in one direction match in order: a location names what they have in common once.
struct Channel {
  std::int32_t peer = kNoPeer;  // rank
  std::uint32_t communicator = kNone;
  std::int32_t tag = 0;

  friend auto operator<=>(const Channel&, const Channel&) = default;
};

// What a location does in a channel.
struct ChannelUse {
  std::uint32_t first_send = kNone;  // number; Send::posting of each is the next one
  std::uint32_t last_send = kNone;
  bool in_order = true;                                            // receives are over as they were posted
  std::int64_t posted = std::numeric_limits<std::int64_t>::min();  // the last receive, and by which record
  std::uint64_t record = 0;
};

// The sender's end of a message. What is asked of the other end again and again is kept here too: ends lie far apart.
struct Send {
  static constexpr std::uint32_t kMostCalls = (1U << 29) - 1;

  std::int64_t bytes = 0;
  std::int64_t posted = 0;          // the receive; until it is matched: entry of the call that issues it
  std::uint32_t receiver = kNone;   // location of the matching end; until it is matched: LocationCalls::channels
  std::uint32_t completed = kNone;  // call there that completes the receive; none = it is not matched
  std::uint32_t posting = kNone;    // call there that posts it; none = another thread's; until then: ChannelUse
  std::uint32_t call : 29 = 0;      // that issues it
  SendMode mode : 2 = SendMode::standard;
  bool by_send_receive : 1 = false;

  [[nodiscard]] bool matched() const { return completed != kNone; }
};
static_assert(sizeof(Send) == 32);

// The receiver's end.
struct Receive {
  static constexpr std::int64_t kMostBytes = (1 << 28) - 1;

  std::int64_t posted = 0;
  std::int64_t sent = 0;          // entry of the call that issues the matching send
  std::int64_t sent_bytes = 0;    // until it is matched: the record that posted it
  std::uint32_t call = 0;         // that completes it
  std::uint32_t posting = kNone;  // that posts it; none = another thread's
  std::uint32_t channel = 0;      // LocationCalls::channels
  std::uint32_t sender = kNone;   // location of the matching end
  std::uint32_t issuing = kNone;  // call there that sends it
  std::uint32_t bytes : 28 = 0;   // that came; kMostBytes = or more
  SendMode mode : 2 = SendMode::standard;
  bool any_source : 1 = false;
  bool by_send_receive : 1 = false;  // what the sender issued it with

  [[nodiscard]] bool matched() const { return sender != kNone; }
};
static_assert(sizeof(Receive) == 48);

// A call that completes a send.
struct SendDone {
  std::uint32_t call = 0;
  std::uint32_t location = 0;  // where it was issued
  std::uint32_t send = 0;      // number there
};

// A location's part in a collective.
struct Part {
  std::uint32_t call = 0;
  std::uint32_t group = 0;     // RunCalls::groups
  std::uint32_t instance = 0;  // number of the collective in its group
  std::int32_t root = kNoPeer;
  std::int64_t bytes = 0;  // the larger of what is sent and received
};

// A call that looks for a message: what it found.
struct Probed {
  std::uint32_t call = 0;
  std::int32_t from = kNoPeer;
  std::int32_t tag = 0;
};

// A call that synchronises a window.
struct WindowCall {
  std::uint32_t call = 0;
  std::uint32_t communicator = kNone;
  std::int64_t window = 0;        // which one of those of the communicator
  std::uint32_t group = kNone;    // post, start: the others, as an entry of Trace::communicators()
  std::int32_t target = kNoPeer;  // lock, unlock: rank
  bool exclusive = true;
};

// What such a call waits for.
struct WindowNeed {
  enum class Kind : std::uint8_t {
    post,      // a target's post, entered
    complete,  // an origin's complete, entered
    unlock,    // another one's unlock, left
  };
  std::uint32_t call = 0;
  CallPlace partner;
  std::int64_t time = 0;  // when the partner enters or leaves it
  Kind kind = Kind::post;

  // A start that was over before the post did not wait for it: then the complete does. Clocks of different hosts agree
  // only so far, so that a long start may seem to end a little too early.
  [[nodiscard]] bool holds_up(const Call& waiting) const {
    constexpr std::int64_t kPart = 10;
    return waiting.kind != CallKind::window_start || time < waiting.exit + (waiting.exit - waiting.entry) / kPart;
  }
};

// A receive that another thread of the receiver posts than the one that completes it.
struct Posted {
  std::uint32_t process = 0;
  std::int64_t time = 0;

  friend auto operator<=>(const Posted&, const Posted&) = default;
};

struct CallName {
  std::string name;
  CallFacts facts;
};

// What a location does again and again.
struct Loop {
  std::uint32_t period = 0;  // calls of one turn; 0 = none found
  // The last collective of everybody in a turn, and the last call that completes something: one for each turn.
  std::vector<std::uint32_t> collective_anchors;
  std::vector<std::uint32_t> completion_anchors;
};

struct LocationCalls {
  LocationId id;
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::uint32_t domain = 0;  // whose clock it has
  bool cut = false;          // its end is missing
  LargeArray<Call> calls;
  static constexpr std::uint32_t kInsideStep = 32;
  std::vector<std::int64_t> inside;  // time in all calls before every kInsideStep-th one
  LargeArray<Channel> channels;
  std::vector<ChannelUse> channel_uses;  // until messages are matched
  LargeArray<Send> sends;
  LargeArray<Receive> receives;     // in the order of completion
  LargeArray<SendDone> sends_done;  // in the order of completion
  LargeArray<Part> parts;
  LargeArray<Probed> probed;
  LargeArray<PathTime> path_times;  // by call; paths are those of RunCalls::paths
  std::uint32_t first_path = 0;     // the one that is open where the first call begins
  std::vector<WindowCall> window_calls;
  std::vector<WindowNeed> window_needs;  // by call
  Loop loop;
  // Counted between calls, where readings were taken at every entry and exit.
  double instructions = 0;
  double cycles = 0;
  std::uint64_t counts = 0;                                     // of Alltoallv and Alltoallw
  std::uint64_t zero_counts = 0;                                // those that send nothing
  std::uint64_t untimed = 0;                                    // calls without a time, left out
  std::vector<std::pair<std::int64_t, std::uint32_t>> markers;  // time, name

  // The call that was entered at a moment, or kNone.
  [[nodiscard]] std::uint32_t entered_at(std::int64_t time) const;
  // The same, looked for from the last call on.
  [[nodiscard]] std::uint32_t entered_lately(std::int64_t time) const;
  // Time in all calls before one.
  [[nodiscard]] std::int64_t inside_before(std::uint32_t call) const;
  // Time in calls from one up to another that does not count.
  [[nodiscard]] std::int64_t inside_between(std::uint32_t begin, std::uint32_t end) const;
  // Sets `inside`.
  void sum_up();
};

// A communicator with the collectives of its members; the whole run for Init and Finalize.
struct Group {
  std::vector<std::uint32_t> members;         // processes, by rank in the communicator
  std::vector<std::vector<CallPlace>> calls;  // by member, then by instance
  std::size_t instances = 0;
  bool whole_run = false;

  // Position of a process among the members, or kNone.
  [[nodiscard]] std::uint32_t position(std::uint32_t process) const;
  // The call of a member in an instance; none = it is not in the trace.
  [[nodiscard]] CallPlace call(std::uint32_t member, std::uint32_t instance) const {
    return member < calls.size() && instance < calls[member].size() ? calls[member][instance] : CallPlace{};
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;  // process, position
};

struct RunCalls {
  explicit RunCalls(std::uint64_t memory) : pool(std::make_unique<ArrayPool>(memory)) {}

  std::unique_ptr<ArrayPool> pool;
  const Trace* trace = nullptr;
  std::vector<CallName> names;
  PathTable paths;                                    // of the program's own regions
  std::vector<LocationCalls> locations;               // those that have calls, by rank and then as in the trace
  std::vector<std::vector<std::uint32_t>> processes;  // locations of each, by rank
  std::vector<std::int32_t> ranks;                    // of the processes
  std::vector<std::string> domains;                   // hosts, or ranks where none is known
  std::vector<Group> groups;
  std::vector<std::int32_t> missing;  // ranks that communicators name and the trace does not have
  std::int64_t t0 = 0;
  std::int64_t t1 = 0;
  bool cut = false;  // t1 is where the first stream ends
  std::int64_t eager_limit = 1024;
  std::uint64_t messages = 0;
  bool matched = false;  // the ends of messages know each other
  // Where processes of a team keep what each has read: who has which process of the trace. Locations of others have no
  // calls here then. Empty = everything is here.
  std::vector<unsigned> owners;
  std::size_t present_elsewhere = 0;                  // locations that have calls
  std::vector<std::pair<Posted, CallPlace>> posters;  // calls elsewhere that post receives, by what they post

  [[nodiscard]] bool apart() const { return !owners.empty(); }
  [[nodiscard]] std::int64_t runtime() const { return t1 - t0; }
  [[nodiscard]] const Call& at(CallPlace place) const { return locations[place.location].calls[place.call]; }
  [[nodiscard]] std::string_view name_of(const Call& call) const { return names[call.name].name; }
  [[nodiscard]] std::string label(std::uint32_t location) const {
    return trace->definitions().system.location_label(locations[location].id);
  }
  // "main->solve"; of 0, outside of all regions: "compute", as in reduced profiles.
  [[nodiscard]] std::string path_name(std::uint32_t path) const;
  // Recorded up to t1.
  [[nodiscard]] bool counts(const Call& call) const { return call.exit <= t1 && !call.has(Call::kUnfinished); }
  [[nodiscard]] std::uint32_t process_of_rank(std::int32_t rank) const;
  // Whether the sender can wait for the receiver.
  [[nodiscard]] bool synchronises(SendMode mode, std::int64_t bytes) const {
    if (mode == SendMode::synchronous) return true;
    return mode != SendMode::buffered && bytes > eager_limit;
  }
  [[nodiscard]] bool synchronises(const Send& half) const { return synchronises(half.mode, half.bytes); }
  [[nodiscard]] bool synchronises(const Receive& half) const { return synchronises(half.mode, half.sent_bytes); }
  // The call that posted the receive of a matched message; with several threads it may be another one's.
  [[nodiscard]] CallPlace posting_call(const Send& half) const;
  // Locations that have calls.
  [[nodiscard]] std::size_t present() const;
};

// Who has the calls that the processes of a team have read.
enum class Kept : std::uint8_t {
  by_first,  // and the others leave (elsewhere())
  apart,     // everybody its own
};
// Reads all locations of a trace. Memory beyond the budget's share goes to files. Where calls are kept apart all
// processes of the team make the calls below together.
Result<RunCalls> read_calls(const Trace& trace, const Work& work, Kept kept = Kept::by_first);
// Finds the other end of every message, and the size up to which messages leave without their receiver.
Result<void> match_messages(RunCalls& run);
Result<void> find_eager_limit(RunCalls& run);
// Where calls are kept apart: which calls elsewhere post receives that other threads complete.
Result<void> find_posters(RunCalls& run);
// Whom calls on windows wait for.
Result<void> find_window_needs(RunCalls& run);
// First entry, last exit.
Result<void> set_time_base(RunCalls& run);

}  // namespace fathom::analysis
