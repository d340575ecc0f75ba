// OTF2: all events of a made archive through the trace level, as a ratio to the official library reading the same
// archive in the same run, both on one core; then the same on all cores. Usage: otf2_bench [MILLIONS OF EVENTS]
#include <fmt/format.h>

#include <filesystem>

#include "base/execution.hpp"
#include "base/parallel.hpp"
#include "formats/otf2/otf2_trace.hpp"
#include "formats/otf2/trace_writer.hpp"
#include "measure.hpp"

#if __has_include(<otf2/otf2.h>)
#include <otf2/otf2.h>
#define HAS_LIBRARY 1
#endif

using namespace fathom;
using namespace fathom::otf2;
using fathom::bench::measure;
using fathom::bench::must;

namespace {

constexpr std::uint32_t kLocations = 4;

// Ranks of a solver: nested calls, a message to the next rank and one from the one before, a counter now and then.
class MadeTrace : public Trace {
 public:
  explicit MadeTrace(std::uint64_t events) : events_(events / kLocations) {
    for (std::uint32_t rank = 0; rank < kLocations; ++rank) {
      SystemNode process;
      process.kind = SystemKind::group;
      process.name = fmt::format("rank {}", rank);
      process.rank = rank;
      const SystemNodeId group = definitions_.system.add(process);
      SystemNode thread;
      thread.parent = group;
      thread.kind = SystemKind::location;
      thread.type = "thread";
      thread.name = "master";
      thread.file_id = rank;
      definitions_.system.add_location(thread);
    }
    for (const char* name : {"main", "solve", "stencil", "MPI_Send", "MPI_Recv"}) {
      Region region;
      region.name = name;
      definitions_.regions.push_back(region);
    }
    Metric metric;
    metric.name = "cycles";
    metric.type = {ValueKind::u64, 0};
    definitions_.metrics.push_back(metric);
    communicators_ = {{"MPI_COMM_WORLD", {0, 1, 2, 3}, {}}};
  }
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    return std::unique_ptr<EventStream>(std::make_unique<Stream>(location, events_));
  }

 private:
  class Stream : public EventStream {
   public:
    Stream(LocationId location, std::uint64_t events) : location_(location), left_(events) {}
    Result<std::size_t> next(std::span<Event> out) override {
      struct Step {
        EventKind kind;
        std::uint32_t name;
      };
      static constexpr Step kSteps[] = {{EventKind::enter, 1}, {EventKind::enter, 2}, {EventKind::leave, 2},
                                        {EventKind::enter, 2}, {EventKind::leave, 2}, {EventKind::enter, 3},
                                        {EventKind::send, 3},  {EventKind::leave, 3}, {EventKind::enter, 4},
                                        {EventKind::recv, 4},  {EventKind::leave, 4}, {EventKind::counter, 0},
                                        {EventKind::enter, 2}, {EventKind::leave, 2}, {EventKind::leave, 1}};
      std::size_t filled = 0;
      for (; filled < out.size() && left_ > 0; ++filled, --left_) {
        const Step step = kSteps[step_];
        step_ = (step_ + 1) % std::size(kSteps);
        Event event;
        event.location = location_;
        event.kind = step.kind;
        event.name = step.name;
        time_ += 100 + (time_ * 2654435761U >> 7) % 900;
        event.time_ns = time_;
        if (step.kind == EventKind::send || step.kind == EventKind::recv) {
          const std::uint32_t other = step.kind == EventKind::send ? location_.value + 1 : location_.value + 3;
          event.peer = static_cast<std::int32_t>(other % kLocations);
          event.tag = 7;
          event.bytes = 4096;
          event.communicator = CommunicatorId(0);
        }
        if (step.kind == EventKind::counter) event.value = time_ * 3;
        out[filled] = event;
      }
      return filled;
    }

   private:
    LocationId location_;
    std::uint64_t left_;
    std::size_t step_ = 0;
    std::int64_t time_ = 1'700'000'000'000'000;
  };
  std::uint64_t events_;
};

std::uint64_t read_level(const Otf2Trace& trace) {
  std::atomic<std::uint64_t> total = 0;
  must(parallel_for(trace.location_count(), [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(auto stream, trace.open(LocationId(i), {}));
    std::vector<Event> batch(512);
    std::uint64_t sum = 0;
    for (;;) {
      FATHOM_TRY(const std::size_t count, stream->next(batch));
      if (count == 0) break;
      for (std::size_t k = 0; k < count; ++k) sum += static_cast<std::uint64_t>(batch[k].time_ns) ^ batch[k].name;
    }
    total += sum;
    return {};
  }));
  return total;
}

#ifdef HAS_LIBRARY
std::uint64_t g_seen = 0;
OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, void*, OTF2_AttributeList*, OTF2_RegionRef region) {
  g_seen += time ^ region;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_message(OTF2_LocationRef, OTF2_TimeStamp time, void*, OTF2_AttributeList*, uint32_t peer,
                             OTF2_CommRef, uint32_t, uint64_t) {
  g_seen += time ^ peer;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, void*, OTF2_AttributeList*, OTF2_MetricRef metric,
                            uint8_t, const OTF2_Type*, const OTF2_MetricValue*) {
  g_seen += time ^ metric;
  return OTF2_CALLBACK_SUCCESS;
}

// Location by location, as the library is fastest.
std::uint64_t read_library(const std::filesystem::path& anchor) {
  OTF2_Reader* const reader = OTF2_Reader_Open(anchor.c_str());
  if (reader == nullptr) bench::fail(Error("the library cannot open the archive"));
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  for (std::uint64_t i = 0; i < kLocations; ++i) OTF2_Reader_SelectLocation(reader, i);
  const bool local = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
  OTF2_Reader_OpenEvtFiles(reader);
  OTF2_EvtReaderCallbacks* const callbacks = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(
      callbacks, [](OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t, void* u, OTF2_AttributeList* a, OTF2_RegionRef r) {
        return on_enter(l, t, u, a, r);
      });
  OTF2_EvtReaderCallbacks_SetLeaveCallback(
      callbacks, [](OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t, void* u, OTF2_AttributeList* a, OTF2_RegionRef r) {
        return on_enter(l, t, u, a, r);
      });
  const auto message = [](OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t, void* u, OTF2_AttributeList* a, uint32_t p,
                          OTF2_CommRef c, uint32_t tag, uint64_t n) { return on_message(l, t, u, a, p, c, tag, n); };
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, message);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, message);
  OTF2_EvtReaderCallbacks_SetMetricCallback(
      callbacks, [](OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t, void* u, OTF2_AttributeList* a, OTF2_MetricRef m,
                    uint8_t n, const OTF2_Type* types,
                    const OTF2_MetricValue* values) { return on_metric(l, t, u, a, m, n, types, values); });
  std::uint64_t events = 0;
  for (std::uint64_t i = 0; i < kLocations; ++i) {
    if (local) {
      OTF2_DefReader* const definitions = OTF2_Reader_GetDefReader(reader, i);
      std::uint64_t read = 0;
      OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read);
      OTF2_Reader_CloseDefReader(reader, definitions);
    }
    OTF2_EvtReader* const stream = OTF2_Reader_GetEvtReader(reader, i);
    OTF2_Reader_RegisterEvtCallbacks(reader, stream, callbacks, nullptr);
    std::uint64_t read = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, stream, &read);
    events += read;
    OTF2_Reader_CloseEvtReader(reader, stream);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_Close(reader);
  return events;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t events = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20) * 1'000'000;
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("fathom-otf2-bench-{}", getpid());
  const auto anchor = directory / "traces.otf2";
  std::filesystem::create_directories(directory);
  const Work work = make_work();
  const auto cost = measure([&] { must(write_trace(MadeTrace(events), anchor, work)); }, 1);
  const auto archive = must(Archive::open(files_beside(anchor), work));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kLocations; ++i) bytes += must(archive->events(i)).size();
  const auto million = static_cast<double>(events) / 1e6;
  fmt::print("{} M events, {} MB; written at {:.1f} M/s\n", events / 1'000'000, bytes / 1'000'000, million / cost.wall);
  const auto trace = must(Otf2Trace::make(archive));
  const Execution one_core(1);
  std::uint64_t sum = 0;
  const auto own = [&] {
    const ExecutionScope scope(one_core);
    sum = read_level(*trace);
    return measure([&] { sum ^= read_level(*trace); });
  }();
  fmt::print("Fathom, one core:   {:6.1f} M events/s\n", million / own.cpu);
#ifdef HAS_LIBRARY
  std::uint64_t read = 0;
  const auto library = measure([&] { read = read_library(anchor); });
  fmt::print("OTF2 library:       {:6.1f} M events/s ({} events)\n", million / library.cpu, read);
  fmt::print("ratio (aim: 2):     {:6.2f}\n", library.cpu / own.cpu);
#endif
  const auto all = measure([&] { sum ^= read_level(*trace); });
  // On a busy machine threads wait for processors; what they cost each other shows in the time of all of them together.
  fmt::print("Fathom, {} threads: {:6.1f} M events/s, {:.1f} M per second of processor time, sum {:x}\n",
             thread_count(), million / all.wall, million / all.cpu, sum);
  std::filesystem::remove_all(directory);
  return 0;
}
