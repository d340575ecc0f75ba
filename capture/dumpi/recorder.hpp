// What every wrapped call does: count, take the times, write one record. The wrappers themselves are generated.
#pragma once

#include <pthread.h>
#include <time.h>

#include <type_traits>

#include "dumpi/counters.hpp"
#include "dumpi/handles.hpp"
#include "dumpi/settings.hpp"
#include "dumpi/stream.hpp"
#include "fathom_mpi.h"  // mpi.h with all its symbols weak; generated

namespace fathom::capture {

inline constexpr std::uint16_t kFunctionEnter = 291;
inline constexpr std::uint16_t kFunctionExit = 292;
inline constexpr std::uint16_t kEndOfStream = 293;

enum class Phase : std::uint8_t { before, running, over };

struct State {
  Phase phase = Phase::before;
  bool profiling = true;  // MPI_Pcontrol
  bool threads = false;   // several threads may call at once
  std::uint8_t mask = 0x4F;
  std::int32_t wall_bias = 0;
  std::int32_t cpu_bias = 0;
  std::int64_t next_flush_s = 0;
  std::size_t head_bytes = 0;
  int rank = 0;
  int size = 1;

  Settings settings;
  Stream stream;
  Stream added;  // calls that the format has no place for, where they are wanted
  HandleTable comms, datatypes, groups, ops, files, infos, wins, errhandlers, keyvals;
  RequestTable requests;
  Array<std::int32_t> datatype_sizes;
  std::uint32_t called[kFunctions + 1] = {};
  std::uint32_t ignored[kFunctions + 1] = {};
  std::uint16_t next_thread = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  char prefix[kTextLength] = {};
};
extern State g;

// What a thread keeps for itself. The arrays grow to the longest list of requests that it ever waited for.
struct Thread {
  bool inside = false;
  bool numbered = false;
  std::uint16_t number = 0;
  Array<std::int32_t> ids;
  Array<std::uint64_t> keys;
  Array<int> integers;
  Array<MPI_Status> statuses;
  Array<MPI_Fint> fortran_statuses;
};
extern thread_local Thread t __attribute__((tls_model("initial-exec")));
void number_this_thread();

class Lock {
 public:
  Lock() {
    if (g.threads) pthread_mutex_lock(&g.mutex);
  }
  ~Lock() {
    if (g.threads) pthread_mutex_unlock(&g.mutex);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

inline void count(std::uint32_t& slot) {
  if (g.threads) {
    __atomic_fetch_add(&slot, 1, __ATOMIC_RELAXED);
  } else {
    ++slot;
  }
}

// The writing of the trace is over because of an error: said once.
void stop_recording();

// Where the MPI library was loaded for a plugin alone (Python), our calls of it would not find it: makes it visible.
void find_library();

// MPI was started past our MPI_Init, by a program that wraps it itself. True: recording has begun now.
bool start_late();

// One call of the program, from entry to return.
class Call {
 public:
  explicit Call(std::uint16_t id) : id_(id) {
    if (g.phase != Phase::running && !(g.phase == Phase::before && start_late())) return;
    count(g.called[id]);
    if (!t.inside) {
      outermost_ = t.inside = true;
      recording_ = g.profiling && g.settings.function[id] != kDisable;
      if (recording_) return;
    }
    count(g.ignored[id]);
  }
  // An entry or exit of a function of the program: recorded whenever recording is on, counted nowhere.
  struct PseudoCall {};
  Call(std::uint16_t id, PseudoCall) : id_(id), recording_(true) {}
  ~Call() {
    if (outermost_) t.inside = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // A call of the program itself, whose effect on handles matters; recorded as well or not.
  [[nodiscard]] bool outermost() const { return outermost_; }
  [[nodiscard]] bool recording() const { return recording_; }

  void begin() {
    if (!recording_) return;
    if ((g.mask & 0x80) != 0) counters::read(counters_in_);
    if ((g.mask & 0x04) != 0) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_start_);
    if ((g.mask & 0x08) != 0) clock_gettime(CLOCK_MONOTONIC, &wall_start_);
  }
  void end() {
    if (!recording_) return;
    if ((g.mask & 0x08) != 0) clock_gettime(CLOCK_MONOTONIC, &wall_stop_);
    if ((g.mask & 0x04) != 0) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_stop_);
    if ((g.mask & 0x80) != 0) counters::read(counters_out_);
  }
  // Whether a call that returned `code` is wanted; counted as ignored otherwise.
  bool keep(int code) {
    if (recording_ && code != MPI_SUCCESS && g.settings.function[id_] == kSuccess) {
      count(g.ignored[id_]);
      recording_ = false;
    }
    return recording_;
  }

 private:
  friend class Record;
  friend struct Life;
  std::uint16_t id_;
  bool outermost_ = false;
  bool recording_ = false;
  // Not set where the settings do without them.
  timespec cpu_start_, cpu_stop_, wall_start_, wall_stop_;
  std::int64_t counters_in_[counters::kMost], counters_out_[counters::kMost];
};

template <class Handle>
inline std::uint64_t key(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uint64_t>(handle);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(handle));
  }
}

struct Text {
  const char* data = nullptr;
  std::size_t size = 0;
};
inline Text text(const char* data) { return data == nullptr ? Text{} : Text{data, std::strlen(data)}; }
// The text of a Fortran variable, without the blanks behind it.
Text fortran_text(const char* data, std::size_t length);

// Native values as those of the format (enums.cpp).
namespace native {
std::uint8_t comparison(int value);
std::uint8_t topology(int value);
std::uint8_t threadlevel(int value);
std::uint8_t locktype(int value);
std::uint8_t ordering(int value);
std::uint8_t distribution(int value);
std::uint8_t typeclass(int value);
std::uint8_t whence(int value);
std::uint8_t filemode(int value);
std::uint8_t winassert(int value);
std::uint8_t combiner(int value);
// A rank as source or destination: MPI_ANY_SOURCE and MPI_ROOT have values of the format. MPI_PROC_NULL has none and
// the libraries' own look like those two: -3 looks like nothing else.
inline std::int32_t rank(int value) {
  if (value >= 0) return value;
  if (value == MPI_ANY_SOURCE) return -1;
  if (value == MPI_ROOT) return -2;
  if (value == MPI_PROC_NULL) return -3;
  return value;
}
inline std::int32_t tag(int value) { return value == MPI_ANY_TAG ? -1 : value; }
}  // namespace native

// A datatype that was not seen before is asked for its size.
std::int32_t new_datatype(MPI_Datatype datatype, std::int32_t id);
inline std::int32_t datatype_number(MPI_Datatype handle, bool made) {
  const std::int32_t id = made ? g.datatypes.made(key(handle)) : g.datatypes.used(key(handle));
  return g.datatypes.was_new() ? new_datatype(handle, id) : id;
}

// One record. Holds the lock from its head to close().
class Record {
 public:
  // `bytes`: at least what the arguments need.
  Record(const Call& call, std::size_t bytes) { open(call, bytes); }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  explicit operator bool() const { return at_ != nullptr; }
  ~Record() {
    if (locked_) pthread_mutex_unlock(&g.mutex);
  }

  void i32(std::int64_t value) { at_ = put32(at_, static_cast<std::uint32_t>(value)); }
  void i64(std::int64_t value) { at_ = put64(at_, static_cast<std::uint64_t>(value)); }
  void i16(std::int32_t value) { at_ = put16(at_, static_cast<std::uint16_t>(value)); }
  void u8(std::uint8_t value) { at_ = put8(at_, value); }
  void dest(int value) { i32(native::rank(value)); }
  void source(int value) { i32(native::rank(value)); }
  void tag(int value) { i32(native::tag(value)); }
  void str(Text value) {
    i32(static_cast<std::int64_t>(value.size));
    __builtin_memcpy(at_, value.data == nullptr ? "" : value.data, value.size);
    at_ += value.size;
  }
  void strs(char* const* list);
  void status(const MPI_Status* statuses, int count, bool errors);

  // Numbers of handles that were used, and of those that the call returned.
  std::int32_t comm(MPI_Comm handle) { return g.comms.used(key(handle)); }
  std::int32_t group(MPI_Group handle) { return g.groups.used(key(handle)); }
  std::int32_t op(MPI_Op handle) { return g.ops.used(key(handle)); }
  std::int32_t file(MPI_File handle) { return g.files.used(key(handle)); }
  std::int32_t info(MPI_Info handle) { return g.infos.used(key(handle)); }
  std::int32_t win(MPI_Win handle) { return g.wins.used(key(handle)); }
  std::int32_t errhandler(MPI_Errhandler handle) { return g.errhandlers.used(key(handle)); }
  std::int32_t keyval(int handle) { return g.keyvals.used(key(handle)); }
  std::int32_t request(MPI_Request handle) { return g.requests.used(key(handle)); }
  std::int32_t datatype(MPI_Datatype handle) { return datatype_number(handle, false); }
  std::int32_t made_comm(MPI_Comm handle) { return g.comms.made(key(handle)); }
  std::int32_t made_group(MPI_Group handle) { return g.groups.made(key(handle)); }
  std::int32_t made_op(MPI_Op handle) { return g.ops.made(key(handle)); }
  std::int32_t made_file(MPI_File handle) { return g.files.made(key(handle)); }
  std::int32_t made_info(MPI_Info handle) { return g.infos.made(key(handle)); }
  std::int32_t made_win(MPI_Win handle) { return g.wins.made(key(handle)); }
  std::int32_t made_errhandler(MPI_Errhandler handle) { return g.errhandlers.made(key(handle)); }
  std::int32_t made_keyval(int handle) { return g.keyvals.made(key(handle)); }
  std::int32_t made_request(MPI_Request handle) { return g.requests.made(key(handle)); }
  std::int32_t made_datatype(MPI_Datatype handle) { return datatype_number(handle, true); }

  void close() {
    g.stream.commit(at_);
    if (stop_s_ >= g.next_flush_s) flush_now(stop_s_);
  }

 private:
  void open(const Call& call, std::size_t bytes) {
    if (g.threads) {
      pthread_mutex_lock(&g.mutex);
      locked_ = true;
    }
    if (!t.numbered) number_this_thread();
    at_ = g.stream.room(g.head_bytes + bytes);
    if (at_ == nullptr) {
      stop_recording();
      return;
    }
    const std::uint8_t mask = g.mask;
    at_ = put16(at_, call.id_);
    at_ = put8(at_, mask);
    at_ = put16(at_, t.number);
    if ((mask & 0x04) != 0) times(call.cpu_start_, call.cpu_stop_, g.cpu_bias);
    if ((mask & 0x08) != 0) {
      times(call.wall_start_, call.wall_stop_, g.wall_bias);
      stop_s_ = call.wall_stop_.tv_sec;
    }
    if ((mask & 0x80) != 0) {
      const unsigned n = counters::number();
      u8(static_cast<std::uint8_t>(n));
      for (unsigned i = 0; i < n; ++i) {
        i64(call.counters_in_[i]);
        i64(call.counters_out_[i]);
      }
    }
  }
  void times(const timespec& start, const timespec& stop, std::int32_t bias) {
    at_ = put16(at_, static_cast<std::uint16_t>(start.tv_sec - bias));
    at_ = put32(at_, static_cast<std::uint32_t>(start.tv_nsec));
    at_ = put16(at_, static_cast<std::uint16_t>(stop.tv_sec - bias));
    at_ = put32(at_, static_cast<std::uint32_t>(stop.tv_nsec));
  }
  void flush_now(std::int64_t now_s);

  unsigned char* at_ = nullptr;
  std::int64_t stop_s_ = 0;
  bool locked_ = false;
};

// A request, or a list of them, before a call that may end them. The numbers are in t.ids, the handles in t.keys.
void one_request_before(std::uint64_t handle);
bool requests_before(std::size_t count);
void request_after(std::size_t index, std::uint64_t handle);

// Room for statuses that the program does not want but the trace does. Nothing: there is no memory.
MPI_Status* own_statuses(std::size_t count);
MPI_Fint* own_fortran_statuses(std::size_t count);
// Fortran statuses as those of C, in place of own_statuses().
const MPI_Status* converted(const MPI_Fint* statuses, std::size_t count);
int* own_integers(std::size_t count);

// Answers that a record needs besides the arguments. All give 0 for what the library does not answer.
int rank_in(MPI_Comm comm);
// The rank as Gather and the like record it: equal to `root` where the arguments of the root mean something.
int rank_beside_root(MPI_Comm comm, int root);
// Entries of the lists of a collective: processes of the other side in an inter-communicator.
int members(MPI_Comm comm);
int cartesian_dimensions(MPI_Comm comm);
struct Envelope {
  int integers = 0, addresses = 0, datatypes = 0;
};
Envelope envelope(MPI_Datatype datatype);

// Calls that the format has no place for are counted under their name.
class Unrecorded {
 public:
  explicit Unrecorded(std::uint16_t which);
  ~Unrecorded() {
    if (!outermost_) return;
    t.inside = false;
    if (g.added.is_open()) write();
  }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  void write();

  std::uint16_t which_ = 0;
  bool outermost_ = false;
  timespec start_;
};
// The wrappers, to find out whether the program has some of its own in front of them.
struct Wrapped {
  const char* name;
  void* address;
};
extern const Wrapped kWrapped[];
extern const char* const kUnrecordedNames[];
extern const std::size_t kUnrecorded;
extern std::uint64_t unrecorded_counts[];

}  // namespace fathom::capture
