// Native access to ovni traces: every event of every stream as the bytes say, in place, without an allocation per
// event.
//
//   auto trace = fathom::api::ovni::Trace::open("ovni/");
//   auto reader = trace->reader(0);
//   while (const fathom::api::ovni::Event* event = reader.next()) { ... }
//   if (reader.left() > 0) ...  // the stream is cut off
//
// A reader keeps the trace alive; an event is valid until the next call of next(), its payload as long as the reader.
#pragma once

#include <fathom/export.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fathom/error.hpp>
#include <fathom/options.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace fathom::api::ovni {

struct Event {
  std::array<char, 3> mcv{};           // model, category, value: "OHx"
  bool jumbo = false;                  // the payload is data of any length
  std::uint64_t clock = 0;             // of the stream's node, offsets not applied
  std::uint64_t offset = 0;            // in the file
  std::uint64_t number = 0;            // in the stream, from 0
  std::span<const std::byte> payload;  // of a jumbo event without its size word, little-endian numbers

  // An argument at a byte offset of the payload; 0 where it is too short.
  template <class T>
  [[nodiscard]] T argument(std::size_t at) const {
    T value{};
    if (at + sizeof(T) <= payload.size()) std::memcpy(&value, payload.data() + at, sizeof(T));
    return value;
  }
};

struct StreamInfo {
  std::string path;  // relative to the trace
  std::string loom;
  std::optional<std::int64_t> pid, tid, rank;
};

// MT: externally synchronised; different readers are independent.
class FATHOM_API Reader {
 public:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();
  // The next whole event in file order, or null at the end.
  const Event* next();
  // Bytes behind the last whole event.
  [[nodiscard]] std::uint64_t left() const;

 private:
  std::unique_ptr<State> state_;
};

// MT: safe (const).
class FATHOM_API Trace {
 public:
  struct State;
  explicit Trace(std::shared_ptr<const State> state);
  Trace(const Trace&);
  Trace(Trace&&) noexcept;
  Trace& operator=(const Trace&);
  Trace& operator=(Trace&&) noexcept;
  ~Trace();
  // A trace directory of any version, a part of one, or the file of one stream.
  static Result<Trace> open(const std::string& path, const OpenOptions& options = {});

  [[nodiscard]] std::size_t streams() const;
  [[nodiscard]] StreamInfo stream(std::size_t position) const;
  [[nodiscard]] Reader reader(std::size_t stream) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace fathom::api::ovni
