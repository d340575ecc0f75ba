// Files that somebody writes to while they are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "io/file.hpp"
#include "io/input_watch.hpp"
#include "io/opened_files.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ChangedInput : public testing::Test {
 protected:
  void SetUp() override {
    write(path_, "first");
    // Long ago, so that what is written now has another time whatever the clock of the file system is.
    fs::last_write_time(path_, fs::file_time_type::clock::now() - 1h);
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  // Of this test's directory: other tests of the program open files, too.
  [[nodiscard]] bool told() const {
    const auto changed = changed_inputs();
    return std::find(changed.begin(), changed.end(), path_) != changed.end();
  }

  TemporaryDirectory folder_;
  fs::path path_ = folder_ / "run.bin";
};

TEST_F(ChangedInput, NothingIsToldOfFilesThatStayAsTheyAre) {
  ASSERT_TRUE(map_file(path_).ok());
  ASSERT_TRUE(map_file(path_).ok());
  EXPECT_FALSE(told());
}

TEST_F(ChangedInput, OtherBytesOfTheSameLength) {
  const auto blob = map_file(path_);
  ASSERT_TRUE(blob.ok());
  write(path_, "other");
  EXPECT_TRUE(told());
}

TEST_F(ChangedInput, MoreBytes) {
  const auto blob = map_file(path_);
  ASSERT_TRUE(blob.ok());
  std::ofstream(path_, std::ios::app) << "more";
  EXPECT_TRUE(told());
}

TEST_F(ChangedInput, ChangedBetweenTwoReadings) {
  ASSERT_TRUE(map_file(path_).ok());
  write(path_, "other");
  ASSERT_TRUE(map_file(path_).ok());
  fs::remove(path_);
  EXPECT_TRUE(told());
}

TEST_F(ChangedInput, AnotherFileInItsPlaceIsNoChange) {
  const auto blob = map_file(path_);
  ASSERT_TRUE(blob.ok());
  write(folder_ / "new", "other bytes");
  fs::rename(folder_ / "new", path_);
  EXPECT_FALSE(told());
  fs::remove(path_);
  EXPECT_FALSE(told());
}

// A dataset that stays open. Five bytes are in one page: there are zeros behind the end, and no signal.
TEST_F(ChangedInput, ADatasetThatStaysOpenIsWatched) {
  write(folder_ / "runs.bin", "other");
  InputWatch watch(path_);
  InputWatch others(folder_ / "runs.bin");
  InputWatch folder(folder_.path());
  Diagnostics diagnostics(false);
  const auto blob = map_file(path_);
  const auto other = map_file(folder_ / "runs.bin");
  ASSERT_TRUE(blob.ok() && other.ok());
  EXPECT_FALSE(watch.lost(&diagnostics));
  fs::resize_file(path_, 2);
  std::this_thread::sleep_for(100ms);  // a look that took long is not done again at once
  const auto lost = watch.lost(&diagnostics);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->place().file, path_.string());
  EXPECT_TRUE(folder.lost(&diagnostics));
  EXPECT_FALSE(others.lost(&diagnostics));
  write(path_, "again");
  EXPECT_TRUE(watch.lost(&diagnostics)) << "what was read before stays worthless";
  EXPECT_TRUE(diagnostics.all().empty());
}

TEST_F(ChangedInput, ADatasetThatStaysOpenTellsOnceThatItWasWrittenTo) {
  InputWatch watch(folder_ / "run.meta");  // a set of files: run.bin is one of it
  InputWatch strict(path_);
  Diagnostics diagnostics(false);
  Diagnostics refusing(true);
  const auto blob = map_file(path_);
  ASSERT_TRUE(blob.ok());
  write(path_, "other");
  EXPECT_FALSE(watch.lost(&diagnostics));
  EXPECT_FALSE(watch.lost(&diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].count, 1U);
  EXPECT_TRUE(strict.lost(&refusing));
}

}  // namespace
}  // namespace fathom
