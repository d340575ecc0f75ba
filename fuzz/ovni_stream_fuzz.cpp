// Any bytes as the stream of a thread: dump, counts, sorter, check, emulation and mapping.
#include <array>

#include "formats/ovni/check.hpp"
#include "formats/ovni/count.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/emulator.hpp"
#include "formats/ovni/ovni_trace.hpp"
#include "formats/ovni/sort.hpp"
#include "questions.hpp"
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

void read_events(const Trace& trace) {
  auto merged = MergedEvents::over(trace);
  if (!merged.ok()) return;
  std::string detail;
  while (const fathom::Event* event = merged->next()) {
    detail.clear();
    (void)trace.detail(*event, detail);
  }
}

// What commands ask of a trace, one by one.
constexpr std::size_t kQuestions = 8;
void ask(NativeTrace& trace, std::size_t question, const Work& work) {
  switch (question) {
    case 0:
      (void)count_events(trace, work);
      return;
    case 1:
      (void)sort_stream(
          trace.streams[0], 100, [](Bytes) { return Result<void>{}; }, work);
      return;
    case 2:
      (void)check_trace(trace, work);
      return;
    case 3: {
      NullSink sink;
      EmulationOptions options;
      options.breakdown = options.lint = options.all_models = true;
      (void)emulate(trace, options, sink, work);
      return;
    }
    case 4: {
      const auto mapped = OvniTrace::make(trace, work);
      if (mapped.ok()) read_events(**mapped);
      return;
    }
    default: {
      constexpr std::array kForms = {DumpForm::sentence, DumpForm::raw, DumpForm::old};
      (void)dump(
          trace, kForms[question - 5], {}, [](std::string_view) { return true; }, work);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  auto stream = stream_of(Blob::own("stream.obs", std::string(input)), true);
  if (!stream.ok()) return 0;
  static const Metadata kMetadata = metadata();
  stream->metadata = kMetadata;
  NativeTrace trace;
  trace.root = "/nonexistent";
  trace.streams.push_back(std::move(*stream));
  const Work work = make_work(false, std::uint64_t{256} << 20);
  const Questions questions(input, kQuestions);
  for (std::size_t question = 0; question < kQuestions; ++question) {
    if (questions.asks(question)) ask(trace, question, work);
  }
  return 0;
}
