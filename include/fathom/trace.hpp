// Level 1: per location a stream of events in time order, pulled without an allocation per event.
#pragma once

#include <fathom/export.h>

#include <cstdint>
#include <fathom/error.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fathom::api {

enum class EventKind : std::uint8_t {
  enter,
  leave,
  sample,
  send,
  recv,
  collective,
  complete,
  state,
  counter,
  marker,
};

inline constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kNoRecord = std::numeric_limits<std::uint64_t>::max();

// What `name` counts depends on the kind; Trace::name() gives the text.
struct Event {
  std::int64_t time_ns = 0;          // on the trace's clock; meaningless without has_time
  std::uint64_t record = kNoRecord;  // number of the native record in the location's stream
  std::uint64_t origin = kNoRecord;  // record that began what is over now
  std::int64_t value = 0;            // counter (bits of a double where the metric is one), state
  std::int64_t bytes = 0;            // sent, received, moved
  std::uint32_t location = 0;        // position, see Trace::location()
  std::uint32_t name = kNoName;
  std::int32_t peer = -1;  // rank of the run; -1 = nobody, -2 = not known
  std::int32_t tag = 0;
  std::uint32_t communicator = kNoName;
  EventKind kind = EventKind::marker;
  bool has_time = true;
  bool has_value = true;
  bool carried = false;  // from before the window, still in effect where it begins
};

// From inclusive, to exclusive.
struct Window {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
};

// Events of one location. It keeps the trace alive. MT: externally synchronised; different readers are independent.
class FATHOM_API EventReader {
 public:
  struct State;
  explicit EventReader(std::unique_ptr<State> state);
  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;
  ~EventReader();
  // Fills the front of `out` and says how many; 0 = the end.
  Result<std::size_t> next(std::span<Event> out);

 private:
  std::unique_ptr<State> state_;
};

struct LocationInfo {
  std::string id;  // as the file uses it
  std::string name;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> thread;
};

// It keeps the dataset alive. MT: safe (const).
class FATHOM_API Trace {
 public:
  struct State;
  explicit Trace(std::shared_ptr<const State> state);
  Trace(const Trace&);
  Trace(Trace&&) noexcept;
  Trace& operator=(const Trace&);
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  [[nodiscard]] std::size_t location_count() const;
  [[nodiscard]] LocationInfo location(std::size_t position) const;
  // First and last time, where they are known without reading everything.
  [[nodiscard]] std::optional<Window> span() const;
  // What is in effect where the window begins comes first, marked as carried.
  [[nodiscard]] Result<EventReader> events(std::size_t location, Window window = {}) const;
  // Of the region, context, channel, metric or marker; lives as long as the trace.
  [[nodiscard]] std::string_view name(const Event& event) const;
  // key=value joined with ';': all that the native record holds.
  [[nodiscard]] Result<std::string> detail(const Event& event) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace fathom::api
