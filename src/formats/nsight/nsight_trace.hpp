// An Nsight Systems database as a trace: threads with their API calls, ranges and system calls, streams of GPUs with
// kernels and copies.
#pragma once

#include "formats/nsight/database.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::nsight {

class NsightTrace : public StoredTrace {
 public:
  static Result<std::shared_ptr<const Trace>> read(const Database& database, const Work& work);
  explicit NsightTrace(const Work& work) : StoredTrace(work) {}

 private:
  friend class TraceReader;
};

}  // namespace fathom::nsight
