// Text dumps read back: dumping the result must give the same text.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/text_reader.hpp"
#include "io/file.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

std::string dump_of(const Blob& blob, const Work& work) {
  auto file = File::open(blob, work);
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().text());
  if (!file.ok()) return {};
  auto found = scan(*file, work);
  EXPECT_TRUE(found.ok());
  EXPECT_FALSE(found->damage.has_value());
  std::string text;
  EXPECT_TRUE(dump(*file, *found, {}, [&](std::string_view part) {
                text += part;
                return true;
              }).ok());
  return text;
}

TEST(DumpiText, EveryReferenceDumpReadsBack) {
  setenv("TZ", "UTC", 1);
  tzset();
  const fs::path root = fs::path(FATHOM_SHARED_DATA) / "dumpi";
  if (!fs::exists(root)) GTEST_SKIP() << "no reference data";
  std::size_t compared = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.path().string().ends_with(".ascii.gz")) continue;
    const Work work = make_work();
    auto text = open_file(entry.path(), work);
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(looks_like_text_dump(text->text().substr(0, 4096)));
    auto binary = binary_of_text(*text, work);
    ASSERT_TRUE(binary.ok()) << entry.path() << " " << binary.error().text();
    EXPECT_TRUE(dump_of(*binary, work) == text->text()) << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 40U);
}

TEST(DumpiText, ACallMayHaveNoCounterAtAll) {
  const Work work = make_work();
  const std::string call =
      "MPI_Barrier entering at walltime 1.000000000, cputime 0.000000000 seconds in thread 0.\nPerfcounters: []\n"
      "MPI_Comm comm=2 (MPI_COMM_WORLD)\n"
      "MPI_Barrier returning at walltime 2.000000000, cputime 0.000000000 seconds in thread 0.\nPerfcounters: []\n";
  auto binary = binary_of_text(Blob::own("x.txt", call), work);
  ASSERT_TRUE(binary.ok()) << binary.error().text();
  EXPECT_NE(dump_of(*binary, work).find("MPI_Barrier returning at walltime 2.0"), std::string::npos);
}

// Clocks are stored per call, and where one is not the text has zeros; stored seconds have 16 bits behind the bias.
TEST(DumpiText, ACallWithoutTimesAmongOthersOfTheCalendar) {
  const Work work = make_work();
  const auto barrier = [](const std::string& from, const std::string& to) {
    return "MPI_Barrier entering at walltime " + from + ", cputime 0.000000000 seconds in thread 0.\n" +
           "MPI_Comm comm=2 (MPI_COMM_WORLD)\n" + "MPI_Barrier returning at walltime " + to +
           ", cputime 0.000000000 seconds in thread 0.\n";
  };
  const std::string calls =
      barrier("0.000000000", "0.000000000") + barrier("1700000001.500000000", "1700000002.000000000");
  auto binary = binary_of_text(Blob::own("x.txt", calls), work);
  ASSERT_TRUE(binary.ok()) << binary.error().text();
  EXPECT_NE(dump_of(*binary, work).find(calls), std::string::npos);
}

TEST(DumpiText, SaysWhereTheTextIsWrong) {
  const Work work = make_work();
  const std::string text =
      "MPI_Send entering at walltime 1.000000000, cputime 0.000000000 seconds in thread 0.\n"
      "int count=3\n"
      "MPI_Comm comm=2 (MPI_COMM_WORLD)\n";
  auto binary = binary_of_text(Blob::own("x.txt", text), work);
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(binary.error().place().text(), "x.txt:3");
  EXPECT_NE(binary.error().what().find("datatype of MPI_Send"), std::string::npos) << binary.error().what();
}

}  // namespace
}  // namespace fathom::dumpi
