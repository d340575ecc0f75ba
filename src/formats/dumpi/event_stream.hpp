// Turns the records of one (rank, thread) into events.
#pragma once

#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/requests.hpp"
#include "trace/window_index.hpp"

namespace fathom::dumpi {

class DumpiStream final : public CopyableStream, private RequestListener {
 public:
  DumpiStream(const DumpiTrace& trace, const File& file, const ScanResult& scan, LocationId location);
  Result<std::size_t> next(std::span<Event> out) override;
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<DumpiStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override;

 private:
  void begun(const Call& call, const Pending& pending) override;
  void completed(const Call& call, const Pending& pending, const Status* status) override;

  bool next_chunk();
  void read_record();
  void events_of(const Call& call);
  void user_function(const Call& call);
  void counters(const Call& call, bool at_exit);
  void send_event(const Call& call, const CommunicatorView& comm, std::int64_t dest, std::int64_t tag,
                  std::int64_t bytes, std::uint64_t origin);
  void recv_event(const Call& call, const CommunicatorView& comm, std::int64_t source, std::int64_t tag,
                  std::int64_t bytes, std::uint64_t origin, std::int64_t posted_ns, const Status* status);
  void collective_event(const Call& call);
  [[nodiscard]] std::int64_t entered(const Call& call) const {
    return use_cpu_ ? call.cpu_start_ns : call.wall_start_ns;
  }
  // Nothing of what the call does is to be shown.
  [[nodiscard]] bool silent(const Call& call) const { return call.thread != where_.thread; }
  Event base(const Call& call, EventKind kind, bool at_exit) const;
  void push(const Event& event);
  void put_in_order();
  void release(bool all);

  const DumpiTrace& trace_;
  const File& file_;
  const ScanResult& scan_;
  LocationId location_;
  DumpiTrace::Where where_;
  Tables tables_;
  Requests requests_;
  std::size_t chunk_ = 0;
  const std::byte* at_ = nullptr;
  const std::byte* chunk_end_ = nullptr;
  std::uint64_t number_ = 0;
  Rollover rollover_;
  Call call_;
  bool use_cpu_ = false;  // the only clock
  // Events wait here until nothing earlier can come any more.
  std::vector<Event> waiting_;
  std::size_t ready_ = 0;  // events at the front of waiting_ that can go
  std::size_t taken_ = 0;
  bool done_ = false;
  bool reported_ = false;
};

}  // namespace fathom::dumpi
