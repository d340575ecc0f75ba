#include "cli/self_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/output_file.hpp"

namespace fathom::cli {

// Phases are literals of ours: nothing in them needs escaping.
Result<void> write_self_trace(const SelfProfile& profile, const std::filesystem::path& target) {
  const std::vector<SelfProfile::Span> spans = profile.spans();
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  text += R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"fathom"}})";
  std::uint32_t threads = 0;
  for (const SelfProfile::Span& span : spans) threads = std::max(threads, span.thread + 1);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    text +=
        fmt::format(",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{}\"}}}}",
                    thread + 1, thread == 0 ? "main" : fmt::format("helper {}", thread));
  }
  const auto microseconds = [](std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); };
  for (const SelfProfile::Span& span : spans) {
    text +=
        fmt::format(",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":\"{}\",\"ts\":{},\"dur\":{}}}", span.thread + 1,
                    span.phase, microseconds(span.begin_ns), microseconds(span.end_ns - span.begin_ns));
  }
  text += fmt::format("\n],\"otherData\":{{\"spans_left_out\":{}}}}}\n", profile.spans_left_out());
  return write_file(target, text);
}

}  // namespace fathom::cli
