// Files that somebody writes to while they are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "io/file.hpp"
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

}  // namespace
}  // namespace fathom
