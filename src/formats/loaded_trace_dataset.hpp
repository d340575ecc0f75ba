// A dataset of one file whose trace is taken in as a whole on first use.
#pragma once

#include <memory>
#include <utility>

#include "formats/dataset.hpp"
#include "formats/same_bytes.hpp"
#include "io/blob.hpp"
#include "trace/trace.hpp"

namespace fathom {

// T is a Trace with `static Result<std::shared_ptr<const T>> read(const Blob&, const Work&)`.
template <class T>
class LoadedTraceDataset : public Dataset {
 public:
  LoadedTraceDataset(const Format& format, std::filesystem::path path, Work work, Blob blob)
      : Dataset(format, std::move(path), std::move(work)), blob_(std::move(blob)) {}

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::shared_ptr<const Trace>> trace() override {
    FATHOM_CHECK(load());
    return std::shared_ptr<const Trace>(trace_);
  }
  Result<void> check() override { return load(); }
  // It is read all the same, so that what is wrong with it is said.
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override {
    FATHOM_CHECK(load());
    return write_same_bytes(blob_, target, options);
  }

 protected:
  Result<void> load() {
    if (trace_) return {};
    FATHOM_TRY(trace_, T::read(blob_, work()));
    return {};
  }
  std::shared_ptr<const T> trace_;

 private:
  Blob blob_;
};

}  // namespace fathom
