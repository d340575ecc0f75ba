// Samples of `perf script` as a trace: threads are locations, a sample says where one was found.
#pragma once

#include "io/blob.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::perf_script {

class SampleTrace : public StoredTrace {
 public:
  static Result<std::shared_ptr<const SampleTrace>> read(const Blob& blob, const Work& work);
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  explicit SampleTrace(const Work& work) : StoredTrace(work) {}

 private:
  friend class SampleReader;
  std::uint64_t samples_ = 0;
};

}  // namespace fathom::perf_script
