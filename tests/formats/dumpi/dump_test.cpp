#include "formats/dumpi/dump.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/text.hpp"
#include "formats/dumpi/rank_set.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> data_files(const char* ending) {
  std::vector<fs::path> files;
  const fs::path root = fs::path(FATHOM_SHARED_DATA) / "dumpi";
  if (!fs::exists(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string dump_of(const fs::path& path) {
  const Work work = make_work();
  auto blob = open_file(path, work);
  EXPECT_TRUE(blob.ok()) << path;
  auto file = File::open(*blob, work);
  EXPECT_TRUE(file.ok()) << path;
  auto found = scan(*file, work);
  EXPECT_TRUE(found.ok());
  std::string text;
  EXPECT_TRUE(dump(*file, *found, {}, [&](std::string_view part) {
                text += part;
                return true;
              }).ok());
  return text;
}

TEST(DumpiDump, EqualsTheReferenceTextByteForByte) {
  setenv("TZ", "UTC", 1);
  tzset();
  const auto expected = data_files(".ascii.gz");
  if (expected.empty()) GTEST_SKIP() << "no reference data";
  EXPECT_GT(expected.size(), 40U);
  for (const fs::path& path : expected) {
    std::string name = path.filename().string();
    name.resize(name.size() - std::string(".ascii.gz").size());
    fs::path binary = path.parent_path().parent_path() / (name + ".bin");
    if (!fs::exists(binary)) binary += ".gz";
    const std::string got = dump_of(binary);
    const Work work = make_work();
    auto blob = open_file(path, work);
    ASSERT_TRUE(blob.ok());
    if (blob->text() == got) continue;
    LineCursor want(*blob);
    LineCursor have(Blob::own("got", got));
    while (const auto line = want.next()) {
      const auto other = have.next();
      if (!other || *other != *line) {
        ADD_FAILURE() << binary << " line " << want.number() << "\n want: " << *line
                      << "\n have: " << (other ? std::string(*other) : "<end>");
        break;
      }
    }
    if (!::testing::Test::HasFailure()) ADD_FAILURE() << binary << ": the dump is longer than the reference";
  }
}

TEST(DumpiScan, CountsEqualTheReference) {
  const auto tables = data_files("functions.tsv");
  if (tables.empty()) GTEST_SKIP() << "no reference data";
  std::size_t rows = 0;
  for (const fs::path& table : tables) {
    const Work work = make_work();
    auto source = Source::at(table.parent_path().parent_path(), work);
    ASSERT_TRUE(source.ok());
    auto set = RankSet::open(*source, work);
    ASSERT_TRUE(set.ok()) << table << set.error().text();
    auto scans = (*set)->scans();
    ASSERT_TRUE(scans.ok());
    std::vector<std::map<std::string, std::array<std::int64_t, 2>>> times((*set)->files().size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      for (const Chunk& chunk : (**scans)[i].chunks) {
        for_each_call((*set)->files()[i].file, chunk, [&](const Call& call) {
          auto& sum = times[i][std::string(call.name())];
          sum[0] += call.wall_stop_ns - call.wall_start_ns;
          sum[1] += call.cpu_stop_ns - call.cpu_start_ns;
          return true;
        });
      }
    }
    auto blob = open_file(table, work);
    ASSERT_TRUE(blob.ok());
    LineCursor lines(*blob);
    std::vector<std::string_view> header;
    while (const auto line = lines.next()) {
      const auto cells = split(*line, '\t');
      if (header.empty()) {
        header = cells;
        continue;
      }
      std::map<std::string_view, std::string_view> row;
      for (std::size_t c = 0; c < header.size() && c < cells.size(); ++c) row[header[c]] = cells[c];
      const auto rank = parse_integer<std::uint32_t>(row["rank"]);
      ASSERT_TRUE(rank.has_value()) << *line;
      const int at = (*set)->find(*rank);
      ASSERT_GE(at, 0) << table << *line;
      const auto index = static_cast<std::size_t>(at);
      const Function* found = function(row["function"]);
      ASSERT_NE(found, nullptr) << *line;
      EXPECT_EQ(std::to_string((**scans)[index].per_function[found->id]),
                row.contains("in_stream") ? row["in_stream"] : row["complete_events"])
          << table << " " << *line;
      const bool rolls_over = table.string().find("synth") != std::string::npos;  // times there are random
      if (!rolls_over) {
        const auto& sum = times[index][std::string(found->name)];
        if (row.contains("wall_ns") && row["wall_ns"] != "-") {
          EXPECT_EQ(std::to_string(sum[0]), row["wall_ns"]) << table << *line;
        }
        if (row.contains("cpu_ns") && row["cpu_ns"] != "-") {
          EXPECT_EQ(std::to_string(sum[1]), row["cpu_ns"]) << table << *line;
        }
      }
      ++rows;
    }
  }
  EXPECT_GT(rows, 1000U);
}

}  // namespace
}  // namespace fathom::dumpi
