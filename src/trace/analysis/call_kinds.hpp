// What the calls of a message-passing program are to an analysis, told from the names of their regions.
#pragma once

#include <cstdint>

#include "defs/region.hpp"

namespace fathom::analysis {

enum class CallKind : std::uint8_t {
  none,           // not a call of the message-passing library: counts as computation
  other,          // takes time, waits for nobody
  send,           // blocking
  begin_send,     // nonblocking
  receive,        // blocking
  begin_receive,  // nonblocking
  send_receive,
  start,  // of persistent requests
  wait_one,
  wait_all,
  wait_any,
  wait_some,
  test,  // also of several
  probe,
  barrier,
  n_to_n,
  one_to_n,
  n_to_one,
  scan,
  make_communicator,
  init,
  finalize,
  io,             // on a file, alone
  io_collective,  // on a file, together
  fence,
  make_window,
  window_post,
  window_start,
  window_complete,
  window_wait,
  window_lock,
  window_unlock,
};

// How a message is sent, which decides whether its sender can wait for the receiver.
enum class SendMode : std::uint8_t { standard, synchronous, buffered, ready };

struct CallFacts {
  CallKind kind = CallKind::none;
  SendMode mode = SendMode::standard;
  bool counts = false;  // Alltoallv and Alltoallw: another amount for each member
};

// Names in any case, with or without the P of the profiling interface and Fortran's underscores.
CallFacts call_facts(const Region& region);

// All members leave together, after the last one has come.
constexpr bool is_symmetric(CallKind kind) {
  return kind == CallKind::barrier || kind == CallKind::n_to_n || kind == CallKind::make_communicator ||
         kind == CallKind::finalize;
}
// Nobody goes on before the last one has come, though some may leave later than others.
constexpr bool keeps_together(CallKind kind) {
  return is_symmetric(kind) || kind == CallKind::fence || kind == CallKind::make_window ||
         kind == CallKind::io_collective;
}
// Made by all members of a communicator, in the same order.
constexpr bool is_collective(CallKind kind) {
  switch (kind) {
    case CallKind::barrier:
    case CallKind::n_to_n:
    case CallKind::one_to_n:
    case CallKind::n_to_one:
    case CallKind::scan:
    case CallKind::make_communicator:
    case CallKind::init:
    case CallKind::finalize:
    case CallKind::io_collective:
    case CallKind::fence:
    case CallKind::make_window:
      return true;
    default:
      return false;
  }
}
constexpr bool is_window_sync(CallKind kind) {
  return kind >= CallKind::window_post && kind <= CallKind::window_unlock;
}
constexpr bool is_io(CallKind kind) { return kind == CallKind::io || kind == CallKind::io_collective; }
constexpr bool is_point_to_point(CallKind kind) { return kind >= CallKind::send && kind <= CallKind::probe; }
// Ends when requests are over.
constexpr bool is_wait(CallKind kind) { return kind >= CallKind::wait_one && kind <= CallKind::wait_some; }

}  // namespace fathom::analysis
