#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/cancel.hpp"
#include "io/output_by_name.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "io/temporary.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::set<std::string> files_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_symlink() || !entry.is_directory()) names.insert(entry.path().lexically_relative(directory).string());
  }
  return names;
}

TEST(OutputFile, ReplacesOnlyWhenCommitted) {
  const TemporaryDirectory folder;
  put(folder / "a", "old");
  {
    auto file = OutputFile::create(folder / "a");
    ASSERT_TRUE(file.ok()) << file.error().text();
    file->write("new");
    EXPECT_EQ(content(folder / "a"), "old");
    EXPECT_EQ(files_in(folder.path()).size(), 2U);
  }
  EXPECT_EQ(files_in(folder.path()), std::set<std::string>{"a"});
  ASSERT_TRUE(write_file(folder / "a", "new").ok());
  EXPECT_EQ(content(folder / "a"), "new");
  EXPECT_EQ(files_in(folder.path()), std::set<std::string>{"a"});
}

TEST(OutputFile, KeepsThePermissionsOfWhatItReplaces) {
  const TemporaryDirectory folder;
  put(folder / "a", "old");
  chmod((folder / "a").c_str(), 0600);
  ASSERT_TRUE(write_file(folder / "a", "new").ok());
  struct stat status {};
  ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(OutputFile, FollowsLinksAlsoToNothing) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "elsewhere");
  fs::create_symlink("elsewhere/real", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "one").ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "elsewhere/real"), "one");
  ASSERT_TRUE(write_file(folder / "link", "two").ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "elsewhere/real"), "two");
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_FALSE(write_file(folder / "a", "round and round").ok());
}

TEST(OutputFile, WritesThroughToAPipe) {
  const TemporaryDirectory folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = content(pipe); });
  {
    auto file = OutputFile::create(pipe);
    ASSERT_TRUE(file.ok()) << file.error().text();
    file->write("xx");
    file->write(" whole");
    file->overwrite(0, as_bytes(std::string_view("on")));
    ASSERT_TRUE(file->commit().ok());
  }
  reader.join();
  EXPECT_EQ(got, "on whole");
  struct stat status {};
  ASSERT_EQ(lstat(pipe.c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST(OutputFile, NeverReplacesADevice) {
  ASSERT_TRUE(write_file("/dev/null", "gone").ok());
  struct stat status {};
  ASSERT_EQ(lstat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  const auto full = write_file("/dev/full", "no room");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().text().find("/dev/full"), std::string::npos);
  ASSERT_EQ(lstat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(OutputFile, InterruptedWorkLeavesTheOldFile) {
  const TemporaryDirectory folder;
  put(folder / "a", "old");
  auto file = OutputFile::create(folder / "a");
  ASSERT_TRUE(file.ok());
  file->write("new");
  const Execution stopped(0, std::make_shared<std::atomic<bool>>(true));
  const ExecutionScope scope(stopped);
  const auto status = file->commit();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(content(folder / "a"), "old");
}

TEST(Temporaries, OfADeadProcessAreRemovedThoseOfALivingOneStay) {
  const TemporaryDirectory folder;
  const std::string target = folder / "out";
  const pid_t child = fork();
  if (child == 0) {
    auto file = OutputFile::create(target);
    auto set = OutputSet::directory(folder / "dir", {});
    std::ofstream(set->path() / "x") << "half";
    _exit(file.ok() ? 0 : 1);  // as if killed: no destructor runs
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  ASSERT_EQ(ended, 0);
  ASSERT_EQ(files_in(folder.path()).size(), 2U);
  auto living = OutputFile::create(target);
  ASSERT_TRUE(living.ok());
  auto second = OutputFile::create(target);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(files_in(folder.path()).size(), 3U);  // the two of this process and the dead directory's file
  auto set = OutputSet::directory(folder / "dir", {});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(files_in(folder.path()).size(), 2U);
  living->write("one");
  ASSERT_TRUE(living->commit().ok());
  EXPECT_EQ(content(target), "one");
}

bool is_data(const fs::path& file) { return file.extension() == ".db"; }

TEST(OutputByName, AppearsWholeWithThePermissionsOfWhatItReplaces) {
  const TemporaryDirectory folder;
  put(folder / "a", "old");
  chmod((folder / "a").c_str(), 0600);
  {
    auto file = OutputByName::create(folder / "a");
    ASSERT_TRUE(file.ok()) << file.error().text();
    put(file->path(), "half of it");
    EXPECT_EQ(content(folder / "a"), "old");
  }
  EXPECT_EQ(files_in(folder.path()), std::set<std::string>{"a"});
  auto file = OutputByName::create(folder / "a");
  ASSERT_TRUE(file.ok()) << file.error().text();
  put(file->path(), "new");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content(folder / "a"), "new");
  struct stat status {};
  ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(OutputByName::create(folder.path()).ok()) << "a directory is no file";
}

TEST(OutputByName, FollowsLinksAndWritesThroughToAPipe) {
  const TemporaryDirectory folder;
  fs::create_symlink("real", folder / "link");
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = content(pipe); });
  for (const std::string& target : {std::string(folder / "link"), pipe}) {
    auto file = OutputByName::create(target);
    ASSERT_TRUE(file.ok()) << file.error().text();
    put(file->path(), "all");
    ASSERT_TRUE(file->commit().ok());
  }
  reader.join();
  EXPECT_EQ(got, "all");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "real"), "all");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(OutputSet, LeavesForeignFilesAlone) {
  const TemporaryDirectory folder;
  const fs::path target = folder / "dir";
  put(target / "old.db", "old");
  put(target / "both.db", "old");
  put(target / "notes.txt", "mine");
  auto refused = OutputSet::directory(target, {.owns = is_data, .force = false, .source = {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::usage);
  EXPECT_NE(refused.error().text().find("notes.txt"), std::string::npos);
  {
    auto set = OutputSet::directory(target, {.owns = is_data, .force = true, .source = {}});
    ASSERT_TRUE(set.ok()) << set.error().text();
    ASSERT_TRUE(write_file(set->path() / "both.db", "new").ok());
    put(set->path() / "sub/new.db", "new");
    EXPECT_EQ(content(target / "both.db"), "old");
    ASSERT_TRUE(set->commit().ok());
  }
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"dir/both.db", "dir/notes.txt", "dir/sub/new.db"}));
  EXPECT_EQ(content(target / "both.db"), "new");
  EXPECT_EQ(content(target / "notes.txt"), "mine");
}

TEST(OutputSet, NewDirectoryAppearsWhole) {
  const TemporaryDirectory folder;
  {
    auto set = OutputSet::directory(folder / "dir/", {});
    ASSERT_TRUE(set.ok());
    ASSERT_TRUE(write_file(set->path() / "a", "1").ok());
    EXPECT_FALSE(fs::exists(folder / "dir"));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  {
    auto set = OutputSet::directory(folder / "dir/", {});
    ASSERT_TRUE(set.ok());
    ASSERT_TRUE(write_file(set->path() / "a", "1").ok());
    ASSERT_TRUE(set->commit().ok());
  }
  EXPECT_EQ(files_in(folder.path()), std::set<std::string>{"dir/a"});
}

TEST(OutputSet, RefusesToWriteIntoWhatItReads) {
  const TemporaryDirectory folder;
  put(folder / "db/meta.db", "x");
  const auto inside = OutputSet::directory(folder / "db/copy", {.owns = {}, .force = true, .source = folder / "db"});
  ASSERT_FALSE(inside.ok());
  EXPECT_EQ(inside.error().kind(), ErrorKind::usage);
  EXPECT_TRUE(OutputSet::directory(folder / "copy", {.owns = {}, .force = true, .source = folder / "db"}).ok());
  const auto same = OutputSet::directory(folder / "db/.", {.owns = {}, .force = true, .source = folder / "db"});
  ASSERT_FALSE(same.ok());
  EXPECT_NE(same.error().text().find("is being read"), std::string::npos);
  fs::create_directory_symlink("db", folder / "link");
  EXPECT_FALSE(OutputSet::directory(folder / "link/copy", {.owns = {}, .force = true, .source = folder / "db"}).ok());
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"db/meta.db", "link"}));
}

TEST(OutputSet, AFailedCommitUndoesWhatItDid) {
  const TemporaryDirectory folder;
  put(folder / "run-0.bin", "old 0");
  put(folder / "run-1.bin", "old 1");
  fs::create_directory(folder / "run-2.bin");  // cannot be replaced by a file
  {
    auto set = OutputSet::beside(folder / "run", {});
    ASSERT_TRUE(set.ok());
    for (const char* name : {"run-0.bin", "run-1.bin", "run-2.bin", "run.meta"}) {
      ASSERT_TRUE(write_file(set->path() / name, "new").ok());
    }
    const auto status = set->commit();
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("run-2.bin"), std::string::npos);
  }
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"run-0.bin", "run-1.bin"}));
  EXPECT_EQ(content(folder / "run-0.bin"), "old 0");
  EXPECT_EQ(content(folder / "run-1.bin"), "old 1");
}

TEST(OutputSet, RemovesWhatAnOlderSetHadMore) {
  const TemporaryDirectory folder;
  put(folder / "run-7.bin", "old");
  put(folder / "other-7.bin", "mine");
  auto set = OutputSet::beside(folder / "run", [](const fs::path& file) { return file.string().starts_with("run-"); });
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE(write_file(set->path() / "run-0.bin", "new").ok());
  ASSERT_TRUE(set->commit().ok());
  EXPECT_FALSE(fs::exists(folder / "run-7.bin"));
  EXPECT_EQ(content(folder / "other-7.bin"), "mine");
}

// A commit that was killed: before all old files were out of the way it is undone, afterwards finished.
TEST(OutputSet, AKilledCommitIsUndoneOrFinishedByTheNext) {
  const TemporaryDirectory folder;
  const fs::path staging = folder / ".run.fathom-abc123";
  put(staging / "fathom.new/run-0.bin", "new 0");
  put(staging / "fathom.new/run-1.bin", "new 1");
  put(staging / "fathom.old/run-0.bin", "old 0");
  put(folder / "run-1.bin", "old 1");
  remove_left_behind(folder.path(), "run");
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"run-0.bin", "run-1.bin"}));
  EXPECT_EQ(content(folder / "run-0.bin"), "old 0");

  put(staging / "fathom.new/run-1.bin", "new 1");
  put(staging / "fathom.old/run-0.bin", "old 0");
  put(staging / "fathom.old/run-1.bin", "old 1");
  put(staging / "fathom.moved", "");
  put(folder / "run-0.bin", "new 0");
  fs::remove(folder / "run-1.bin");
  remove_left_behind(folder.path(), "run");
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"run-0.bin", "run-1.bin"}));
  EXPECT_EQ(content(folder / "run-0.bin"), "new 0");
  EXPECT_EQ(content(folder / "run-1.bin"), "new 1");
}

// Many at once, of one name: what one has just made is nothing left behind for the others.
TEST(TemporaryFolder, OthersOfTheNameDoNotTakeItAway) {
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&failed] {
      for (int i = 0; i < 500; ++i) {
        const auto made = TemporaryFolder::make("others");
        if (!made || !std::filesystem::exists((*made)->path())) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

TEST(OutputSet, ErrorsNameTheFinalPlace) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "there");
  for (const char* name : {"there", "new"}) {
    auto set = OutputSet::directory(folder / name, {});
    ASSERT_TRUE(set.ok());
    const auto failed = write_file(set->path() / "no/such/folder", "x");
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().place().file, (folder / name).string() + "/no/such/folder");
  }
}

TEST(OutputSet, NeedsAPlaceForFiles) {
  EXPECT_FALSE(OutputSet::beside("/dev/full", {}).ok());
  EXPECT_FALSE(OutputSet::beside("-", {}).ok());
  EXPECT_FALSE(OutputSet::directory("/dev/null", {}).ok());
}

}  // namespace
}  // namespace fathom
