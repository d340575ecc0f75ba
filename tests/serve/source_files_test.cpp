#include "serve/source_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_directory.hpp"

namespace fathom::serve {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "text\n";
}

TEST(SourceFiles, OnlyBelowFoldersThatWereChosen) {
  const TemporaryDirectory temporary;
  const fs::path home = temporary.path();
  write(home / "database/src/app/solve.c");
  write(home / "database/meta.db");
  write(home / "sources/lib/fast.c");
  write(home / "secret.txt");
  fs::create_symlink(home / "secret.txt", home / "database/src/link.c");
  fs::create_directory_symlink(home, home / "database/src/out");
  const SourceFiles files(home / "database", {home / "sources"});
  // By the whole path, by the end of it, from either folder.
  EXPECT_EQ(files.find("app/solve.c"), fs::canonical(home / "database/src/app/solve.c"));
  EXPECT_EQ(files.find("/home/jane/app/solve.c"), fs::canonical(home / "database/src/app/solve.c"));
  EXPECT_EQ(files.find("/usr/src/lib/fast.c"), fs::canonical(home / "sources/lib/fast.c"));
  // Not what lies elsewhere, whatever the way.
  for (const std::string& name :
       {std::string("../secret.txt"), (home / "secret.txt").string(), std::string("link.c"),
        std::string("out/secret.txt"), std::string("app/../../../secret.txt"), std::string("/etc/passwd"),
        std::string("app"), std::string(), std::string("app/solve.c\0x", 13)}) {
    EXPECT_EQ(files.find(name), std::nullopt) << name;
  }
  // Of a dataset that is one file nothing is shown unasked: what lies beside it is none of its business.
  const SourceFiles beside(home / "database/meta.db", {});
  EXPECT_EQ(beside.find("src/app/solve.c"), std::nullopt);
}

}  // namespace
}  // namespace fathom::serve
