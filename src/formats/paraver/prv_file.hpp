// A Paraver trace as its files say.
//   #Paraver (date):time[_unit]:nodes[(cpus,…)]:applications:tasks(threads:node,…)[,communicators][:tasks(…)…]
//   1:cpu:appl:task:thread:begin:end:state
//   2:cpu:appl:task:thread:time:type:value[:type:value…]
//   c:appl:communicator:tasks:task:…   (stands before the records)
//   3:cpu:appl:task:thread:logical send:physical send:cpu:appl:task:thread:logical recv:physical recv:size:tag
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"
#include "io/large_array.hpp"

namespace fathom::paraver {

struct PrvThread {
  std::uint32_t application = 0;  // all from 0
  std::uint32_t task = 0;         // over all applications
  std::uint32_t thread = 0;       // inside its task
};

// A record of a state is two of them.
struct PrvChange {
  std::int64_t time, state;
  std::uint32_t thread;
  bool begins;
};
struct PrvEvent {
  std::int64_t time, value;
  std::uint32_t type;  // in PrvFile::types
  std::uint32_t thread;
};
struct PrvMessage {
  std::int64_t sent, received, bytes, tag;  // sent: logical, received: physical
  std::uint32_t from, to;
};

struct PrvCommunicator {
  std::int64_t number = 0;
  std::vector<std::int32_t> tasks;  // from 0, over all applications
};

struct PrvFile {
  std::int64_t final_time = 0;  // in the file's unit
  std::int64_t unit_ns = 1000;  // nanoseconds per unit of time: microseconds unless the header says "_ns"
  std::vector<PrvThread> threads;
  std::uint32_t tasks = 0;
  std::unique_ptr<ArrayPool> pool;
  LargeArray<PrvChange> changes;
  LargeArray<PrvEvent> events;
  LargeArray<PrvMessage> messages;
  std::vector<std::int64_t> types;  // of events, in the order in which they are met
  std::vector<PrvCommunicator> communicators;

  // The last one that there is instead of what is later still: a time that large is damage anyway.
  [[nodiscard]] std::int64_t nanoseconds(std::int64_t time) const {
    std::int64_t made = 0;
    if (!__builtin_mul_overflow(time, unit_ns, &made)) return made;
    return time < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
};
Result<PrvFile> read_prv(const Blob& blob, const Work& work);

struct PcfNames {
  std::map<std::int64_t, std::string> types;
  std::map<std::int64_t, std::map<std::int64_t, std::string>> values;  // by type
  std::map<std::int64_t, std::string> states;
};
PcfNames read_pcf(const Blob& blob);
// Names of threads, in order.
std::vector<std::string> read_row(const Blob& blob);

}  // namespace fathom::paraver
