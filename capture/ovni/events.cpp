// The way of an event into the buffer: what is called millions of times.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ovni/runtime.hpp"

namespace fathom::ovni_runtime {

namespace {

constexpr std::size_t kHeader = sizeof(ovni_ev_header);

inline std::size_t size_of(const ovni_ev& event) {
  const unsigned code = event.header.flags & 0x0FU;
  if ((event.header.flags & OVNI_EV_JUMBO) != 0) return kHeader + 4 + event.payload.jumbo.size;
  return kHeader + (code == 0 ? 0 : code + 1);
}

// Events of the library itself: the buffer has just been written.
void put_flush(std::uint64_t before, std::uint64_t after) {
  ovni_ev event = {};
  ovni_ev_set_mcv(&event, "OF[");
  event.header.clock = before;
  std::memcpy(thread.buffer + thread.used, &event, kHeader);
  thread.used += kHeader;
  ovni_ev_set_mcv(&event, "OF]");
  event.header.clock = after;
  std::memcpy(thread.buffer + thread.used, &event, kHeader);
  thread.used += kHeader;
}

// The buffer is full: an event comes first, then the flush that was needed for it.
[[gnu::noinline, gnu::cold]] void emit_after_flush(const void* head, std::size_t head_size, const void* tail,
                                                   std::size_t tail_size) {
  const std::uint64_t before = ovni_clock_now();
  write_buffer();
  const std::uint64_t after = ovni_clock_now();
  std::memcpy(thread.buffer, head, head_size);
  if (tail_size > 0) std::memcpy(thread.buffer + head_size, tail, tail_size);
  thread.used = head_size + tail_size;
  put_flush(before, after);
}

[[gnu::noinline, gnu::cold, noreturn]] void not_ready(const char* function) {
  die("%s: the thread is not initialised", function);
}

void mark(const char* mcv, std::int32_t type, std::int64_t value) {
  if (value == 0) die("ovni_mark: the value 0 means nothing and cannot be used");
  ovni_ev event = {};
  ovni_ev_set_clock(&event, ovni_clock_now());
  ovni_ev_set_mcv(&event, mcv);
  ovni_payload_add(&event, reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
  ovni_payload_add(&event, reinterpret_cast<const std::uint8_t*>(&type), sizeof type);
  ovni_ev_emit(&event);
}

}  // namespace

void write_buffer() {
  write_bytes(thread.descriptor, thread.buffer, thread.used);
  thread.used = 0;
}

}  // namespace fathom::ovni_runtime

using namespace fathom::ovni_runtime;

#pragma GCC visibility push(default)
extern "C" {

void ovni_ev_set_mcv(struct ovni_ev* ev, const char* mcv) {
  // As one word, which ovni_ev_emit() loads as one.
  const unsigned char bytes[4] = {ev->header.flags, static_cast<unsigned char>(mcv[0]),
                                  static_cast<unsigned char>(mcv[1]), static_cast<unsigned char>(mcv[2])};
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, 4);
  std::memcpy(ev, &word, 4);
}
void ovni_ev_set_clock(struct ovni_ev* ev, uint64_t clock) { ev->header.clock = clock; }
uint64_t ovni_ev_get_clock(const struct ovni_ev* ev) { return ev->header.clock; }
int ovni_ev_size(const struct ovni_ev* ev) { return static_cast<int>(size_of(*ev)); }
int ovni_payload_size(const struct ovni_ev* ev) { return static_cast<int>(size_of(*ev) - kHeader); }

void ovni_payload_add(struct ovni_ev* ev, const uint8_t* buf, int size) {
  if ((ev->header.flags & OVNI_EV_JUMBO) != 0) die("ovni_payload_add: the event is a jumbo event");
  if (size < 2) die("ovni_payload_add: a payload of %d bytes: it has at least 2", size);
  const std::size_t now = size_of(*ev) - kHeader;
  if (now + static_cast<std::size_t>(size) > sizeof ev->payload) {
    die("ovni_payload_add: a payload of %zu bytes: it has at most %zu", now + static_cast<std::size_t>(size),
        sizeof ev->payload);
  }
  std::memcpy(ev->payload.u8 + now, buf, static_cast<std::size_t>(size));
  ev->header.flags =
      static_cast<std::uint8_t>((ev->header.flags & 0xF0U) | ((now + static_cast<std::size_t>(size) - 1) & 0x0FU));
}

void ovni_ev_emit(struct ovni_ev* ev) {
  Thread& mine = thread;
  const unsigned flags = ev->header.flags;
  // As most events are: without a payload.
  std::size_t size = kHeader;
  if (flags != 0) {
    if ((flags & OVNI_EV_JUMBO) != 0) [[unlikely]]
      die("ovni_ev_emit: use ovni_ev_jumbo_emit for jumbo events");
    size = size_of(*ev);
  }
  if (mine.used + size >= mine.limit) [[unlikely]] {
    if (!mine.ready) not_ready("ovni_ev_emit");
    emit_after_flush(ev, size, nullptr, 0);
    return;
  }
  // In the pieces in which it was just written: a processor waits for a load that spans several fresh stores.
  unsigned char* const to = mine.buffer + mine.used;
  std::uint32_t head = 0;
  std::uint64_t clock = 0;
  std::memcpy(&head, ev, 4);
  std::memcpy(&clock, reinterpret_cast<const unsigned char*>(ev) + 4, 8);
  std::memcpy(to, &head, 4);
  std::memcpy(to + 4, &clock, 8);
  // All of a payload, whatever its size: the buffer has room behind it.
  if (flags != 0) std::memcpy(to + kHeader, ev->payload.u8, sizeof ev->payload);
  mine.used += size;
}

void ovni_ev_jumbo_emit(struct ovni_ev* ev, const uint8_t* buf, uint32_t bufsize) {
  Thread& mine = thread;
  if (!mine.ready) not_ready("ovni_ev_jumbo_emit");
  if ((ev->header.flags & 0x0FU) != 0) die("ovni_ev_jumbo_emit: the event has a payload already");
  const std::size_t size = kHeader + 4 + bufsize;
  if (size >= kBuffer) die("ovni_ev_jumbo_emit: event too large: %u bytes", bufsize);
  ev->payload.jumbo.size = bufsize;
  ev->header.flags = OVNI_EV_JUMBO | 0x03;
  if (mine.used + size >= kBuffer) {
    emit_after_flush(ev, kHeader + 4, buf, bufsize);
    return;
  }
  std::memcpy(mine.buffer + mine.used, ev, kHeader + 4);
  std::memcpy(mine.buffer + mine.used + kHeader + 4, buf, bufsize);
  mine.used += size;
}

void ovni_flush(void) {
  if (!thread.ready) not_ready("ovni_flush");
  if (process.stage.load() != Stage::ready) die("ovni_flush: the process is not initialised");
  const std::uint64_t before = ovni_clock_now();
  write_buffer();
  put_flush(before, ovni_clock_now());
}

void ovni_mark_push(int32_t type, int64_t value) { mark("OM[", type, value); }
void ovni_mark_pop(int32_t type, int64_t value) { mark("OM]", type, value); }
void ovni_mark_set(int32_t type, int64_t value) { mark("OM=", type, value); }
}
#pragma GCC visibility pop
