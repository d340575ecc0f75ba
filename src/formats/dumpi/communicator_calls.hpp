// The calls that make groups, communicators, windows and files, reduced to the arguments that matter.
#pragma once

#include <vector>

#include "formats/dumpi/scan.hpp"

namespace fathom::dumpi {

struct CommunicatorCall {
  std::uint16_t id = 0;
  std::uint64_t number = 0;
  std::int64_t object = 0;  // communicator, group, window or file it works on
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t result = 0;
  std::vector<std::int64_t> list;
  // What the program was told later on about the communicator that was made; -1 = it did not ask.
  std::int64_t told_rank = -1;
  std::int64_t told_size = -1;
};

struct CommunicatorCalls {
  std::vector<CommunicatorCall> calls;  // in stream order
  std::int64_t world_size = -1;         // where the program asked for it
};

// MT: safe.
CommunicatorCalls communicator_calls(const File& file, const ScanResult& scan);

}  // namespace fathom::dumpi
