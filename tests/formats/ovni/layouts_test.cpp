// Metadata and the layouts of all versions: what is read, and what moving from one to another keeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/ovni/dump.hpp"
#include "formats/ovni/metadata.hpp"
#include "formats/ovni/trace_writer.hpp"
#include "made_trace.hpp"
#include "ovni_cases.hpp"

namespace fathom::ovni {
namespace {

TEST(OvniLayouts, MetadataSurvivesWriting) {
  const Metadata before = made_metadata();
  auto after = read_stream_metadata(Blob::own("stream.json", to_stream_json(before)));
  ASSERT_TRUE(after.ok()) << after.error().text();
  EXPECT_EQ(to_stream_json(*after), to_stream_json(before));
  EXPECT_NE(to_stream_json(before).find("none\\/here"), std::string::npos);
  auto commented = read_stream_metadata(Blob::own("stream.json", std::string("{ // a\n \"version\": 3 /* b */ }")));
  EXPECT_TRUE(commented.ok());
  auto broken = read_stream_metadata(Blob::own("stream.json", std::string("{\"version\": 3,,}")));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().place().offset, 14U);
}

TEST(OvniLayouts, RewritesAndMovesToVersion3) {
  TemporaryDirectory scratch;
  const auto old = scratch.path() / "old/loom.node.1/proc.10";
  std::filesystem::create_directories(old);
  std::ofstream(old / "metadata.json") << R"({"version": 1, "app_id": 1, "cpus": [{"index": 0, "phyid": 4}]})";
  std::ofstream(old / "thread.11", std::ios::binary) << made_stream().substr(8);
  const Work work = make_work();
  auto trace = open_native(scratch.path() / "old", work);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(trace->layout, Layout::v1_a);
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "same", Layout::v1_a, work).ok());
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "new", Layout::v3, work).ok());
  EXPECT_EQ(expected_text(scratch.path() / "same/loom.node.1/proc.10/thread.11"), made_stream().substr(8));
  auto moved = open_native(scratch.path() / "new", work);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_EQ(moved->layout, Layout::v3);
  EXPECT_EQ(dump_text(*moved, DumpForm::raw, work), dump_text(*trace, DumpForm::raw, work));
  // Over an older trace it may be written again; what is not of a trace is in the way unless forced, and stays then.
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "new", Layout::v3, work).ok());
  std::ofstream(scratch.path() / "new/notes.txt") << "mine";
  EXPECT_FALSE(write_trace(*trace, scratch.path() / "new", Layout::v3, work).ok());
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "new", Layout::v3, work, true).ok());
  EXPECT_EQ(expected_text(scratch.path() / "new/notes.txt"), "mine");
  auto again = open_native(scratch.path() / "new", work);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(dump_text(*again, DumpForm::raw, work), dump_text(*trace, DumpForm::raw, work));
}

// Every layout from every other, in both byte orders: the same events, and metadata as far as both can tell them.
TEST(OvniLayouts, AllLayoutsFromAllOthers) {
  constexpr Layout kLayouts[] = {Layout::v1_a, Layout::v1_b, Layout::v1_c, Layout::v2, Layout::v3};
  for (const Endian order : {Endian::little, Endian::big}) {
    TemporaryDirectory scratch;
    StreamBuilder stream(true, order);
    stream.event("OHx", 1000, Payload(order).add(std::int32_t{1}).add(std::int32_t{-1}).add(std::uint64_t{255}));
    stream.jumbo("VYc", 1001, Payload(order).add(std::uint32_t{1}).text("solve"));
    stream.event("OM=", 1002, Payload(order).add(std::int64_t{258}).add(std::int32_t{3}));
    stream.event("OHe", 1050);
    Metadata metadata = made_metadata();
    metadata.rank = 1;
    metadata.nranks = 2;
    write_made(scratch / "v3", stream.bytes(), metadata);
    const Work work = make_work();
    auto first = open_native(scratch / "v3", work);
    ASSERT_TRUE(first.ok());
    const std::string text = dump_text(*first, DumpForm::sentence, work);
    EXPECT_NE(text.find("CPU 1 created from -1 with tag 0xff\n"), std::string::npos) << text;
    for (const Layout layout : kLayouts) {
      if (layout == Layout::v3) continue;
      const auto from = scratch / std::string(to_string(layout));
      ASSERT_TRUE(write_trace(*first, from, layout, work).ok());
      auto old = open_native(from, work);
      ASSERT_TRUE(old.ok()) << old.error().text();
      EXPECT_EQ(old->layout, layout);
      EXPECT_EQ(old->streams[0].order, order);
      EXPECT_EQ(dump_text(*old, DumpForm::sentence, work), text) << to_string(layout);
      EXPECT_EQ(old->streams[0].metadata.rank, 1);
      EXPECT_EQ(old->streams[0].metadata.cpus->size(), 2U);
      EXPECT_EQ(old->streams[0].metadata.model_version,
                layout == Layout::v1_b || layout == Layout::v1_c ? "O1 V2 M1" : "");
      EXPECT_EQ(old->streams[0].metadata.marks.size(), layout == Layout::v2 ? 1U : 0U);
      for (const Layout next : kLayouts) {
        const auto to = scratch / (std::string(to_string(layout)) + "-" + std::string(to_string(next)));
        ASSERT_TRUE(write_trace(*old, to, next, work).ok());
        auto again = open_native(to, work);
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_EQ(again->layout, next);
        EXPECT_EQ(dump_text(*again, DumpForm::sentence, work), text) << to_string(layout) << " " << to_string(next);
      }
    }
    EXPECT_TRUE(work->diagnostics.defective());  // marks have no place in version 1
  }
}

// A trace that was put together from two disks; a link that leads back is no second way in.
TEST(OvniLayouts, LinksToDirectoriesAreFollowedOnce) {
  namespace fs = std::filesystem;
  TemporaryDirectory scratch;
  const fs::path root = scratch.path() / "trace";
  write_made(scratch.path() / "disk", made_stream(), made_metadata());
  fs::create_directories(root);
  fs::create_directory_symlink(scratch.path() / "disk/loom.node.1", root / "loom.node.1");
  fs::create_directory_symlink(root, root / "again");
  EXPECT_TRUE(looks_like_trace(root));
  const Work work = make_work();
  const auto trace = open_native(root, work);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->streams.size(), 1U);
  EXPECT_EQ(trace->streams[0].path, "loom.node.1/proc.10/thread.11");
  EXPECT_FALSE(work->diagnostics.defective());
}

TEST(OvniLayouts, StreamsOfTwoLayoutsAreTold) {
  TemporaryDirectory scratch;
  const auto old = scratch.path() / "loom.other/proc.5";
  std::filesystem::create_directories(old);
  std::ofstream(old / "metadata.json") << R"({"version": 1, "app_id": 1})";
  std::ofstream(old / "thread.6.obs") << made_stream();
  const Work work = make_work();
  const auto trace = open_native(write_made(scratch.path()), work);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->streams.size(), 1U);
  EXPECT_TRUE(work->diagnostics.defective());
}

// ovni_attr_set: what a program says of itself goes along to a layout that has a place for it.
TEST(OvniLayouts, AttributesOfProgramsGoAlong) {
  TemporaryDirectory scratch;
  const auto root = write_made(scratch.path() / "in");
  const auto file = root / "loom.node.1/proc.10/thread.11/stream.json";
  auto json = read_json(file);
  json["app"] = {{"name", "solver"}, {"size", 10}};
  json["nosv"]["cpumask"] = "0xff";
  std::ofstream(file) << json.dump();
  const auto trace = open_native(root, make_work());
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "old", Layout::v2, make_work()).ok());
  const auto old = open_native(scratch.path() / "old", make_work());
  ASSERT_TRUE(old.ok());
  ASSERT_TRUE(write_trace(*old, scratch.path() / "new", Layout::v3, make_work()).ok());
  const auto again = read_json(scratch.path() / "new/loom.node.1/proc.10/thread.11/stream.json");
  EXPECT_EQ(again["app"], json["app"]);
  EXPECT_EQ(again["nosv"]["cpumask"], "0xff");
  const Work work = make_work();
  ASSERT_TRUE(write_trace(*trace, scratch.path() / "oldest", Layout::v1_c, work).ok());
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  const std::string lost = work->diagnostics.all()[0].text;
  for (const char* what : {"marks", "attributes", "the library's version"}) {
    EXPECT_NE(lost.find(what), std::string::npos) << lost;
  }
  EXPECT_EQ(lost.find("counters"), std::string::npos) << lost;
}

// Documents as no program writes them: neither do nested ones overflow the stack, nor does every key cost as much as
// all before it.
TEST(OvniLayouts, MetadataOfAnyShapeIsRead) {
  const auto read = [](const std::string& more) {
    return read_stream_metadata(
        Blob::own("stream.json", R"({"version": 3, "ovni": {"part": "thread", "tid": 11}, )" + more + "}"));
  };
  const auto nested = [](std::size_t depth) { return R"("x": )" + std::string(depth, '[') + std::string(depth, ']'); };
  const auto deep = read(nested(400));
  ASSERT_TRUE(deep.ok());
  EXPECT_EQ(nlohmann::json::parse(deep->attributes)["x"], nlohmann::json::parse("{" + nested(400) + "}")["x"]);
  const auto too_deep = read(nested(200'000));
  ASSERT_FALSE(too_deep.ok());
  EXPECT_NE(too_deep.error().text().find("nested more than"), std::string::npos);

  constexpr int kKeys = 150'000;
  std::string keys = R"("ovni.": 0)";
  for (int i = 0; i < kKeys; ++i) keys += fmt::format(R"(, "k{}": {})", i, i);
  const auto many = read(keys + R"(, "k7": "again")");
  ASSERT_TRUE(many.ok());
  const auto written = nlohmann::json::parse(to_stream_json(*many));
  EXPECT_EQ(written.size(), 3U + kKeys);
  EXPECT_EQ(written["k7"], "again");
  EXPECT_EQ(written["k149999"], 149'999);
  EXPECT_EQ(written["ovni"]["tid"], 11);
}

TEST(OvniLayouts, TwoStreamsOfOneThreadAreNotWrittenOverEachOther) {
  TemporaryDirectory scratch;
  write_made(scratch.path() / "in/a");
  write_made(scratch.path() / "in/b");
  const auto trace = open_native(scratch.path() / "in", make_work());
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->streams.size(), 2U);
  EXPECT_FALSE(write_trace(*trace, scratch.path() / "out", Layout::v2, make_work()).ok());
  EXPECT_TRUE(write_trace(*trace, scratch.path() / "same", Layout::v3, make_work()).ok());
}

}  // namespace
}  // namespace fathom::ovni
