// A record of every function with everything it can have: read, dumped, read back from the text, written again.
#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/text_reader.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "io/file.hpp"

namespace fathom::dumpi {
namespace {

// How full the arguments are.
enum class Fill { nothing, root, not_root };

Arguments arguments_of(const Function& function, Fill fill) {
  Arguments arguments;
  if (fill == Fill::nothing) return arguments;
  std::int64_t next = function.id % 5;
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    const auto number = [&]() -> std::int64_t {
      ++next;
      return argument.type == Type::i64 ? -(next << 40) : next % 3 == 0 && wire_signed(argument.type) ? -next : next;
    };
    Value value;
    if (argument.type == Type::status) {
      value = statuses({Status{static_cast<std::int32_t>(number()), -1, 7, 1, -3}});
      // Arrays that share a length have three entries each.
      if (argument.shape == Shape::array) value.statuses.insert(value.statuses.end(), 2, Status{8, 2, -1, 0, 15});
    } else if (argument.shape == Shape::array) {
      value = list({number(), number(), number()});
    } else if (argument.shape == Shape::triples) {
      value = list({0, 4, 2, 9, 5, -1});
    } else if (argument.shape == Shape::list_of_lists) {
      value.lists = {{"a", "b c"}, {"d"}, {}};
    } else if (argument.shape != Shape::scalar) {
      // Lists without separators cannot hold quotes: their end could not be told.
      value = texts({"./program", "-x", argument.shape == Shape::open_list ? "say hi" : "say \"hi\""});
    } else if (argument.type == Type::str) {
      value = text("a \"quoted\" text, with = and\na second line");
    } else {
      value = number();
    }
    arguments.emplace_back(argument.name, value);
  }
  // Arrays say how long they are; conditions hold or do not.
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    if (argument.only_if >= 0) {
      arguments[static_cast<std::size_t>(argument.only_if)].second = 1;
      arguments[static_cast<std::size_t>(argument.equals)].second = fill == Fill::root ? 1 : 2;
    }
    if (argument.length < 0) continue;
    const Value& value = arguments[i].second;
    arguments[static_cast<std::size_t>(argument.length)].second =
        argument.shape == Shape::triples                                            ? value.numbers.size() / 3
        : argument.type == Type::status                                             ? value.statuses.size()
        : !value.numbers.empty()                                                    ? value.numbers.size()
        : argument.shape != Shape::scalar && argument.shape != Shape::list_of_lists ? value.lists[0].size()
        : argument.shape == Shape::list_of_lists                                    ? value.lists.size()
                                                                                    : value.lists[0][0].size();
  }
  return arguments;
}

void fill(TraceMaker& maker) {
  for (const Function& function : functions()) {
    if (function.id == kAllFunctions) continue;
    for (const Fill how : {Fill::nothing, Fill::root, Fill::not_root}) {
      maker.thread(static_cast<std::uint16_t>(function.id % 3)).call(function.name, arguments_of(function, how));
    }
  }
}

struct Read {
  std::shared_ptr<File> file;
  ScanResult scan;
  std::string text;
};

Read read(const std::string& bytes) {
  setenv("TZ", "UTC", 1);
  tzset();
  const Work work = make_work();
  Read found;
  auto file = File::open(Blob::own("made.bin", bytes), work);
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().text());
  if (!file.ok()) return found;
  found.file = std::make_shared<File>(*std::move(file));
  auto scanned = scan(*found.file, work);
  EXPECT_TRUE(scanned.ok());
  found.scan = *scanned;
  EXPECT_FALSE(found.scan.damage.has_value()) << found.scan.damage->text();
  EXPECT_TRUE(dump(*found.file, found.scan, {}, [&](std::string_view part) {
                found.text += part;
                return true;
              }).ok());
  return found;
}

std::string from_text(const std::string& text) {
  auto binary = binary_of_text(Blob::own("made.txt", text), make_work());
  EXPECT_TRUE(binary.ok()) << (binary.ok() ? "" : binary.error().text());
  return binary.ok() ? std::string(binary->text()) : std::string();
}

// Where two texts differ first, with what is around it.
std::string difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const std::size_t from = at < 80 ? 0 : at - 80;
  return at == a.size() && at == b.size() ? "" : a.substr(from, 160) + "\n<<< >>>\n" + b.substr(from, 160);
}

TEST(DumpiRoundTrip, EveryFunctionThroughTextAndBack) {
  TraceMaker maker;
  maker.sections.sizes = {0, 0, 1, 1, 1, 1, 4, 2, 2, 4};
  maker.sections.addresses = {{4096, "ANNOTATION: a \"label\""}, {0xFFFFFFFF12345678, "main"}};
  fill(maker);
  const std::string bytes = maker.finish();
  const Read first = read(bytes);
  ASSERT_NE(first.file, nullptr);
  EXPECT_EQ(first.scan.records, maker.records());
  for (const Function& function : functions()) {
    EXPECT_EQ(first.scan.per_function[function.id], function.id == kAllFunctions ? 0U : 3U) << function.name;
  }
  const std::string again = from_text(first.text);
  EXPECT_EQ(difference(first.text, read(again).text), "");
  EXPECT_TRUE(again == bytes) << "the bytes differ";
}

TEST(DumpiRoundTrip, CountersAndMeshThroughTextAndBack) {
  TraceMaker maker;
  maker.sections.header.mesh_position = {1, 2, 3};
  maker.sections.header.mesh_size = {4, 4, 4};
  maker.sections.counters = {"PAPI_TOT_CYC", "PAPI_L1_DCM"};
  maker.counters({{1, -2}, {1LL << 60, (1LL << 60) + 5}});
  fill(maker);
  const std::string bytes = maker.finish();
  const Read first = read(bytes);
  EXPECT_TRUE(from_text(first.text) == bytes);
}

TEST(DumpiRoundTrip, OtherMasksReadTheSame) {
  for (const int bits : {0x40, 0x44, 0x48, 0x4C, 0x43, 0x4F, 0x00, 0x0F, 0x41}) {
    TraceMaker maker;
    maker.mask(static_cast<std::uint8_t>(bits));
    fill(maker);
    const Read first = read(maker.finish());
    ASSERT_NE(first.file, nullptr) << bits;
    EXPECT_EQ(first.scan.records, maker.records());
    EXPECT_EQ(difference(first.text, read(from_text(first.text)).text), "") << bits;
  }
}

// Rules of old versions: other records, indexes that lack the newest entries.
TEST(DumpiRoundTrip, OldVersions) {
  struct Old {
    std::array<std::uint8_t, 3> version;
    int index_entries;
  };
  for (const Old old : {Old{{0, 4, 9}, 4},
                        {{0, 6, 1}, 6},
                        {{0, 6, 2}, 6},
                        {{0, 6, 5}, 6},
                        {{0, 6, 7}, 7},
                        {{0, 6, 8}, 7},
                        {{1, 1, 0}, 7}}) {
    TraceMaker maker(old.version);
    maker.layout.index_entries = old.index_entries;
    maker.layout.order = {Section::header, Section::footer, Section::keyvals};
    if (old.index_entries >= 5) maker.layout.order.push_back(Section::counters);
    if (old.index_entries >= 6) maker.layout.order.push_back(Section::addresses);
    if (old.index_entries >= 7) maker.layout.order.push_back(Section::sizes);
    fill(maker);
    const std::string bytes = maker.finish();
    const Read first = read(bytes);
    ASSERT_NE(first.file, nullptr);
    EXPECT_EQ(first.scan.records, maker.records());
    EXPECT_EQ(first.file->layout().index_entries, old.index_entries);
    EXPECT_EQ(difference(first.text, read(from_text(first.text)).text), "") << int{old.version[2]};
    const auto target = std::filesystem::path(::testing::TempDir()) / "dumpi_old_version.bin";
    ASSERT_TRUE(rewrite_file(*first.file, first.scan, Filter{}, target).ok());
    auto written = map_file(target);
    ASSERT_TRUE(written.ok());
    EXPECT_TRUE(written->text() == bytes) << int{old.version[2]};
  }
}

TEST(DumpiRoundTrip, NothingActiveKeepsItsRawCount) {
  TraceMaker maker;
  maker.call("MPI_Testsome", {{"requests", list({1, 1})}, {"outcount", -32766}});
  const std::string bytes = maker.finish();
  const Read first = read(bytes);
  EXPECT_NE(first.text.find("int outcount=0\nint indices[0]=<IGNORED>"), std::string::npos) << first.text;
  const auto target = std::filesystem::path(::testing::TempDir()) / "dumpi_undefined.bin";
  ASSERT_TRUE(rewrite_file(*first.file, first.scan, Filter{}, target).ok());
  EXPECT_TRUE(map_file(target)->text() == bytes);
}

}  // namespace
}  // namespace fathom::dumpi
