// The beginning and the end of a recording.
#pragma once

#include <time.h>

namespace fathom::capture {

// The times of a call that began before there was a trace to write it to.
struct Moment {
  timespec cpu, wall;
  static Moment now();
};

// After MPI is there; by all processes together, or alone when MPI was started past us.
void start(const Moment& begin, bool together, int thread_level);
// What has to be said over all processes, while MPI still works.
void before_end();
// Writes the rest of the file. Nothing is recorded after it.
void finish();

}  // namespace fathom::capture
