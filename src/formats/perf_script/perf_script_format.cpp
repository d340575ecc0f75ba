#include "formats/perf_script/perf_script_format.hpp"

#include "formats/loaded_trace_dataset.hpp"
#include "formats/perf_script/sample_text.hpp"
#include "formats/perf_script/sample_trace.hpp"
#include "io/line_cursor.hpp"

namespace fathom::perf_script {

namespace {

class PerfScriptDataset final : public LoadedTraceDataset<SampleTrace> {
 public:
  using LoadedTraceDataset::LoadedTraceDataset;
  Result<std::vector<InfoEntry>> describe(bool) override {
    FATHOM_CHECK(load());
    std::vector<InfoEntry> entries;
    const Definitions& definitions = trace_->definitions();
    entries.push_back({"metrics", std::uint64_t{definitions.metrics.size()}});
    entries.push_back({"contexts", std::uint64_t{definitions.contexts.size()}});
    entries.push_back({"regions", std::uint64_t{definitions.regions.size()}});
    entries.push_back({"locations", std::uint64_t{trace_->location_count()}});
    entries.push_back({"events", trace_->samples()});
    if (const auto span = trace_->known_span(); span && span->to_ns > span->from_ns) {
      describe_span(span->from_ns, span->to_ns, entries);
    }
    for (const auto& [key, value] : definitions.attributes) entries.push_back({key, value});
    return entries;
  }
};

// The head of a sample, and behind it a frame or nothing.
Match recognise(const Source& source) {
  if (source.is_directory()) return {};
  constexpr std::size_t kHead = 65536;
  const std::size_t size = std::min(source.blob().size(), kHead);
  if (source.head(size).find('\0') != std::string_view::npos) return {};
  LineCursor lines(source.blob().part(0, size));
  bool captured = false;
  bool stacks = false;
  // Stacks whose heads do not name the thread: what is missing is told when it is opened.
  const auto undecided = [&]() -> Match {
    if (!stacks) return {};
    return {Confidence::maybe, "has stacks like those of 'perf script'"};
  };
  int looked = 0;
  while (const auto line = lines.next()) {
    if (line->starts_with('#')) {
      captured = captured || line->find("perf version") != std::string_view::npos;
      continue;
    }
    if (line->find_first_not_of(" \t") == std::string_view::npos || is_record(*line)) continue;
    if (++looked > 3) return undecided();
    stacks = stacks || is_certain_frame(*line);
    const auto header = parse_header(*line);
    if (parse_frame(*line)) continue;
    if (!header) {
      LineCursor behind = lines;
      const auto next = behind.next();
      if (!next || !is_certain_frame(*next)) continue;
      if (parse_bare_header(*line)) return {Confidence::likely, "has stacks of 'perf script' with their threads"};
      stacks = true;
      continue;
    }
    const auto next = lines.next();
    if (next && parse_frame(*next)) return {Confidence::certain, "has samples of 'perf script'"};
    if (header->time_ns && frame_of(*header)) {
      return {header->event.empty() ? Confidence::likely : Confidence::certain, "has samples of 'perf script'"};
    }
    if (captured) return {Confidence::likely, "has the head of 'perf script'"};
    // Without frames lines look like those of many logs: the event must be followed by the end.
    if (header->time_ns && !header->command.empty() && !header->event.empty() &&
        (!next || parse_header(*next) || next->empty())) {
      return {Confidence::maybe, "has lines like those of 'perf script'"};
    }
  }
  return undecided();
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  return DatasetPtr(std::make_unique<PerfScriptDataset>(format(), source.path(), work, source.blob()));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "perf-script",
                              .title = "text of 'perf script'",
                              .extensions = ".perf .perf.txt",
                              .can = {{Level::trace}, {}},
                              .recognise = recognise,
                              .open = open};
  return kFormat;
}

}  // namespace fathom::perf_script
