// Lines of the text that `perf script` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::perf_script {

// "comm pid/tid [cpu] time: period event: rest"; all but the number of the thread may be missing. Without the event a
// frame may stand behind the time.
struct SampleHeader {
  std::string_view command;
  std::optional<std::int64_t> process;
  std::int64_t thread = 0;
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> period;
  std::string_view event;  // without modifiers; empty = it is not told
  std::string_view rest;   // of the line: what a tracepoint prints, or the only frame
};
std::optional<SampleHeader> parse_header(std::string_view line);
// "comm tid": the same with neither time nor event, as many a line looks; a frame must follow.
std::optional<SampleHeader> parse_bare_header(std::string_view line);

// "comm 5 1.000000: PERF_RECORD_MMAP2 5/5: ...": what `--show-mmap-events` and the like put between the samples.
inline bool is_record(std::string_view line) { return line.find(": PERF_RECORD_") != std::string_view::npos; }

// "  address symbol+0xoffset (module)"
struct FrameLine {
  std::string_view address;
  std::string_view symbol;  // without the offset
  std::string_view module;
  bool inlined = false;
};
std::optional<FrameLine> parse_frame(std::string_view line);
// One that is none of another text by chance: behind a tab, with a long address.
bool is_certain_frame(std::string_view line);

// The frame at the end of a head: without call chains a sample is one line.
std::optional<FrameLine> frame_of(const SampleHeader& header);

// What a frame is called: an unknown symbol has the name of its module.
std::string name_of(const FrameLine& frame);

}  // namespace fathom::perf_script
