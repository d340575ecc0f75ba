// Perfetto traces as traces of the level.
#pragma once

#include "io/blob.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::perfetto {

class PerfettoTrace : public StoredTrace {
 public:
  static Result<std::shared_ptr<const PerfettoTrace>> read(const Blob& blob, const Work& work);

  // Adds categories and arguments of the native event.
  Result<void> detail(const Event& event, std::string& out) const override;

  [[nodiscard]] std::uint64_t packet_count() const { return packets_; }

  PerfettoTrace(const Blob& blob, const Work& work) : StoredTrace(work), blob_(blob) {}

 private:
  friend class PerfettoMapping;
  static constexpr std::uint64_t kStride = 64;
  Blob blob_;
  std::uint64_t packets_ = 0;
  std::vector<std::uint64_t> offsets_;  // of every 64th packet; none when packets are compressed
  bool compressed_ = false;
};

}  // namespace fathom::perfetto
