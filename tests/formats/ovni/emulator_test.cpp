#include "formats/ovni/emulator.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "formats/ovni/sort.hpp"
#include "formats/paraver/view_writer.hpp"
#include "ovni_cases.hpp"

namespace fathom::ovni {
namespace {

std::string read_text(const std::filesystem::path& path) { return expected_text(path).value_or("(missing)"); }

// Runs the emulator with the reference's arguments; true = accepted.
bool run(const std::filesystem::path& root, const std::string& arguments, const std::filesystem::path& out,
         std::string* why = nullptr) {
  const Work work = make_work();
  auto trace = open_native(root, work);
  if (!trace.ok()) {
    if (why != nullptr) *why = trace.error().text();
    return false;
  }
  EmulationOptions options;
  options.lint = arguments.find("-l") != std::string::npos;
  options.breakdown = arguments.find("-b") != std::string::npos;
  options.all_models = arguments.find("-a") != std::string::npos;
  paraver::ViewWriter writer(out);
  const auto status = emulate(*trace, options, writer, work);
  if (!status.ok() && why != nullptr) *why = status.error().text();
  return status.ok();
}

using Filter = std::function<bool(const std::string& line)>;

std::string lines_that(const std::string& text, const Filter& wanted) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (wanted(line)) result += line + '\n';
  }
  return result;
}

// Every line of `wanted`, in its order; others may stand between them.
bool holds_lines(const std::string& text, const std::string& wanted) {
  std::istringstream lines(text);
  std::istringstream sought(wanted);
  std::string line;
  for (std::string next; std::getline(sought, next);) {
    do {
      if (!std::getline(lines, line)) return false;
    } while (line != next);
  }
  return true;
}

// `wanted`: which lines of .prv and .pcf files count. Where an event ended the run the reference leaves out the names
// of the types of nOS-V tasks; they are there all the same.
void compare_files(const std::filesystem::path& expected, const std::filesystem::path& actual, bool accepted,
                   const Filter& wanted_lines = nullptr) {
  for (const auto& entry : std::filesystem::directory_iterator(expected)) {
    std::filesystem::path name = entry.path().filename();
    if (name.extension() == ".gz") name = name.stem();
    if (name.extension() == ".log" || name.extension() == ".err") continue;
    const auto wanted = expected_text(expected / name);
    // Rejected before the first event: the reference leaves empty files.
    if (!wanted || wanted->empty()) continue;
    if (name.extension() == ".prv" && wanted->find('\n') + 1 == wanted->size() &&
        wanted->find(":00000000000000000000_ns") != std::string::npos) {
      continue;
    }
    const std::string found = read_text(actual / name);
    if (!accepted && name.extension() == ".pcf") {
      const Filter all = [](const std::string&) { return true; };
      const Filter& filter = wanted_lines ? wanted_lines : all;
      EXPECT_TRUE(holds_lines(lines_that(found, filter), lines_that(*wanted, filter))) << name;
    } else if (wanted_lines && name.extension() != ".row") {
      EXPECT_TRUE(same_text(lines_that(*wanted, wanted_lines), lines_that(found, wanted_lines))) << name;
    } else {
      EXPECT_TRUE(same_text(*wanted, found)) << name;
    }
  }
}

TEST(OvniEmulator, ReferenceCases) {
  SKIP_WITHOUT_OVNI_DATA();
  int emulated = 0;
  for (const auto& directory : case_directories("v3")) {
    const auto description = read_json(directory / "case.json");
    if (exit_code(description, "ovniemu") < 0) continue;
    SCOPED_TRACE(directory.filename().string());
    TemporaryDirectory scratch;
    const bool sorted = description.value("sort_first", false);
    const auto root = unpack(directory / (sorted ? "sorted.tar.gz" : "trace.tar.gz"), scratch.path());
    const std::string arguments = description.at("runs").at("ovniemu").value("args", "");
    std::string why;
    const bool accepted = run(root, arguments, scratch / "out", &why);
    EXPECT_EQ(exit_code(description, "ovniemu") == 0, accepted) << why;
    if (std::filesystem::exists(directory / "expected/emu"))
      compare_files(directory / "expected/emu", scratch / "out", accepted);
    ++emulated;
  }
  EXPECT_GT(emulated, 60);
}

TEST(OvniEmulator, EdgeCases) {
  SKIP_WITHOUT_OVNI_DATA();
  for (const auto& entry : std::filesystem::directory_iterator(ovni_data() / "v3-edge")) {
    if (entry.path().extension() != ".gz") continue;
    const std::string name = entry.path().stem().stem().string();
    SCOPED_TRACE(name);
    const auto description = read_json(ovni_data() / "v3-edge" / (name + ".json"));
    TemporaryDirectory scratch;
    const auto root = unpack(entry.path(), scratch.path());
    std::string why;
    const bool accepted = run(root, description.at("runs").at("ovniemu").value("args", ""), scratch / "out", &why);
    if (name == "sort-before-first") continue;  // the reference sorts it first
    EXPECT_EQ(exit_code(description, "ovniemu") == 0, accepted) << why;
    for (const std::string file : {"thread.prv", "cpu.prv"}) {
      const std::string wanted = description.value(file, std::string());
      if (wanted.empty() || wanted.find(":00000000000000000000_ns") != std::string::npos) continue;
      EXPECT_TRUE(same_text(wanted, read_text(scratch / "out" / file))) << file << " " << why;
    }
  }
}

void compare_exit_codes(const std::string& version) {
  SKIP_WITHOUT_OVNI_DATA();
  for (const auto& directory : case_directories(version)) {
    const auto description = read_json(directory / "case.json");
    if (!description.at("runs").contains("ovniemu") || description.value("sort_first", false)) continue;
    SCOPED_TRACE(directory.string());
    TemporaryDirectory scratch;
    const auto root = unpack(directory / "trace.tar.gz", scratch.path());
    std::string why;
    const bool accepted = run(root, description.at("runs").at("ovniemu").value("args", ""), scratch / "out", &why);
    EXPECT_EQ(exit_code(description, "ovniemu") == 0, accepted) << why;
  }
}

// The emulator of that age had other numbers for some nOS-V subsystems, and of OpenMP only the subsystem (type 50,
// written on every change).
TEST(OvniEmulator, Version2Files) {
  SKIP_WITHOUT_OVNI_DATA();
  const std::regex other(R"(2:.*:(50|51|52):\d+|0 5[012] .*|EVENT_TYPE|VALUES||(2[5-9]|3[0-6])  .*|.*OpenMP.*)");
  int compared = 0;
  for (const auto& directory : case_directories("v2")) {
    const auto description = read_json(directory / "case.json");
    if (!std::filesystem::exists(directory / "expected/native-emu")) continue;
    SCOPED_TRACE(directory.string());
    TemporaryDirectory scratch;
    const auto root = unpack(directory / "trace.tar.gz", scratch.path());
    if (description.value("sort_first", false)) {
      auto trace = open_native(root, make_work());
      ASSERT_TRUE(trace.ok());
      for (const Stream& stream : trace->streams) {
        const auto sorted = sorted_bytes(stream, kSortWindow);
        ASSERT_TRUE(sorted.ok());
        std::ofstream(stream.file, std::ios::binary) << *sorted;
      }
    }
    std::string why;
    const bool accepted = run(root, description.at("runs").at("ovniemu").value("args", ""), scratch / "out", &why);
    EXPECT_EQ(exit_code(description, "ovniemu") == 0, accepted) << why;
    // Rejected at its end then, and now before its first event: the thread was never closed.
    if (directory.filename() == "ovni-thread-crash") continue;
    compare_files(directory / "expected/native-emu", scratch / "out", accepted,
                  [&](const std::string& line) { return !std::regex_match(line, other); });
    ++compared;
  }
  EXPECT_GT(compared, 10);
}
TEST(OvniEmulator, Version1ExitCodes) {
  compare_exit_codes("v1-1.4.1");
  compare_exit_codes("v1-1.0.0");
  compare_exit_codes("v1-seed");
}

}  // namespace
}  // namespace fathom::ovni
