// Pulling MPI calls out of DUMPI traces: for simulators and everything else that wants all arguments of all calls.
// Nothing is allocated per call: a Call is a view into the mapped file and valid until the next one is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::dumpi {

inline constexpr std::size_t kFunctions = 290;       // MPI calls: ids 0..289
inline constexpr std::uint16_t kAllFunctions = 290;  // slot of totals in the footer, never a record
inline constexpr std::uint16_t kFunctionEnter = 291;
inline constexpr std::uint16_t kFunctionExit = 292;
inline constexpr std::uint16_t kEndOfStream = 293;
inline constexpr std::size_t kIds = 293;  // ids that name a record or a slot
inline constexpr std::size_t kMaxArguments = 12;

// What an argument holds: decides its size on disk, how it is printed and what its value means.
enum class Type : std::uint8_t {
  i32,
  i64,
  dest,
  source,
  tag,
  comm,
  datatype,
  group,
  file,
  info,
  win,
  errhandler,
  keyval,
  request,
  iorequest,
  op,
  combiner,
  distribution,
  filemode,
  locktype,
  threadlevel,
  topology,
  typeclass,
  whence,
  winassert,
  comparison,
  ordering,
  str,
  status,
};

enum class Shape : std::uint8_t {
  scalar,
  array,          // i32 count, elements
  triples,        // i32 count of rows, each an array of 3
  string_by_arg,  // as many strings as another argument says, without a count of their own
  string_list,    // i32 count, strings
  open_list,      // the same; printed without separators
  list_of_lists,  // i32 count, each a string_list
};

// Bytes of one value on disk; 0 for strings and statuses.
constexpr std::uint8_t wire_size(Type type) {
  switch (type) {
    case Type::i64:
      return 8;
    case Type::i32:
    case Type::dest:
    case Type::source:
    case Type::tag:
    case Type::request:
    case Type::iorequest:
      return 4;
    case Type::comm:
    case Type::datatype:
    case Type::group:
    case Type::file:
    case Type::info:
    case Type::win:
    case Type::errhandler:
    case Type::keyval:
      return 2;
    case Type::str:
    case Type::status:
      return 0;
    default:
      return 1;
  }
}
// Enumerations are unsigned bytes, except these two.
constexpr bool wire_signed(Type type) {
  return wire_size(type) > 1 || type == Type::comparison || type == Type::ordering;
}

struct Argument {
  std::string_view name;
  Type type = Type::i32;
  Shape shape = Shape::scalar;
  std::int8_t length = -1;   // argument that holds the length of an array or string
  std::int8_t only_if = -1;  // present only when this argument ...
  std::int8_t equals = -1;   // ... equals that one: data of the root
  bool output = false;       // taken after the call
};

struct Function {
  std::uint16_t id = 0;
  std::string_view name;
  std::uint8_t argument_count = 0;
  std::array<Argument, kMaxArguments> argument{};
  std::array<std::uint8_t, kMaxArguments> text_order{};  // positions in the order of the text dump
  // Where all arguments have a fixed size: their offsets behind the head of the record, and the size of all.
  bool fixed = false;
  std::uint32_t fixed_size = 0;
  std::array<std::uint32_t, kMaxArguments> offset{};

  [[nodiscard]] std::span<const Argument> arguments() const { return {argument.data(), argument_count}; }
  // Position of an argument, or -1. Look positions up once, not per call.
  [[nodiscard]] constexpr int find(std::string_view argument_name) const {
    for (std::uint8_t i = 0; i < argument_count; ++i) {
      if (argument[i].name == argument_name) return i;
    }
    return -1;
  }
};

// All functions by id; nothing for ids that are none.
const Function* function(std::uint16_t id);
// "MPI_Send", "Function_enter"; case matters.
const Function* function(std::string_view name);
// The whole table by id, kIds entries.
std::span<const Function> functions();
// The id of a name at compile time or at start-up: id_of("MPI_Send").
std::uint16_t id_of(std::string_view name);

namespace detail {
template <class T>
inline T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  return value;
}
inline std::int64_t load_value(const std::byte* at, Type type) {
  switch (wire_size(type)) {
    case 8:
      return load<std::int64_t>(at);
    case 4:
      return load<std::int32_t>(at);
    case 2:
      return load<std::int16_t>(at);
    default:
      return wire_signed(type) ? static_cast<std::int64_t>(static_cast<std::int8_t>(*at))
                               : static_cast<std::int64_t>(*at);
  }
}
}  // namespace detail

struct Status {
  std::int32_t bytes = 0;
  std::int32_t source = 0;
  std::int32_t tag = -1;
  std::int8_t cancelled = 0;
  std::int8_t error = 0;
};

// Numbers in the file, byte order undone on access.
class Values {
 public:
  Values() = default;
  Values(const std::byte* at, std::uint32_t count, std::uint32_t stored, Type type)
      : at_(at), count_(count), stored_(stored), type_(type) {}
  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  std::int64_t operator[](std::size_t i) const {
    return i < stored_ ? detail::load_value(at_ + i * wire_size(type_), type_) : 0;
  }

 private:
  const std::byte* at_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t stored_ = 0;  // old versions kept only the first element of some arrays
  Type type_ = Type::i32;
};

class Statuses {
 public:
  Statuses() = default;
  Statuses(const std::byte* at, std::uint32_t count, std::uint32_t entry_size)
      : at_(at), count_(count), entry_size_(entry_size) {}
  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  Status operator[](std::size_t i) const {
    const std::byte* p = at_ + i * entry_size_;
    Status status;
    status.bytes = detail::load<std::int32_t>(p);
    status.source = detail::load<std::int32_t>(p + 4);
    status.cancelled = static_cast<std::int8_t>(p[8]);
    status.error = static_cast<std::int8_t>(p[9]);
    if (entry_size_ >= 14) status.tag = detail::load<std::int32_t>(p + 10);
    return status;
  }

 private:
  const std::byte* at_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t entry_size_ = 14;
};

// Strings one after another, each with its i32 length in front.
class Strings {
 public:
  Strings() = default;
  Strings(const std::byte* at, std::uint32_t count) : at_(at), count_(count) {}
  [[nodiscard]] std::uint32_t size() const { return count_; }
  class Iterator {
   public:
    explicit Iterator(const std::byte* at) : at_(at) {}
    std::string_view operator*() const {
      return {reinterpret_cast<const char*>(at_ + 4), detail::load<std::uint32_t>(at_)};
    }
    // To the next string.
    void advance() { at_ += 4 + detail::load<std::uint32_t>(at_); }
    [[nodiscard]] const std::byte* position() const { return at_; }

   private:
    const std::byte* at_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(at_); }

 private:
  const std::byte* at_ = nullptr;
  std::uint32_t count_ = 0;
};

// What changed over the versions of the format.
struct Rules {
  std::uint8_t status_size = 14;
  bool repeated_argc = false;    // before 0.6.2: MPI_Init has its argc twice
  bool narrow_requests = false;  // before 0.6.7: only the low 8 bits of request ids mean anything
  bool single_coords = false;    // before 0.6.8: MPI_Cart_get keeps one coordinate
  bool single_indices = false;   // before 0.6.9: MPI_Type_struct keeps one index
  static Rules of_version(std::array<std::uint8_t, 3> version);
};

// Bits of the mask.
inline constexpr std::uint8_t kMaskStatus = 0x03;
inline constexpr std::uint8_t kMaskCpu = 0x04;
inline constexpr std::uint8_t kMaskWall = 0x08;
inline constexpr std::uint8_t kMaskThread = 0x40;
inline constexpr std::uint8_t kMaskCounters = 0x80;

// Start and stop as stored: seconds relative to the stream's bias, modulo 65536.
struct Clock {
  std::uint16_t start_s = 0;
  std::uint16_t stop_s = 0;
  std::uint32_t start_ns = 0;
  std::uint32_t stop_ns = 0;
};

// One record of the stream.
class Call {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  std::uint16_t id = 0;
  std::uint8_t mask = 0;
  std::uint8_t counter_count = 0;
  std::uint16_t thread = 0;
  std::uint32_t size = 0;    // of the whole record in bytes
  std::uint64_t number = 0;  // of the record in its stream, from 0
  std::uint64_t offset = 0;  // of the record in its file
  Clock cpu, wall;
  // Absolute times in ns: bias added, rolling over undone; only with has_wall() or has_cpu(). Filled in by CallReader.
  std::int64_t wall_start_ns = 0, wall_stop_ns = 0;
  std::int64_t cpu_start_ns = 0, cpu_stop_ns = 0;

  [[nodiscard]] bool has_cpu() const { return (mask & kMaskCpu) != 0; }
  [[nodiscard]] bool has_wall() const { return (mask & kMaskWall) != 0; }
  [[nodiscard]] bool has_statuses() const { return (mask & kMaskStatus) != 0; }
  [[nodiscard]] const Function& function() const { return *function_; }
  [[nodiscard]] std::string_view name() const { return function_->name; }

  // Performance counter `i` at entry and exit.
  [[nodiscard]] std::int64_t counter_in(std::size_t i) const { return detail::load<std::int64_t>(counters_ + 16 * i); }
  [[nodiscard]] std::int64_t counter_out(std::size_t i) const {
    return detail::load<std::int64_t>(counters_ + 16 * i + 8);
  }

  // Arguments by position (Function::find). Asking an argument for another shape than it has is a programming error.
  [[nodiscard]] bool present(std::size_t i) const { return at(i) != kAbsent; }
  // A scalar; 0 when it is not there (data that only the root has).
  [[nodiscard]] std::int64_t integer(std::size_t i) const {
    const std::uint32_t where = at(i);
    if (where == kAbsent) return 0;
    return detail::load_value(arguments_ + where, function_->argument[i].type);
  }
  [[nodiscard]] Values values(std::size_t i) const {
    const std::uint32_t where = at(i);
    if (where == kAbsent) return {};
    const Type type = function_->argument[i].type;
    if (single_ == i) return {arguments_ + where, single_count(i), single_count(i) > 0 ? 1U : 0U, type};
    const auto count = detail::load<std::uint32_t>(arguments_ + where);
    return {arguments_ + where + 4, count, count, type};
  }
  [[nodiscard]] Statuses statuses(std::size_t i) const {
    const std::uint32_t where = at(i);
    if (where == kAbsent) return {};
    return {arguments_ + where + 4, detail::load<std::uint32_t>(arguments_ + where), status_size_};
  }
  [[nodiscard]] std::string_view string(std::size_t i) const {
    const std::uint32_t where = at(i);
    if (where == kAbsent) return {};
    return {reinterpret_cast<const char*>(arguments_ + where + 4), detail::load<std::uint32_t>(arguments_ + where)};
  }
  // string_list, open_list and string_by_arg.
  [[nodiscard]] Strings strings(std::size_t i) const {
    const std::uint32_t where = at(i);
    if (where == kAbsent) return {};
    const Argument& argument = function_->argument[i];
    if (argument.shape == Shape::string_by_arg) {
      const std::int64_t count = integer(static_cast<std::size_t>(argument.length));
      return {arguments_ + where, count > 0 ? static_cast<std::uint32_t>(count) : 0};
    }
    return {arguments_ + where + 4, detail::load<std::uint32_t>(arguments_ + where)};
  }
  // Raw bytes of an argument's place; triples and lists of lists are walked from here.
  [[nodiscard]] const std::byte* raw(std::size_t i) const { return present(i) ? arguments_ + at(i) : nullptr; }
  [[nodiscard]] const std::byte* raw_arguments() const { return arguments_; }

 private:
  friend class Decoder;
  [[nodiscard]] std::uint32_t at(std::size_t i) const { return function_->fixed ? function_->offset[i] : at_[i]; }
  // What the call says, but no more than the array in front of it has, which is stored as a whole and as long.
  [[nodiscard]] std::uint32_t single_count(std::size_t i) const {
    const std::int64_t count = integer(static_cast<std::size_t>(function_->argument[i].length));
    const std::uint32_t most = values(i - 1).size();
    return count < 0 ? 0 : count < most ? static_cast<std::uint32_t>(count) : most;
  }

  const Function* function_ = nullptr;
  const std::byte* arguments_ = nullptr;
  const std::byte* counters_ = nullptr;
  std::array<std::uint32_t, kMaxArguments> at_{};
  std::uint8_t status_size_ = 14;
  std::uint8_t single_ = 0xFF;  // argument of which an old file keeps one element
};

inline constexpr std::int32_t kNobody = -1;
inline constexpr std::int32_t kNotKnown = -2;

// Reads the calls of one rank one after another.
//
//   auto trace = fathom::dumpi::TraceSet::open("run.meta");
//   auto reader = trace.reader(0);
//   while (const fathom::dumpi::Call* call = reader.next()) { ... }
//   if (!reader.error().empty()) ...
class CallReader {
 public:
  CallReader();
  CallReader(CallReader&&) noexcept;
  CallReader& operator=(CallReader&&) noexcept;
  ~CallReader();

  // The next call, or null at the end; then error() says whether the stream ended early.
  const Call* next();
  // Empty when all is well; otherwise where and why the stream ends before its end mark.
  [[nodiscard]] const std::string& error() const;

  // What handles mean at the call that was read last, after TraceSet::resolve(); ids come back with other meanings, so
  // that the place matters.
  // Bytes of a datatype; 0 = not known.
  [[nodiscard]] std::int64_t size_of(std::int64_t datatype) const;
  // Rank of the run behind a rank of a communicator (of the other side of an inter-communicator); kNobody for negative
  // ranks, kNotKnown where the trace does not tell.
  [[nodiscard]] std::int32_t world_rank(std::int64_t communicator, std::int64_t rank) const;
  // Ranks of a communicator (of the own side); 0 = not known.
  [[nodiscard]] std::int32_t size_of_communicator(std::int64_t communicator) const;
  // One number for a communicator over all ranks; -1 = not known.
  [[nodiscard]] std::int32_t global_id(std::int64_t communicator) const;

 private:
  friend class TraceSet;
  struct State;
  std::unique_ptr<State> state_;
};

// The files of a run: opened from a metafile, one .bin file, or the directory that holds them.
class TraceSet {
 public:
  // On failure `error()` is not empty and there are no ranks.
  static TraceSet open(const std::string& path);
  TraceSet(TraceSet&&) noexcept;
  TraceSet& operator=(TraceSet&&) noexcept;
  ~TraceSet();

  [[nodiscard]] const std::string& error() const;
  // Ranks of the run, and whether the file of one was found.
  [[nodiscard]] std::size_t ranks() const;
  [[nodiscard]] bool has(std::size_t rank) const;
  [[nodiscard]] CallReader reader(std::size_t rank) const;
  // Bytes of a datatype id as the trace recorded it; 0 = not known.
  [[nodiscard]] std::int64_t datatype_size(std::size_t rank, std::int64_t datatype) const;
  [[nodiscard]] std::vector<std::string> counter_names(std::size_t rank) const;

  // Works out communicators and datatypes over all ranks, in one pass over the files; readers made afterwards know what
  // handles mean. False = it failed, error() says why.
  bool resolve();

 private:
  TraceSet();
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fathom::dumpi
