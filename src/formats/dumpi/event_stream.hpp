// Turns the records of one (rank, thread) into events.
#pragma once

#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/requests.hpp"
#include "trace/window_index.hpp"

namespace fathom::dumpi {

class DumpiStream final : public CopyableStream {
 public:
  DumpiStream(const DumpiTrace& trace, const File& file, const ScanResult& scan, LocationId location);
  Result<std::size_t> next(std::span<Event> out) override;
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<DumpiStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override;

 private:
  friend class Requests;
  void begun(const Call& call, const Pending& pending);
  void completed(const Call& call, const Pending& pending, const Status* status);

  bool next_chunk();
  // Makes the events of the next record.
  void read_record();
  void events_of_call();
  void messages_of();
  void user_function();
  void counters(bool at_exit);
  void send_event(const CommunicatorView& comm, std::int64_t dest, std::int64_t tag, std::int64_t bytes,
                  std::uint64_t origin);
  void recv_event(const CommunicatorView& comm, std::int64_t source, std::int64_t tag, std::int64_t bytes,
                  std::uint64_t origin, std::int64_t posted_ns, const Status* status);
  void collective_event();
  // A new event of the record, at its beginning or its end.
  Event& add(EventKind kind, bool at_exit);
  Event& add_region(EventKind kind, bool at_exit);

  std::size_t next_in_order(std::span<Event> out);
  std::size_t next_sorted(std::span<Event> out);
  std::size_t take_ready(std::span<Event> out);
  void put_in_order(std::size_t from);
  void put_back(std::size_t at);
  void release(bool all);

  const DumpiTrace& trace_;
  const File& file_;
  const ScanResult& scan_;
  LocationId location_;
  DumpiTrace::Where where_;
  Tables tables_;
  Requests requests_;
  std::size_t chunk_ = 0;
  std::uint64_t offset_ = 0;  // of the next record, and of the end of its chunk
  std::uint64_t end_offset_ = 0;
  // The same while next() is under way, which is when the file is held: there may be streams over more files than can
  // be open at a time.
  const std::byte* base_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* chunk_end_ = nullptr;
  std::uint64_t number_ = 0;
  Rollover rollover_;
  Call call_;
  bool use_cpu_ = false;       // the only clock
  std::size_t strangers_ = 0;  // receives from anybody without a status, so far
  // Of the record in hand: whether it is of this thread, its region and its times.
  bool mine_ = false;
  bool timed_ = false;
  std::uint32_t name_ = Event::kNoName;
  std::int64_t start_ns_ = 0;
  std::int64_t stop_ns_ = 0;
  // Where events go while next() is under way: here, and when that is full to those that wait.
  Event* free_ = nullptr;
  Event* free_end_ = nullptr;
  // Events wait here for room, and where records are not in order until nothing earlier can come any more.
  std::vector<Event> waiting_;
  std::size_t ready_ = 0;  // events at the front of waiting_ that can go
  std::size_t taken_ = 0;
  bool done_ = false;
  bool reported_ = false;
};

}  // namespace fathom::dumpi
