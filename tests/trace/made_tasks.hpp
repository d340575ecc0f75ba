#pragma once

#include "made_trace.hpp"

namespace fathom::test {

// Two tasks that take turns on a thread: main [0, 1000) gives way to `first` [100, 500), which waits in [200, 400)
// while `second` runs [200, 300). First one calls `inner` from 150 on.
inline MadeTrace with_tasks() {
  MadeTrace trace(1);
  const std::uint32_t main = trace.region("main");
  const std::uint32_t first = trace.region("first");
  const std::uint32_t second = trace.region("second");
  const std::uint32_t inner = trace.region("inner");
  const std::uint32_t to = trace.marker("switch", MarkerMeaning::task_switch);
  const std::uint32_t end = trace.marker("end", MarkerMeaning::task_end);
  trace.add(EventKind::enter, 0, main);
  trace.add(EventKind::marker, 100, to).value = 1;
  trace.add(EventKind::enter, 100, first);
  trace.add(EventKind::enter, 150, inner);
  trace.add(EventKind::marker, 200, to).value = 2;
  trace.add(EventKind::enter, 200, second);
  trace.add(EventKind::leave, 300, second);
  trace.add(EventKind::marker, 300, end).value = 2;
  trace.add(EventKind::marker, 400, to).value = 1;
  trace.add(EventKind::leave, 450, inner);
  trace.add(EventKind::leave, 500, first);
  trace.add(EventKind::marker, 500, end).value = 1;
  trace.add(EventKind::leave, 1000, main);
  return trace;
}

}  // namespace fathom::test
