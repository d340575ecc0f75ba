#include <gtest/gtest.h>

#include <regex>

#include "formats/ovni/count.hpp"
#include "formats/ovni/sort.hpp"
#include "ovni_cases.hpp"

namespace fathom::ovni {
namespace {

void check_case(const std::filesystem::path& directory, const std::string& version) {
  SCOPED_TRACE(directory.string());
  TemporaryDirectory scratch;
  const auto root = unpack(directory / "trace.tar.gz", scratch.path());
  const Work work = make_work();
  auto trace = open_native(root, work);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto expected = directory / "expected";
  if (const auto raw = expected_text(expected / "ovnidump-x.txt")) {
    EXPECT_TRUE(same_text(*raw, dump_text(*trace, DumpForm::raw, work)));
  }
  if (const auto text = expected_text(expected / "ovnidump.txt")) {
    EXPECT_TRUE(same_text(*text, dump_text(*trace, DumpForm::sentence, work)));
  }
  if (const auto native = expected_text(expected / "native-ovnidump.txt")) {
    std::string mine = dump_text(*trace, DumpForm::old, work);
    std::string theirs = *native;
    if (version == "v1-seed") {
      // The tool of that age broke ties in the order of the machine's directories: compare as sets.
      const auto sorted = [](const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        std::sort(lines.begin(), lines.end());
        std::string joined;
        for (const auto& line : lines) joined += line + '\n';
        return joined;
      };
      mine = sorted(mine);
      theirs = sorted(theirs);
    }
    EXPECT_TRUE(same_text(theirs, mine)) << "native dump";
  }
  if (const auto top = expected_text(expected / "ovnitop.txt")) {
    auto counts = count_events(*trace, work);
    ASSERT_TRUE(counts.ok());
    EXPECT_TRUE(same_text(*top, counts_text(sum_counts(*counts))));
  }
  const auto description = read_json(directory / "case.json");
  if (description["runs"].contains("ovnisort-c")) {
    bool sorted = true;
    for (const Stream& stream : trace->streams) sorted = sorted && !find_disorder(stream);
    EXPECT_EQ(exit_code(description, "ovnisort-c") == 0, sorted);
  }
  if (std::filesystem::exists(directory / "sorted.tar.gz")) {
    TemporaryDirectory other;
    auto wanted = open_native(unpack(directory / "sorted.tar.gz", other.path()), work);
    ASSERT_TRUE(wanted.ok());
    ASSERT_EQ(wanted->streams.size(), trace->streams.size());
    for (std::size_t i = 0; i < trace->streams.size(); ++i) {
      const auto mine = sorted_bytes(trace->streams[i], kSortWindow);
      ASSERT_TRUE(mine.ok()) << mine.error().text();
      EXPECT_TRUE(*mine == wanted->streams[i].blob.text()) << trace->streams[i].path;
    }
  }
}

void check_version(const std::string& version) {
  SKIP_WITHOUT_OVNI_DATA();
  for (const auto& directory : case_directories(version)) check_case(directory, version);
}

TEST(OvniReference, Version3) { check_version("v3"); }
TEST(OvniReference, Version2) { check_version("v2"); }
TEST(OvniReference, Version1Release141) { check_version("v1-1.4.1"); }
TEST(OvniReference, Version1Release100) { check_version("v1-1.0.0"); }
TEST(OvniReference, Version1Document) { check_version("v1-seed"); }

// Metadata that the library wrote come out as they were, character by character.
TEST(OvniReference, MetadataAreSpelledAsTheLibraryDoes) {
  SKIP_WITHOUT_OVNI_DATA();
  int compared = 0;
  for (const std::string version : {"v3", "v2", "v1-1.4.1", "v1-1.0.0", "v1-seed"}) {
    for (const auto& directory : case_directories(version)) {
      const std::string name = directory.filename().string();
      // Made by a generator; or with attributes of the program's own.
      if (name.starts_with("syn") || name.starts_with("dump") || name == "ovni-libovni-attr") continue;
      SCOPED_TRACE(directory.string());
      TemporaryDirectory scratch;
      auto trace = open_native(unpack(directory / "trace.tar.gz", scratch.path()), make_work());
      ASSERT_TRUE(trace.ok());
      for (const Stream& stream : trace->streams) {
        const std::string first = expected_text(stream.metadata_file).value_or("");
        if (version == "v3") {
          EXPECT_EQ(to_stream_json(stream.metadata), first);
        } else {
          EXPECT_EQ(to_process_json(stream.metadata), first);
        }
        if (version == "v2") {
          EXPECT_EQ(to_thread_json(stream.metadata), stream.metadata_text);
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(OvniReference, EdgeCases) {
  SKIP_WITHOUT_OVNI_DATA();
  for (const auto& entry : std::filesystem::directory_iterator(ovni_data() / "v3-edge")) {
    if (entry.path().extension() != ".gz") continue;
    const std::string name = entry.path().stem().stem().string();
    SCOPED_TRACE(name);
    const auto description = read_json(ovni_data() / "v3-edge" / (name + ".json"));
    TemporaryDirectory scratch;
    const Work work = make_work();
    auto trace = open_native(unpack(entry.path(), scratch.path()), work);
    // Where the reference refuses everything there is nothing that could be read here either.
    if (exit_code(description, "ovnidump-x") == 0) {
      ASSERT_TRUE(trace.ok()) << trace.error().text();
      EXPECT_TRUE(same_text(description.value("ovnidump-x", std::string()), dump_text(*trace, DumpForm::raw, work)));
      // In these three the reference prints bytes of the next event, or crashes.
      if (name != "task-no-body" && name != "type-not-jumbo" && name != "exec-no-payload" &&
          exit_code(description, "ovnidump") == 0) {
        EXPECT_TRUE(
            same_text(description.value("ovnidump", std::string()), dump_text(*trace, DumpForm::sentence, work)));
      }
      bool sorted = true;
      for (const Stream& stream : trace->streams) sorted = sorted && !find_disorder(stream);
      if (description["runs"].contains("ovnisort-c")) {
        EXPECT_EQ(exit_code(description, "ovnisort-c") == 0, sorted);
      }
    } else {
      EXPECT_TRUE(!trace.ok() || work->diagnostics.defective() ||
                  (dump_text(*trace, DumpForm::raw, work), work->diagnostics.defective()));
    }
  }
}

TEST(OvniReference, SortWindows) {
  SKIP_WITHOUT_OVNI_DATA();
  TemporaryDirectory scratch;
  auto trace = open_native(unpack(ovni_data() / "v3/ovni-sort/trace.tar.gz", scratch.path()), make_work());
  ASSERT_TRUE(trace.ok());
  const auto expected = read_json(ovni_data() / "v3-edge/sort-window.json");
  for (const auto& run : expected["runs"]) {
    const std::string arguments = run["args"];
    const std::size_t window = std::stoul(arguments.substr(3));
    std::string said;
    for (const Stream& stream : trace->streams) {
      const auto sorted = sorted_bytes(stream, window);
      if (!sorted.ok()) said += sorted.error().text();
    }
    EXPECT_EQ(run["rc"] == 0, said.empty()) << arguments;
    // How far the reference looked back.
    for (const std::string text : run["messages"]) {
      std::smatch back;
      if (!std::regex_search(text, back, std::regex("nback=([0-9]+)"))) continue;
      EXPECT_NE(said.find("within " + back[1].str() + " events"), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace fathom::ovni
