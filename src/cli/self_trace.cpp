#include "cli/self_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"

namespace fathom::cli {
namespace {

void name_row(JsonWriter& json, std::string_view what, std::uint32_t thread, std::string_view name) {
  json.begin_object().member("ph", "M").member("pid", 1).member("tid", thread).member("name", what);
  json.key("args").begin_object().member("name", name).end_object();
  json.end_object();
}

}  // namespace

Result<void> write_self_trace(const SelfProfile& profile, const std::filesystem::path& target) {
  const std::vector<SelfProfile::Span> spans = profile.spans();
  std::uint32_t threads = 0;
  for (const SelfProfile::Span& span : spans) threads = std::max(threads, span.thread + 1);

  Output out;
  JsonWriter json(out, JsonLayout::compact);
  json.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
  name_row(json, "process_name", 1, "fathom");
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    name_row(json, "thread_name", thread + 1, thread == 0 ? "main" : fmt::format("helper {}", thread));
  }
  const auto microseconds = [](std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); };
  for (const SelfProfile::Span& span : spans) {
    json.begin_object().member("ph", "X").member("pid", 1).member("tid", span.thread + 1).member("name", span.phase);
    json.key("ts").raw(microseconds(span.begin_ns)).key("dur").raw(microseconds(span.end_ns - span.begin_ns));
    json.end_object();
  }
  json.end_array();
  json.key("otherData").begin_object().member("spans_left_out", profile.spans_left_out()).end_object();
  json.end_object();
  FATHOM_CHECK(spare_inputs(target));
  return write_file(target, out.text());
}

}  // namespace fathom::cli
