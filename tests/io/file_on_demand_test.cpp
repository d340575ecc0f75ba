// More files than may be open at a time.
#include "io/file_on_demand.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "io/mapped_file.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class FilesOnDemand : public testing::Test {
 protected:
  void SetUp() override {
    reset_lost_input();
    before_ = keep_files_open(8);
  }
  void TearDown() override {
    keep_files_open(before_);
    reset_lost_input();
  }
  fs::path make(int number, std::size_t size = 10'000) {
    fs::path path = folder_.path() / ("file-" + std::to_string(number));
    std::ofstream(path) << std::string(size, static_cast<char>('a' + number % 26));
    return path;
  }
  // Files of the folder that are mapped.
  int mapped() const {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
      count += line.find(folder_.path().string()) != std::string::npos ? 1 : 0;
    }
    return count;
  }

  TemporaryDirectory folder_;
  Work work_ = make_work();
  std::size_t before_ = 0;
};

TEST_F(FilesOnDemand, FewAreOpenAtATime) {
  std::vector<FileOnDemand> files;
  {
    const auto open = make_open_files();
    for (int i = 0; i < 300; ++i) {
      auto file = FileOnDemand::open(make(i), open, work_);
      ASSERT_TRUE(file.ok());
      files.push_back(*file);
    }
    EXPECT_EQ(mapped(), 8);
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      const auto held = files[static_cast<std::size_t>(i)].hold();
      ASSERT_EQ(held->size(), 10'000U);
      EXPECT_EQ(held->text().back(), static_cast<char>('a' + i % 26));
      EXPECT_LE(mapped(), 9);
    }
  }
  // Who holds one has it, whatever others do.
  const auto first = files[0].hold();
  const std::byte* const at = first->bytes().data();
  for (int i = 1; i < 300; ++i) (void)files[static_cast<std::size_t>(i)].hold();
  EXPECT_EQ(files[0].hold()->bytes().data(), at);
  EXPECT_EQ(first->text(), std::string(10'000, 'a'));
  files.clear();
  EXPECT_LE(mapped(), 1);
  EXPECT_FALSE(lost_input().has_value());
}

TEST_F(FilesOnDemand, AFileThatGrewIsReadAsItWas) {
  const fs::path path = make(0);
  const auto open = make_open_files();
  const FileOnDemand file = FileOnDemand::known(path, 9'000, open, work_);
  EXPECT_EQ(file.size(), 9'000U);
  EXPECT_EQ(file.hold()->text(), std::string(9'000, 'a'));
  EXPECT_FALSE(lost_input().has_value());
}

TEST_F(FilesOnDemand, AFileThatIsGoneStopsTheWork) {
  const fs::path path = make(0);
  keep_files_open(0);
  const auto open = make_open_files();
  const auto file = FileOnDemand::open(path, open, work_);
  ASSERT_TRUE(file.ok());
  fs::remove(path);
  EXPECT_EQ(file->hold()->text(), std::string(10'000, '\0'));
  const auto lost = lost_input();
  ASSERT_TRUE(lost.has_value());
  EXPECT_NE(lost->text().find("file-0"), std::string::npos);
}

TEST_F(FilesOnDemand, AFileThatIsNotThereIsAnError) {
  EXPECT_FALSE(FileOnDemand::open(folder_.path() / "nothing", make_open_files(), work_).ok());
  EXPECT_FALSE(lost_input().has_value());
}

}  // namespace
}  // namespace fathom
