#include "formats/ovni/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/ovni/clock_offsets.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/machine.hpp"

namespace fathom::ovni {

namespace {

class Checker {
 public:
  Checker(const NativeTrace& trace, const System& system, const Work& work)
      : trace_(trace), system_(system), work_(work), machine_(system) {}

  Result<void> events(const std::vector<std::int64_t>& offsets) {
    Merge merge(trace_.streams, offsets);
    std::vector<std::int64_t> last(trace_.streams.size(), std::numeric_limits<std::int64_t>::min());
    Event event;
    std::uint32_t stream = 0;
    std::int64_t clock = 0;
    while (merge.next(event, stream, clock)) {
      if (clock < last[stream]) {
        if (!first_late_) {
          first_late_ = refuse_event(trace_.streams[stream], event, clock,
                                     fmt::format("the clock goes backwards: {} comes before it", last[stream]));
        }
        ++late_;
        unsorted_[stream] = true;
      }
      last[stream] = clock;
      FATHOM_CHECK(judge(stream, event, clock));
    }
    FATHOM_CHECK(report_order());
    for (std::size_t i = 0; i < trace_.streams.size(); ++i) {
      FATHOM_CHECK(report_incomplete(trace_, i, merge.cursor(i), work_));
    }
    return {};
  }

  Result<void> ends() {
    for (std::uint32_t thread = 0; thread < system_.threads.size(); ++thread) {
      const Stream& stream = trace_.streams[system_.threads[thread].stream];
      for (std::size_t i = 0; i < kModelCount; ++i) {
        if (!system_.enabled[i]) continue;
        if (const auto why = left_on_stack(machine_, static_cast<Model>(i), thread)) {
          FATHOM_CHECK(work_->diagnostics.warn("ovni.stack_left", Place::in(stream.file.string()),
                                               fmt::format("stream {}: {}", stream.path, *why)));
        }
      }
      const ThreadState state = machine_.state(thread);
      if (state == ThreadState::dead) continue;
      FATHOM_CHECK(work_->diagnostics.warn(
          "ovni.not_dead", Place::in(stream.file.string()),
          fmt::format("stream {}: the thread is not dead at the end but {}", stream.path, to_string(state))));
    }
    return {};
  }

 private:
  // Once for the trace: there is one thing to do about it. What the models say of a stream whose order is wrong follows
  // from that mostly.
  Result<void> report_order() {
    if (!first_late_) return {};
    const auto streams = std::count(unsorted_.begin(), unsorted_.end(), true);
    return work_->diagnostics.add(
        "ovni.clock_order", Severity::warning, first_late_->place(),
        fmt::format("{}; in {} stream{} {} out of order: run fathom sort; what comes after is not judged",
                    first_late_->what(), streams, streams == 1 ? "" : "s",
                    late_ == 1 ? "1 event is" : fmt::format("{} events are", late_)),
        late_);
  }

  Result<void> note(std::string_view id, std::uint32_t stream, const Event& event, std::int64_t clock,
                    std::string_view why) {
    if (unsorted_[stream]) return {};
    const Error error = refuse_event(trace_.streams[stream], event, clock, why);
    return work_->diagnostics.warn(id, error.place(), error.what());
  }

  Result<void> judge(std::uint32_t stream, const Event& event, std::int64_t clock) {
    const std::uint32_t thread = system_.thread_of_stream[stream];
    if (thread == kNobody) return note("ovni.event", stream, event, clock, "the stream is no thread");
    machine_.resolve(event, clock, thread, step_);
    if (const auto why = machine_.judge(step_)) {
      FATHOM_CHECK(note("ovni.event", stream, event, clock, *why));
    } else if (step_.index >= 0 && !holds_arguments(event, event_info(step_.index)) && !lacks_body_id()) {
      // The models look at what they need; the rest of the arguments is missing all the same.
      FATHOM_CHECK(note("ovni.payload", stream, event, clock, payload_defect(event, event_info(step_.index))));
    }
    writes_.clear();
    machine_.apply(step_, writes_);
    machine_.remarks().clear();
    return {};
  }

  // Before version 2 of the nOS-V model events of tasks carried the task alone.
  [[nodiscard]] bool lacks_body_id() const {
    const TaskRules* tasks = model_info(step_.def->model).tasks;
    return system_.version_1 && tasks != nullptr && tasks->names_bodies;
  }

  const NativeTrace& trace_;
  const System& system_;
  const Work& work_;
  Machine machine_;
  std::vector<bool> unsorted_ = std::vector<bool>(trace_.streams.size());
  std::optional<Error> first_late_;
  std::uint64_t late_ = 0;
  Step step_;
  std::vector<Write> writes_;
};

}  // namespace

Result<void> check_trace(const NativeTrace& trace, const Work& work) {
  std::vector<Error> defects;
  const System system = build_system(trace, false, defects, work);
  for (const Error& defect : defects) {
    FATHOM_CHECK(work->diagnostics.warn("ovni.metadata", defect.place(), defect.what()));
  }
  auto offsets = own_offsets(trace, work);
  if (!offsets.ok()) {
    FATHOM_CHECK(work->diagnostics.warn("ovni.clock_offsets", offsets.error().place(), offsets.error().what()));
    offsets = std::vector<std::int64_t>(trace.streams.size(), 0);
  }
  if (const auto gap = find_clock_gap(trace, *offsets)) {
    FATHOM_CHECK(work->diagnostics.warn("ovni.clock_gap", gap->place(), gap->what()));
  }
  Checker checker(trace, system, work);
  FATHOM_CHECK(checker.events(*offsets));
  return checker.ends();
}

}  // namespace fathom::ovni
