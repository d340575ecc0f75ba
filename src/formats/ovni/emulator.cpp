#include "formats/ovni/emulator.hpp"

#include <fmt/format.h>

#include "base/pipeline.hpp"
#include "base/progress.hpp"
#include "formats/ovni/clock_offsets.hpp"
#include "formats/ovni/emulation_views.hpp"
#include "io/file.hpp"

namespace fathom::ovni {

namespace {

constexpr std::size_t kBatchEvents = 1 << 15;
constexpr std::size_t kSlots = 4;

Result<std::vector<std::int64_t>> find_offsets(const NativeTrace& trace, const EmulationOptions& options,
                                               const Work& work) {
  if (!options.offsets) return own_offsets(trace, work);
  FATHOM_TRY(const Blob blob, map_file(*options.offsets));
  FATHOM_TRY(const auto offsets, read_offsets(blob));
  return stream_offsets(trace, offsets, blob.place());
}

class Emulation {
 public:
  Emulation(const NativeTrace& trace, const System& system, const std::vector<std::int64_t>& offsets,
            const EmulationOptions& options, const std::array<bool, kModelCount>& breakdown, const Work& work)
      : trace_(trace),
        system_(system),
        options_(options),
        work_(work),
        machine_(system),
        views_(connect_views(system, machine_.channels(), breakdown)),
        merge_(trace.streams, offsets, OnDamage::stop) {}

  [[nodiscard]] std::vector<View>& views() { return views_.views; }
  [[nodiscard]] std::int64_t final_time() const { return time_; }
  // Played since the last call.
  std::uint64_t take_bytes() { return std::exchange(bytes_, 0); }

  // Plays events until there are records for one batch; false at the end.
  Result<bool> play(std::vector<ViewRecord>& records) {
    records.clear();
    Event event;
    std::uint32_t stream = 0;
    std::int64_t clock = 0;
    for (std::size_t i = 0; i < kBatchEvents; ++i) {
      if (!merge_.next(event, stream, clock)) {
        if (const auto damaged = merge_.damaged()) return report_damage(*damaged);
        return false;
      }
      bytes_ += event.size();
      if (!started_) first_clock_ = clock;
      started_ = true;
      const std::uint32_t thread = system_.thread_of_stream[stream];
      if (thread == kNobody) return fail(stream, event, clock, "the stream is no thread");
      // Clocks are unsigned in the file: one beyond 2^63 still comes after one before it.
      time_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(clock) - static_cast<std::uint64_t>(first_clock_));
      machine_.resolve(event, clock, thread, step_);
      if (const auto why = machine_.judge(step_)) return fail(stream, event, clock, *why);
      writes_.clear();
      machine_.apply(step_, writes_);
      views_.net.run(writes_, time_, records);
      if (!machine_.remarks().empty()) FATHOM_CHECK(note_remarks(stream, event));
    }
    return true;
  }

  // Model by model: the names of task types, then what has to hold at the end. The first thing that does not is told.
  Result<void> finish(bool failed) {
    Result<void> outcome;
    const auto note = [&](Result<void> result) {
      if (outcome.ok() && !result.ok()) outcome = std::move(result);
    };
    for (std::size_t i = 0; i < kModelCount; ++i) {
      if (!system_.enabled[i]) continue;
      const auto model = static_cast<Model>(i);
      const ModelInfo& info = model_info(model);
      if (info.tasks != nullptr) note(add_task_types(views_.views, system_, machine_, model));
      if (failed) continue;
      if (options_.lint) note(judge_stacks(model));
      if (info.rules_threads) note(judge_ends());
    }
    return outcome;
  }

 private:
  Error fail(std::uint32_t stream, const Event& event, std::int64_t clock, std::string_view why) {
    return refuse_event(trace_.streams[stream], event, clock, why);
  }

  Error report_damage(std::uint32_t stream) {
    const StreamCursor& cursor = merge_.cursor(stream);
    Event event;
    StreamCursor ahead = cursor;
    if (!ahead.next(event)) {
      return Error::refused(fmt::format("stream {} ends with an incomplete event", trace_.streams[stream].path),
                            place_in(trace_.streams[stream], cursor.position()));
    }
    return fail(stream, event, static_cast<std::int64_t>(event.clock()), "the clock goes backwards")
        .hint("fathom sort repairs regions of unordered events");
  }

  Result<void> note_remarks(std::uint32_t stream, const Event& event) {
    for (Remark& remark : machine_.remarks()) {
      if (std::string_view(remark.id) == "ovni.bursts") {
        work_->diagnostics.info(remark.id, place_in(trace_.streams[stream], event.at), std::move(remark.text));
        continue;
      }
      FATHOM_CHECK(
          work_->diagnostics.warn(remark.id, place_in(trace_.streams[stream], event.at), std::move(remark.text)));
    }
    machine_.remarks().clear();
    return {};
  }

  [[nodiscard]] Result<void> judge_stacks(Model model) const {
    for (std::uint32_t thread = 0; thread < system_.threads.size(); ++thread) {
      const Stream& stream = trace_.streams[system_.threads[thread].stream];
      if (const auto why = left_on_stack(machine_, model, thread)) {
        return Error::refused(fmt::format("stream {}: {}", stream.path, *why), Place::in(stream.file.string()));
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> judge_ends() const {
    for (std::uint32_t thread = 0; thread < system_.threads.size(); ++thread) {
      if (machine_.state(thread) == ThreadState::dead) continue;
      const Stream& stream = trace_.streams[system_.threads[thread].stream];
      // Up to library 1.0 a thread that never said it executes was no defect.
      if (trace_.layout <= Layout::v1_b && machine_.state(thread) == ThreadState::unknown) {
        FATHOM_CHECK(work_->diagnostics.warn("ovni.never_executed", Place::in(stream.file.string()),
                                             "the thread never says that it executes"));
        continue;
      }
      return Error::refused(fmt::format("stream {}: thread {} is not dead at the end but {}", stream.path,
                                        system_.threads[thread].tid, to_string(machine_.state(thread))),
                            Place::in(stream.file.string()));
    }
    return {};
  }

  const NativeTrace& trace_;
  const System& system_;
  const EmulationOptions& options_;
  const Work& work_;
  Machine machine_;
  EmulationViews views_;
  Merge merge_;
  Step step_;
  std::vector<Write> writes_;
  bool started_ = false;
  std::int64_t first_clock_ = 0;
  std::int64_t time_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<std::array<bool, kModelCount>> choose_breakdowns(const System& system, const EmulationOptions& options,
                                                        const NativeTrace& trace, const Work& work) {
  std::array<bool, kModelCount> chosen{};
  if (!options.breakdown) return chosen;
  for (std::size_t i = 0; i < kModelCount; ++i) {
    const TaskRules* tasks = model_info(static_cast<Model>(i)).tasks;
    chosen[i] = tasks != nullptr && system.enabled[i];
    if (!chosen[i] || !tasks->breakdown.by_metadata) continue;
    if (system.breakdown_missing && !system.threads.empty() && !system.version_1) {
      return Error::refused("the metadata do not say whether nOS-V can be broken down (nosv.can_breakdown)",
                            Place::in(trace.root.string()));
    }
    if (system.can_breakdown) continue;
    FATHOM_CHECK(work->diagnostics.warn("ovni.no_breakdown", Place::in(trace.root.string()),
                                        "not all threads support the nOS-V breakdown: it is left out"));
    chosen[i] = false;
  }
  return chosen;
}

}  // namespace

Result<void> emulate(const NativeTrace& trace, const EmulationOptions& options, ViewSink& sink, const Work& work) {
  if (trace.layout != Layout::v3) {
    FATHOM_CHECK(work->diagnostics.warn(
        "ovni.old_layout", Place::in(trace.root.string()),
        fmt::format("trace of layout {} is emulated under the rules of version 3", to_string(trace.layout))));
  }
  std::vector<Error> defects;
  const System system = build_system(trace, options.all_models, defects, work);
  if (!defects.empty()) return std::move(defects.front()).as(ErrorKind::refused);
  auto offsets = find_offsets(trace, options, work);
  if (!offsets.ok()) return std::move(offsets).error().as(ErrorKind::refused);
  if (system.looms.size() > 1 && !options.offsets && !std::filesystem::exists(trace.root / "clock-offsets.txt")) {
    FATHOM_CHECK(work->diagnostics.warn("ovni.no_offsets", Place::in(trace.root.string()),
                                        "several looms without a table of clock offsets: their clocks may differ"));
  }
  if (auto gap = find_clock_gap(trace, *offsets)) return std::move(*gap);
  FATHOM_TRY(const auto breakdown, choose_breakdowns(system, options, trace, work));

  Emulation emulation(trace, system, *offsets, options, breakdown, work);
  FATHOM_CHECK(judge_labels(emulation.views(), Place::in(trace.root.string())));
  FATHOM_CHECK(sink.begin(emulation.views()));
  std::vector<std::vector<ViewRecord>> records(kSlots);
  std::vector<std::vector<std::string>> texts(kSlots);
  std::optional<Error> failure;
  std::uint64_t bytes = 0;
  for (const Stream& stream : trace.streams) bytes += stream.blob.size();
  Progress progress("emulating", bytes);
  auto status = run_pipeline(
      kSlots,
      [&](std::size_t slot) -> Result<bool> {
        auto more = emulation.play(records[slot]);
        progress.advance(emulation.take_bytes());
        if (more.ok()) return more;
        failure = std::move(more).error();
        return false;
      },
      [&](std::size_t slot) -> Result<void> {
        sink.encode(records[slot], texts[slot]);
        return {};
      },
      [&](std::size_t slot) -> Result<bool> {
        if (auto written = sink.write(texts[slot]); !written.ok()) return std::move(written).error();
        return true;
      });
  if (!status.ok()) return status;
  auto finished = emulation.finish(failure.has_value());
  FATHOM_CHECK(sink.end(emulation.views(), emulation.final_time()));
  if (failure) return std::move(*failure);
  return finished;
}

}  // namespace fathom::ovni
