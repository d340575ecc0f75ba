// tar, gzip and safe output together: what is written is read back, damage is named.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "io/file.hpp"
#include "io/inflate.hpp"
#include "io/output_file.hpp"
#include "io/tar.hpp"
#include "io/unpack.hpp"
#include "io/zip.hpp"
#include "temporary_directory.hpp"
#include "zstd_bytes.hpp"

namespace fathom {
namespace {

std::string random_text(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 4);
  return text;
}

Blob make_tar(const TemporaryDirectory& dir, const std::vector<std::pair<std::string, std::string>>& members,
              TarPadding padding) {
  auto out = OutputFile::create(dir / "t.tar");
  TarWriter writer(*out, padding);
  for (const auto& [name, text] : members) writer.add(name, as_bytes(text));
  writer.finish();
  EXPECT_TRUE(out->commit().ok());
  return *map_file(dir / "t.tar");
}

TEST(Tar, ReadsBackWhatItWrites) {
  const TemporaryDirectory dir;
  const std::vector<std::pair<std::string, std::string>> members = {{"small", "x"},
                                                                    {"block", random_text(512, 1)},
                                                                    {"two blocks", random_text(1024, 2)},
                                                                    {std::string(150, 'n'), "long name"},
                                                                    {"last", random_text(700, 3)}};
  for (const TarPadding padding : {TarPadding::standard, TarPadding::slack_block}) {
    const auto archive = TarArchive::read(make_tar(dir, members, padding), make_work(true));
    ASSERT_TRUE(archive.ok()) << archive.error().text();
    for (const auto& [name, text] : members) {
      const TarMember* member = archive->find(name);
      ASSERT_NE(member, nullptr) << name;
      EXPECT_EQ(member->content.text(), text);
    }
  }
}

TEST(Tar, AnnouncesHugeMembersOnlyWhenTheyAre) {
  const TemporaryDirectory dir;
  auto out = OutputFile::create(dir / "t.tar");
  TarWriter writer(*out, TarPadding::slack_block);
  writer.begin("data", std::uint64_t{1} << 40);
  writer.write(as_bytes("hello"));
  writer.end();
  writer.finish();
  ASSERT_TRUE(out->commit().ok());
  const auto archive = TarArchive::read(*map_file(dir / "t.tar"), make_work(true));
  ASSERT_TRUE(archive.ok()) << archive.error().text();
  EXPECT_EQ(archive->find("data")->content.text(), "hello");
}

TEST(Tar, EveryTruncationIsNamedOrHarmless) {
  const TemporaryDirectory dir;
  const Blob whole = make_tar(dir, {{"a", "first"}, {"b", random_text(600, 4)}}, TarPadding::standard);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto archive = TarArchive::read(whole.part(0, size), make_work());
    if (!archive.ok()) {
      EXPECT_TRUE(archive.error().place().offset.has_value()) << size;
      continue;
    }
    for (const TarMember& member : archive->members()) EXPECT_LE(member.content.size(), size);
  }
}

TEST(Gzip, RoundTripsAndMembersJoin) {
  const std::string text = random_text(100000, 5);
  auto packed = gzip(as_bytes(text), 6);
  const auto more = gzip(as_bytes("tail"), 6);
  packed.insert(packed.end(), more.begin(), more.end());
  const auto work = make_work();
  const auto blob = gunzip(Blob::own("f.gz", std::move(packed)), work, 1 << 20);
  ASSERT_TRUE(blob.ok()) << blob.error().text();
  EXPECT_EQ(blob->text(), text + "tail");
}

TEST(Gzip, IsBounded) {
  const auto packed = Blob::own("bomb.gz", gzip(as_bytes(std::string(1 << 22, ' ')), 9));
  const auto too_large = gunzip(packed, make_work(), 1 << 20);
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().what(), "unpacks to more than 1048576 bytes");
  EXPECT_FALSE(gunzip(packed, make_work(false, 1 << 20), 1 << 30).ok());
}

// What takes more than a quarter of the memory is in a temporary file, with the same bytes.
TEST(Gzip, LargeFilesGoToTheDisk) {
  const std::string text = random_text(3 << 20, 5);
  const auto packed = gzip(as_bytes(text), 1);
  constexpr std::uint64_t kBudget = 4 << 20;
  const auto work = make_work(false, kBudget);
  const auto blob = unpack(Blob::own("f.gz", packed), work);
  ASSERT_TRUE(blob.ok()) << blob.error().text();
  EXPECT_TRUE(blob->text() == text);
  EXPECT_EQ(work->budget.used(), 0U);
  const auto small = unpack(Blob::own("f.gz", gzip(as_bytes(text.substr(0, 1000)), 1)), work);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->text(), text.substr(0, 1000));
  EXPECT_GE(work->budget.used(), 1000U);

  const std::vector<std::byte> cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(packed.size() / 2));
  const auto half = unpack(Blob::own("f.gz", cut), work);
  ASSERT_TRUE(half.ok());
  EXPECT_TRUE(text.starts_with(half->text()));
  EXPECT_EQ(work->diagnostics.all().size(), 1U);

  const auto bomb = unpack(Blob::own("f.gz", gzip(as_bytes(std::string(8 << 20, ' ')), 9)), work);
  ASSERT_FALSE(bomb.ok());
  EXPECT_NE(bomb.error().what().find("more than 200 times"), std::string::npos);
}

// An archive of one packed member that says how large it is; what it holds cannot be unpacked unless it is given.
std::string zip_that_says(std::uint32_t size, const std::string& content = std::string(16, '\xFF'),
                          std::uint32_t checksum = 0) {
  std::string out;
  const auto put = [&](std::uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  };
  const auto member = [&] {  // what stands in front of the member and in the directory alike
    for (const std::uint32_t value : {20U, 0U, 8U, 0U, 0x21U}) put(value, 2);
    for (const std::size_t value : {std::size_t{checksum}, content.size(), std::size_t{size}}) {
      put(static_cast<std::uint32_t>(value), 4);
    }
    put(1, 2);
    put(0, 2);
  };
  put(0x04034B50, 4);
  member();
  out += "a" + content;
  const std::size_t directory = out.size();
  put(0x02014B50, 4);
  put(20, 2);
  member();
  for (const std::size_t bytes : {2, 2, 2, 4, 4}) put(0, bytes);
  out += 'a';
  const std::size_t end = out.size();
  put(0x06054B50, 4);
  for (const std::uint32_t value : {0U, 0U, 1U, 1U}) put(value, 2);
  put(static_cast<std::uint32_t>(end - directory), 4);
  put(static_cast<std::uint32_t>(directory), 4);
  put(0, 2);
  return out;
}

TEST(Zip, AMemberThatSaysThatItIsABombIsNotUnpacked) {
  const auto refusal = [](std::uint32_t size) {
    const auto reader = ZipReader::open(Blob::own("f.zip", zip_that_says(size)));
    if (!reader.ok()) return reader.error().text();
    const auto member = reader->read("a", make_work());
    return member.ok() ? std::string() : member.error().text();
  };
  EXPECT_NE(refusal(1000).find("damaged"), std::string::npos) << refusal(1000);
  EXPECT_NE(refusal(1U << 30).find("more than 200 times"), std::string::npos) << refusal(1U << 30);
}

// The last piece counts as well: it is as large as all before it.
TEST(Zip, AMemberThatHidesThatItIsABombIsRefusedWhenItIsUnpacked) {
  const auto gzipped = gzip(as_bytes(std::string(70 << 20, ' ')), 1);
  const std::string packed(reinterpret_cast<const char*>(gzipped.data()), gzipped.size());
  std::uint32_t checksum = 0;
  std::memcpy(&checksum, packed.data() + packed.size() - 8, 4);
  const std::string content = packed.substr(10, packed.size() - 18);  // without the header and the end of gzip
  const auto reader = ZipReader::open(Blob::own("f.zip", zip_that_says(1000, content, checksum)));
  ASSERT_TRUE(reader.ok());
  const auto member = reader->read("a", make_work());
  ASSERT_FALSE(member.ok());
  EXPECT_NE(member.error().text().find("more than 200 times"), std::string::npos) << member.error().text();
}

TEST(Gzip, GivesWhatComesBeforeTheDamage) {
  const std::string text = random_text(100000, 6);
  const auto packed = gzip(as_bytes(text), 6);
  const std::vector<std::byte> cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(packed.size() / 2));
  const auto work = make_work();
  const auto blob = gunzip(Blob::own("f", cut), work, 1 << 20);
  ASSERT_TRUE(blob.ok()) << blob.error().text();
  const auto got = as_text(blob->bytes());
  EXPECT_GT(got.size(), text.size() / 3);
  EXPECT_LT(got.size(), text.size());
  EXPECT_TRUE(text.starts_with(got));
  const auto noted = work->diagnostics.all();
  ASSERT_EQ(noted.size(), 1U);
  EXPECT_EQ(noted[0].severity, Severity::data_loss);
  EXPECT_EQ(noted[0].place.offset, cut.size());
  EXPECT_NE(noted[0].text.find("gzip data end too early"), std::string::npos);

  const auto refused = gunzip(Blob::own("f", cut), make_work(true), 1 << 20);
  ASSERT_FALSE(refused.ok()) << "strict";
  const auto pieces = gunzip_pieces(Blob::own("f", cut), 1 << 20, [](Bytes) -> Result<void> { return {}; });
  ASSERT_FALSE(pieces.ok());
  EXPECT_EQ(pieces.error().what(), "gzip data end too early");
}

TEST(Zstd, IsBoundedAndToldWhereItIsDamaged) {
  const std::string text = random_text(500000, 9);
  const std::string packed = test::zstd(text);
  const auto whole = gunzip(Blob::own("f.zst", packed + test::zstd("tail")), make_work(), 1 << 20);
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  EXPECT_TRUE(whole->text() == text + "tail");

  const auto work = make_work();
  const auto cut = gunzip(Blob::own("f.zst", packed.substr(0, packed.size() / 2)), work, 1 << 20);
  ASSERT_TRUE(cut.ok()) << cut.error().text();
  EXPECT_GT(cut->size(), 0U);
  EXPECT_TRUE(text.starts_with(cut->text()));
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_NE(work->diagnostics.all()[0].text.find("zstd data end too early"), std::string::npos);

  const auto bomb = Blob::own("bomb.zst", test::zstd(std::string(1 << 22, ' ')));
  const auto too_large = gunzip(bomb, make_work(), 1 << 20);
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().what(), "unpacks to more than 1048576 bytes");
  EXPECT_FALSE(gunzip(bomb, make_work(false, 1 << 20), 1 << 30).ok());
  const auto on_disk = unpack(bomb, make_work(false, 1 << 22));
  ASSERT_FALSE(on_disk.ok());
  EXPECT_NE(on_disk.error().what().find("more than 200 times"), std::string::npos);

  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = test::zstd(text.substr(0, 5000));
    damaged[4 + random() % (damaged.size() - 4)] ^= static_cast<char>(1 << random() % 8);
    (void)gunzip(Blob::own("f.zst", damaged), make_work(), 1 << 20);
  }
}

TEST(Zstd, FilesAreOpenedAsTheyAre) {
  const TemporaryDirectory dir;
  auto out = OutputFile::create(dir / "f.zst");
  out->write(test::zstd("a;b 1\n"));
  ASSERT_TRUE(out->commit().ok());
  const auto blob = open_file(dir / "f.zst", make_work());
  ASSERT_TRUE(blob.ok()) << blob.error().text();
  EXPECT_EQ(blob->text(), "a;b 1\n");
}

TEST(Gzip, IsRefusedWhereNothingIsSound) {
  auto packed = gzip(as_bytes(random_text(10000, 6)), 6);
  const std::vector<std::byte> header(packed.begin(), packed.begin() + 10);
  const auto nothing = gunzip(Blob::own("f", header), make_work(), 1 << 20);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().text(), "f:0xa: gzip data end too early");
  packed[10] = std::byte{0xFF};  // a block type that does not exist
  EXPECT_FALSE(gunzip(Blob::own("f", packed), make_work(), 1 << 20).ok());
}

TEST(Inflate, FillsExactly) {
  const std::string text = random_text(1000, 7);
  const auto packed = deflate_zlib(as_bytes(text), 6);
  std::vector<std::byte> out(text.size());
  ASSERT_TRUE(inflate_exact(packed, out).ok());
  EXPECT_EQ(as_text(out), text);
  std::vector<std::byte> longer(text.size() + 1);
  EXPECT_FALSE(inflate_exact(packed, longer).ok());
  std::vector<std::byte> shorter(text.size() - 1);
  EXPECT_FALSE(inflate_exact(packed, shorter).ok());
}

TEST(OutputFile, LeavesTheOldFileUntilCommitted) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(write_file(dir / "f", "old").ok());
  {
    auto file = OutputFile::create(dir / "f");
    ASSERT_TRUE(file.ok());
    file->write(std::string_view("half"));
  }
  EXPECT_EQ(map_file(dir / "f")->text(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
  ASSERT_TRUE(write_file(dir / "f", "new").ok());
  EXPECT_EQ(map_file(dir / "f")->text(), "new");
}

TEST(OutputFile, SaysWhyNot) {
  const TemporaryDirectory dir;
  const auto file = OutputFile::create(dir / "missing/f");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().text().find("No such file or directory"), std::string::npos);
  EXPECT_FALSE(OutputFile::create(dir.path()).ok());
}

TEST(MapFile, SaysWhyNot) {
  const TemporaryDirectory dir;
  EXPECT_EQ(map_file(dir / "none").error().kind(), ErrorKind::usage);
  EXPECT_FALSE(map_file(dir.path()).ok());
  ASSERT_TRUE(write_file(dir / "empty", "").ok());
  EXPECT_EQ(map_file(dir / "empty")->size(), 0U);
}

}  // namespace
}  // namespace fathom
