// The events of one thread, as the trace level wants them.
#pragma once

#include "formats/ovni/machine.hpp"
#include "formats/ovni/ordered_cursor.hpp"
#include "formats/ovni/ovni_trace.hpp"
#include "trace/open_names.hpp"
#include "trace/window_index.hpp"

namespace fathom::ovni {

class OvniEventStream : public CopyableStream {
 public:
  OvniEventStream(const OvniTrace& trace, LocationId location)
      : trace_(trace),
        stream_(trace.streams_[location.index()]),
        cursor_(stream_, trace.lateness_[location.index()]),
        location_(location) {}

  Result<std::size_t> next(std::span<fathom::Event> out) override;
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override {
    return std::make_unique<OvniEventStream>(*this);
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return sizeof *this + pending_.size() * sizeof(fathom::Event) + open_.size() * sizeof(std::uint32_t) +
           stacks_.size() * sizeof stacks_[0] + trace_.lateness_[location_.index()] * sizeof(OrderedCursor::Waiting);
  }

 private:
  // Where others moved the thread to until then.
  void take_moves(std::int64_t until_ns);
  // One native event into pending_.
  void translate(const Event& event);
  void translate_counters(int index, const Event& event);
  void translate_thread(const EventDef& def, int index, const Event& event);
  void translate_task(const EventDef& def, int index, const Event& event);
  void translate_mark(const Event& event, int index);

  fathom::Event& add(EventKind kind, std::uint32_t name);
  void add_state(std::uint32_t channel, std::optional<std::int64_t> value);
  void enter(std::uint32_t region);
  // Puts wrong nesting right: what is open above is left first and entered again.
  void leave(std::uint32_t region, int index);
  void close();

  const OvniTrace& trace_;
  const Stream& stream_;
  OrderedCursor cursor_;
  LocationId location_;
  std::vector<fathom::Event> pending_;
  std::size_t taken_ = 0;
  std::size_t moves_taken_ = 0;
  std::vector<std::uint32_t> open_;  // regions, innermost last
  OpenNames names_;                  // that are in it
  std::vector<std::vector<std::int64_t>> stacks_ = std::vector<std::vector<std::int64_t>>(trace_.channels().size());
  ThreadState state_ = ThreadState::unknown;
  std::int64_t time_ = 0;
  std::uint64_t record_ = fathom::Event::kNoRecord;
  bool ended_ = false;
};

}  // namespace fathom::ovni
