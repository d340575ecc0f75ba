// A file of callgrind: functions with the costs of their own and the calls between them, over parts and threads.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::callgrind {

struct Function {
  std::string name;
  std::string file;
  std::string object;
};

struct Call {
  std::uint32_t from = 0;  // functions
  std::uint32_t to = 0;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> costs;  // by event
};

// What one thread of one process did, all parts together.
struct Thread {
  std::string pid;
  std::string number;                            // empty: the file knows no threads
  std::vector<std::vector<std::uint64_t>> self;  // by function, then event; may be shorter than either
  std::vector<Call> calls;
  std::unordered_map<std::uint64_t, std::uint32_t> call_index;
};

struct Event {
  std::string name;
  std::string title;    // "event: Ir : Instruction Fetch"
  std::string formula;  // "event: CEst = Ir + 10 Bm": computed, not stored
};

// MT: safe (const).
struct CallgrindFile {
  std::string version, creator, command;
  std::vector<std::string> descriptions;
  std::vector<Event> events;
  std::vector<Event> derived;
  std::vector<Function> functions;
  std::vector<Thread> threads;
  std::uint64_t parts = 0;
  std::uint64_t jumps = 0;
  std::vector<std::uint64_t> totals;  // as the file says at its end; empty = it does not
};

Result<std::shared_ptr<const CallgrindFile>> read(const Blob& blob, const Work& work);

}  // namespace fathom::callgrind
