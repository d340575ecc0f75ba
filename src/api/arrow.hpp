// Tables in the Arrow C data interface.
#pragma once

#include <memory>

#include "base/execution.hpp"
#include "base/table.hpp"
#include "fathom/arrow.h"

namespace fathom::api {

struct StreamSource {
  std::shared_ptr<const TableSource> source;
  std::shared_ptr<const void> owner;  // what the source must not outlive
  const Execution* execution;         // of the owner
  ScanRequest request;
  std::size_t begin = 0;  // parts
  std::size_t end = 0;
};

// Texts are dictionaries with 32-bit codes, sums of counters decimals of 38 digits; the columns of a batch are handed
// over as they lie in memory wherever the type of the schema is theirs.
void export_stream(StreamSource source, ArrowArrayStream* out);

}  // namespace fathom::api
