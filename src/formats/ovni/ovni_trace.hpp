// An ovni trace on the trace level.
//
// A location is a thread (a stream). Subsystems, MPI functions and worksharings become regions that are entered and
// left; a task's body is a region named after the task's type; execution of the thread is the outermost one. Thread
// state, CPU, running task, idle state, flushes and kernel switches are channels; counters are metrics; everything else
// is a marker. Where one thread moves another to a CPU, the other's channel changes. Nothing is refused here: a region
// that is left in the wrong order is put right, one that was never entered is a marker.
#pragma once

#include "base/work.hpp"
#include "formats/ovni/flat_index.hpp"
#include "formats/ovni/native_trace.hpp"
#include "formats/ovni/system.hpp"
#include "trace/trace.hpp"
#include "trace/window_index.hpp"

namespace fathom::ovni {

// What one pass over all streams finds.
struct StreamSurvey {
  std::uint64_t events = 0;
  std::int64_t first_clock = 0;
  std::int64_t last_clock = 0;
  bool ordered = true;
  std::uint64_t lateness = 0;  // where it is not, see OrderedCursor
  struct Type {
    Model model;
    std::uint32_t id;
    std::string label;
  };
  struct Task {
    Model model;
    std::uint32_t id;
    std::uint32_t type;
  };
  struct Move {
    std::int64_t clock;
    std::int32_t cpu;  // index in the loom
    std::int32_t tid;
  };
  std::vector<Type> types;
  std::vector<Task> tasks;
  std::vector<Move> moves;
};
StreamSurvey survey_stream(const Stream& stream);

class OvniTrace : public Trace {
 public:
  static Result<std::shared_ptr<const Trace>> make(const NativeTrace& native, const Work& work);

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  Result<void> detail(const fathom::Event& event, std::string& out) const override;
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override {
    return spans_[location.index()];
  }
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId location) const override;

 private:
  friend class OvniEventStream;
  enum : std::uint32_t { kStateChannel, kCpuChannel, kTaskChannel, kFixedChannels };

  OvniTrace() = default;
  void define_system();
  void define_channels();
  void define_regions(const std::vector<StreamSurvey>& surveys);
  std::uint32_t region(std::string name, std::string_view paradigm, std::string_view role);
  Result<void> order(std::size_t stream, std::uint64_t lateness, const Work& work);
  void collect_moves(const std::vector<StreamSurvey>& surveys);

  // The region of a task or of a type in a stream's process, or kNoName.
  [[nodiscard]] std::uint32_t task_region(std::size_t stream, Model model, std::uint32_t id) const;
  [[nodiscard]] std::uint32_t type_region(std::size_t stream, Model model, std::uint32_t id) const;

  std::vector<Stream> streams_;
  std::vector<std::uint64_t> lateness_;  // by stream, see OrderedCursor
  std::vector<Budget::Reservation> reservations_;
  struct Move {
    std::int64_t time_ns;
    std::uint32_t cpu;
  };
  std::vector<std::vector<Move>> moves_;  // of a stream's thread by others, by time
  System system_;
  std::unique_ptr<WindowIndex[]> windows_;  // by stream
  std::vector<std::int64_t> offsets_;
  std::vector<std::uint64_t> records_;
  std::optional<TimeWindow> span_;
  std::vector<std::optional<TimeWindow>> spans_;  // by stream
  std::uint32_t thread_region_ = 0;
  std::vector<std::uint32_t> region_of_event_;   // by catalogue index; kNoName where the event is about none
  std::vector<std::uint32_t> channel_of_event_;  // the same for channels
  std::uint32_t first_mark_ = 0;                 // marker of the first mark type; before them one per catalogue event
  std::uint32_t unknown_marker_ = 0;
  std::array<std::uint32_t, 100> marker_of_mark_{};
  std::vector<std::uint32_t> process_of_stream_;
  struct ProcessTasks {
    FlatIndex region_of_task;  // by model and id
    FlatIndex region_of_type;
  };
  std::vector<ProcessTasks> tasks_;
};

}  // namespace fathom::ovni
