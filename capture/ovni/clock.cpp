// Nanoseconds of CLOCK_MONOTONIC. With FATHOM_OVNI_CLOCK=tsc they are computed from the processor's time stamp counter,
// where that runs at a constant rate: the line through the counter and the clock is drawn again every 50 ms, and bent
// rather than broken, so that time neither jumps nor goes back.
#include "ovni/clock.hpp"

#include <time.h>

#include <cstdlib>
#include <cstring>

#include "ovni/runtime.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace fathom::ovni_runtime {

namespace {

std::uint64_t system_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
// ns = base_ns + (ticks - base_ticks) * scale / 2^32, for `span` ticks from base_ticks on
struct Line {
  std::uint64_t base_ticks = 0;
  std::uint64_t base_ns = 0;
  std::uint64_t scale = 0;
  std::uint64_t span = 0;
};
// A new line begins where the old one is at that moment, and no thread uses a line beyond its span. So each thread
// keeps a copy and needs no look at what the others do until then.
std::atomic<std::uint32_t> sequence{0};  // odd while it changes
Line line;
thread_local Line mine __attribute__((tls_model("initial-exec")));
std::uint64_t first_ticks = 0;
std::uint64_t first_ns = 0;
bool use_ticks = false;

bool constant_rate() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

std::uint64_t on(const Line& at, std::uint64_t ticks) {
  if (ticks < at.base_ticks) return at.base_ns;  // another processor, a moment behind
  return at.base_ns +
         static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks - at.base_ticks) * at.scale) >> 32);
}

// Both at the same moment, as well as it can be had.
void sample(std::uint64_t& ticks, std::uint64_t& ns) {
  std::uint64_t best = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::uint64_t now = system_clock();
    const std::uint64_t after = __rdtsc();
    if (after - before >= best) continue;
    best = after - before;
    ticks = before + (after - before) / 2;
    ns = now;
  }
}

void draw_again() {
  std::uint32_t even = sequence.load(std::memory_order_relaxed);
  if ((even & 1) != 0 || !sequence.compare_exchange_strong(even, even + 1, std::memory_order_acquire)) return;
  std::uint64_t ticks = 0, ns = 0;
  sample(ticks, ns);
  const double rate = static_cast<double>(ns - first_ns) / static_cast<double>(ticks - first_ticks);
  const std::uint64_t shown = on(line, ticks);
  // What we are off by is made up for over the next stretch.
  const double stretch_ns = 50e6;
  const double off = static_cast<double>(static_cast<std::int64_t>(ns - shown));
  double corrected = rate * (1.0 + off / stretch_ns);
  if (corrected < 0.5 * rate) corrected = 0.5 * rate;
  if (corrected > 1.5 * rate) corrected = 1.5 * rate;
  line.base_ticks = ticks;
  line.base_ns = shown;
  line.scale = static_cast<std::uint64_t>(corrected * 4294967296.0);
  line.span = static_cast<std::uint64_t>(stretch_ns / rate);
  sequence.store(even + 2, std::memory_order_release);
}

// The line that all use now; drawn again when its time is over.
[[gnu::noinline, gnu::cold]] std::uint64_t tick_clock_of_all() {
  // Not for ever: a signal handler may have interrupted the very thread that draws.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::uint32_t before = sequence.load(std::memory_order_acquire);
    const Line copy = line;
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((before & 1) != 0 || sequence.load(std::memory_order_relaxed) != before) continue;
    const std::uint64_t ticks = __rdtsc();
    if (ticks >= copy.base_ticks && ticks - copy.base_ticks >= copy.span) {
      draw_again();
      continue;
    }
    mine = copy;
    return on(copy, ticks);
  }
  return system_clock();
}

inline std::uint64_t tick_clock() {
  const std::uint64_t ticks = __rdtsc();
  // Also of a counter that is behind the base: the difference is then huge.
  if (ticks - mine.base_ticks >= mine.span) [[unlikely]]
    return tick_clock_of_all();
  return mine.base_ns +
         static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks - mine.base_ticks) * mine.scale) >> 32);
}
#endif

}  // namespace

void start_clock() {
#if defined(__x86_64__)
  const char* wanted = std::getenv("FATHOM_OVNI_CLOCK");
  if (wanted == nullptr || std::strcmp(wanted, "tsc") != 0) return;
  if (!constant_rate()) {
    warn("the time stamp counter of this machine does not run at a constant rate: the system's clock is used");
    return;
  }
  sample(first_ticks, first_ns);
  // 10 ms give the rate to some parts in a million; it becomes better with every new line.
  std::uint64_t ticks = 0, ns = 0;
  do {
    sample(ticks, ns);
  } while (ns - first_ns < 10'000'000);
  const double rate = static_cast<double>(ns - first_ns) / static_cast<double>(ticks - first_ticks);
  line = {ticks, ns, static_cast<std::uint64_t>(rate * 4294967296.0), static_cast<std::uint64_t>(50e6 / rate)};
  use_ticks = true;
#endif
}

}  // namespace fathom::ovni_runtime

extern "C" __attribute__((visibility("default"))) uint64_t ovni_clock_now(void) {
#if defined(__x86_64__)
  if (fathom::ovni_runtime::use_ticks) return fathom::ovni_runtime::tick_clock();
#endif
  return fathom::ovni_runtime::system_clock();
}
