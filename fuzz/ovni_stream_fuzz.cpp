// Any bytes as the stream of a thread: dump, counts, sorter, check, emulation and mapping.
#include "formats/ovni/check.hpp"
#include "formats/ovni/count.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/emulator.hpp"
#include "formats/ovni/ovni_trace.hpp"
#include "formats/ovni/sort.hpp"
#include "trace/merge.hpp"

using namespace fathom;
using namespace fathom::ovni;

namespace {

struct NullSink : ViewSink {
  Result<void> begin(std::span<const View>) override { return {}; }
  void encode(std::span<const ViewRecord>, std::vector<std::string>&) const override {}
  Result<void> write(const std::vector<std::string>&) override { return {}; }
  Result<void> end(std::span<const View>, std::int64_t) override { return {}; }
};

Metadata metadata() {
  Metadata made;
  made.version = 3;
  made.part = "thread";
  made.loom = "node";
  made.pid = made.tid = made.app_id = 1;
  made.lib_version = made.lib_commit = "fuzz";
  made.require.emplace();
  made.cpus = {{{0, 0}, {1, 1}}};
  made.marks = {{1, "single", "single", {}}, {2, "stack", "stack", {}}};
  made.can_breakdown = true;
  made.counters = {{{0, "cycles"}, {1, "instructions"}}};
  made.finished = 1;
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto stream = stream_of(Blob::own("stream.obs", std::string(reinterpret_cast<const char*>(data), size)), true);
  if (!stream.ok()) return 0;
  stream->metadata = metadata();
  NativeTrace trace;
  trace.root = "/nonexistent";
  trace.streams.push_back(std::move(*stream));
  const Work work = make_work();
  for (const DumpForm form : {DumpForm::sentence, DumpForm::raw, DumpForm::old}) {
    (void)dump(
        trace, form, {}, [](std::string_view) { return true; }, work);
  }
  (void)count_events(trace, work);
  (void)sort_stream(trace.streams[0], 100);
  (void)check_trace(trace, work);
  NullSink sink;
  EmulationOptions options;
  options.breakdown = options.lint = options.all_models = true;
  (void)emulate(trace, options, sink, work);
  auto mapped = OvniTrace::make(trace, work);
  if (!mapped.ok()) return 0;
  auto merged = MergedEvents::over(**mapped);
  if (!merged.ok()) return 0;
  std::string detail;
  while (const fathom::Event* event = merged->next()) {
    detail.clear();
    (void)(*mapped)->detail(*event, detail);
  }
  return 0;
}
