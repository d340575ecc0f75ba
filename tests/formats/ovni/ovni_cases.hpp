// The reference traces with their expected results, where they are present.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/native_trace.hpp"
#include "formats/ovni/sort.hpp"
#include "io/file.hpp"
#include "io/inflate.hpp"
#include "io/tar.hpp"
#include "temporary_directory.hpp"

namespace fathom::ovni {

inline std::filesystem::path ovni_data() { return std::filesystem::path(FATHOM_SHARED_DATA) / "ovni"; }
inline bool have_ovni_data() { return std::filesystem::exists(ovni_data() / "v3"); }

#define SKIP_WITHOUT_OVNI_DATA() \
  if (!have_ovni_data()) GTEST_SKIP() << "no reference traces at " << ovni_data()

// The text of a file or of its .gz, or nothing.
inline std::optional<std::string> expected_text(const std::filesystem::path& path) {
  for (const auto& name : {path, std::filesystem::path(path.string() + ".gz")}) {
    if (!std::filesystem::exists(name)) continue;
    auto blob = open_file(name, make_work());
    if (blob) return std::string(blob->text());
  }
  return std::nullopt;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in, nullptr, false);
}

// Of a tool's run, or -1 when it was not run.
inline int exit_code(const nlohmann::json& description, const std::string& tool) {
  const auto runs = description.value("runs", nlohmann::json::object());
  return runs.contains(tool) ? runs.at(tool).value("rc", -1) : -1;
}

// Unpacks an archive; the trace is in "ovni" below `target`.
inline std::filesystem::path unpack(const std::filesystem::path& archive, const std::filesystem::path& target) {
  const Work work = make_work();
  auto blob = open_file(archive, work);
  EXPECT_TRUE(blob.ok()) << archive;
  auto tar = TarArchive::read(*blob, work);
  EXPECT_TRUE(tar.ok()) << archive;
  std::filesystem::create_directories(target / "ovni");
  for (const TarMember& member : tar->members()) {
    std::filesystem::create_directories((target / member.name).parent_path());
    std::ofstream(target / member.name, std::ios::binary) << member.content.text();
  }
  return target / "ovni";
}

inline std::vector<std::filesystem::path> case_directories(const std::string& version) {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(ovni_data() / version)) {
    if (entry.is_directory()) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

inline std::string dump_text(const NativeTrace& trace, DumpForm form, const Work& work, const DumpFilter& filter = {}) {
  std::string text;
  const auto status = dump(
      trace, form, filter,
      [&](std::string_view part) {
        text += part;
        return true;
      },
      work);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return text;
}

// Says where two long texts part instead of printing both.
inline ::testing::AssertionResult same_text(const std::string& expected, const std::string& actual) {
  if (expected == actual) return ::testing::AssertionSuccess();
  std::size_t at = 0;
  while (at < expected.size() && at < actual.size() && expected[at] == actual[at]) ++at;
  const std::size_t line =
      static_cast<std::size_t>(std::count(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const std::size_t begin = at == 0                                             ? 0
                            : expected.rfind('\n', at - 1) == std::string::npos ? 0
                                                                                : expected.rfind('\n', at - 1) + 1;
  return ::testing::AssertionFailure() << "line " << line + 1 << "\nexpected: " << expected.substr(begin, 160)
                                       << "\n  actual: " << actual.substr(std::min(begin, actual.size()), 160);
}

// The bytes of a stream after sorting; what was done, where it is asked for.
inline Result<std::string> sorted_bytes(const Stream& stream, std::size_t window, SortResult* done = nullptr) {
  std::string bytes;
  const auto add = [&](Bytes piece) -> Result<void> {
    bytes += as_text(piece);
    return {};
  };
  FATHOM_TRY(const SortResult result, sort_stream(stream, window, add, make_work()));
  if (done != nullptr) *done = result;
  if (!result.changed) bytes = stream.blob.text();
  return bytes;
}

}  // namespace fathom::ovni
