// Features of the format on archives made here, and damage of every kind.
#include "formats/cube/cube_made.hpp"

#include <random>

#include "formats/cube/cube_support.hpp"
#include "formats/cube/text_repair.hpp"

namespace fathom::cube::testing {
namespace {

Result<DatasetPtr> open_bytes(std::string bytes, const Work& work = make_work()) {
  return open_source(Source::of(Blob::own("made.cubex", std::move(bytes))), work);
}

std::vector<std::string> values_of(Dataset& dataset, const std::string& metric, Flavour::Kind kind) {
  std::vector<std::string> out;
  auto profile = dataset.profile();
  const MetricId id = (*profile)->defs().find_metric(metric);
  auto cells = compute(**profile, id, everything(**profile, kind));
  if (!cells.ok()) return {cells.error().text()};
  for (std::size_t r = 0; r < cells->rows(); ++r) {
    for (std::size_t c = 0; c < cells->columns(); ++c) out.push_back(cells->at(r, c).text());
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(CubeMade, ValuesAreWhereTheyBelong) {
  auto dataset = open_bytes(make_tar(small_members()));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  // main, work, leaf, end in document order.
  EXPECT_EQ(values_of(**dataset, "visits", Flavour::Kind::stored), (Texts{"1", "2", "3", "4", "0", "0", "5", "6"}));
  EXPECT_EQ(values_of(**dataset, "visits", Flavour::Kind::inclusive), (Texts{"9", "12", "3", "4", "0", "0", "5", "6"}));
  EXPECT_EQ(values_of(**dataset, "ticks", Flavour::Kind::stored),
            (Texts{"100", "200", "60", "70", "50", "80", "10", "20"}));
  // work has fewer ticks than its child on location 1: clamped, and said so.
  EXPECT_EQ(values_of(**dataset, "ticks", Flavour::Kind::exclusive),
            (Texts{"30", "110", "10", "0", "50", "80", "10", "20"}));
  EXPECT_TRUE((*dataset)->work()->diagnostics.defective());
}

Members with_anchor(const std::string& from, const std::string& to) {
  Members members = small_members();
  std::string& anchor = members[0].second;
  anchor.replace(anchor.find(from), from.size(), to);
  return members;
}

// A derived metric that the file has is one of its metrics.
TEST(CubeMade, CountOfMetrics) {
  auto dataset =
      open_bytes(make_tar(with_anchor("metric::visits() &lt; 2", "${cube::#metrics}+${cube::#root::metrics}")));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ(values_of(**dataset, "d", Flavour::Kind::exclusive).front(), "6");
}

// The official reader takes names byte by byte, whatever encoding the first line speaks of.
TEST(CubeMade, NamesThatAreNoUtf8) {
  const auto name_of = [](const std::string& name, std::vector<std::string>* said = nullptr) {
    auto dataset = open_bytes(make_tar(with_anchor("<name>main</name>", "<name>" + name + "</name>")));
    if (!dataset.ok()) return dataset.error().text();
    for (const Diagnostic& diagnostic : (*dataset)->work()->diagnostics.all()) {
      if (said != nullptr && diagnostic.severity >= Severity::warning) {
        said->push_back(diagnostic.id + " " + std::to_string(diagnostic.count) + " " + diagnostic.place.text());
      }
    }
    return (*(*dataset)->profile())->defs().regions[0].name;
  };
  std::vector<std::string> said;
  EXPECT_EQ(name_of("gr\xFC\xDF\xE9", &said), "gr\u00FC\u00DF\u00E9");
  EXPECT_EQ(said, Texts{"cube.no_utf8 3 made.cubex(anchor.xml):23"});
  said.clear();
  // What is UTF-8 stays so beside what is not.
  EXPECT_EQ(name_of("\u00FC\u20AC\U0001F600\xFC", &said), "\u00FC\u20AC\U0001F600\u00FC");
  EXPECT_EQ(said.size(), 1U);
  said.clear();
  EXPECT_EQ(name_of("a\x01\x1B[31mb", &said), "a??[31mb");
  EXPECT_EQ(said, Texts{"cube.control_character 2 made.cubex(anchor.xml):23"});
  said.clear();
  EXPECT_EQ(name_of("a\xEF\xBF\xBF\xEF\xBF\xBE\xEF\xBF\xBD", &said), "a??\xEF\xBF\xBD");
  EXPECT_EQ(said, Texts{"cube.control_character 2 made.cubex(anchor.xml):23"});
  said.clear();
  EXPECT_EQ(name_of("\u00FC\u20AC", &said), "\u00FC\u20AC");
  EXPECT_TRUE(said.empty());
}

// A character may come in two pieces of a packed document.
TEST(CubeMade, CharactersAcrossPieces) {
  for (std::size_t cut = 0; cut < 12; ++cut) {
    const std::string text = "a\u00FC\u20AC\xFC\xE2\x82";
    std::string out;
    TextRepair repair([&](std::string_view piece) -> Result<void> {
      out += piece;
      return {};
    });
    ASSERT_TRUE(repair.feed(text.substr(0, cut)).ok());
    ASSERT_TRUE(repair.feed(text.substr(std::min(cut, text.size()))).ok());
    ASSERT_TRUE(repair.finish().ok());
    EXPECT_EQ(out, "a\u00FC\u20AC\u00FC\u00E2\u0082");
  }
}

TEST(CubeMade, RewriteKeepsWhatIsNotKnown) {
  auto dataset = open_bytes(make_tar(small_members()));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ScratchFile target("kept.cubex");
  auto done = (*dataset)->rewrite(target.path(), {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  const DatasetPtr again = open_or_fail(target.path());
  ASSERT_NE(again, nullptr);
  const CubeFile& file = dynamic_cast<CubeDataset&>(*again).file();
  const Anchor& anchor = file.anchor();
  EXPECT_EQ(anchor.unknown.attributes, (Attributes{{"colour", "red"}}));
  EXPECT_EQ(anchor.unknown.elements, "<novelty depth=\"1\">text &amp; <inner a=\"&lt;\"></inner></novelty>");
  EXPECT_EQ(anchor.metrics[0].unknown.attributes, (Attributes{{"shade", "dark"}}));
  EXPECT_EQ(anchor.metrics[0].unknown.elements, "<hint>for later</hint>");
  EXPECT_EQ(anchor.details(anchor.cnodes[1]).unknown.elements, "<extra>kept</extra>");
  EXPECT_EQ(anchor.metrics[2].rowwise, "false");
  EXPECT_EQ(anchor.metrics[2].cubepl, "metric::visits() < 2");
  ASSERT_EQ(anchor.metrics[2].cubeplaggr.size(), 2U);
  EXPECT_EQ(anchor.metrics[2].cubeplaggr[1].kind, "aggr");
  EXPECT_EQ(anchor.regions[1].name, "work<int>");
  // Ids of regions have gaps and stay, and call paths name the same regions by them.
  EXPECT_EQ(anchor.regions[0].id, 7U);
  EXPECT_EQ(anchor.regions[1].id, 3U);
  EXPECT_EQ(anchor.regions[anchor.cnodes[0].region].name, "main");
  EXPECT_EQ(anchor.cnodes[2].id, 1U);
  ASSERT_EQ(file.extra_members().size(), 1U);
  EXPECT_EQ(file.extra_members()[0]->name, "note with blanks.txt");
  EXPECT_EQ(file.extra_members()[0]->content.text(), "free text");
  const std::string text = read_text(target.path());
  EXPECT_NE(text.find("<cubepl rowwise=false>"), std::string::npos);
  EXPECT_NE(text.find("<cubeplaggr cubeplaggrtype=aggr>"), std::string::npos);
}

TEST(CubeMade, PackedRowsWithFieldsOfBothWidths) {
  for (const bool big : {false, true}) {
    for (const std::size_t field : {4, 8}) {
      for (const Starts starts : {Starts::true_ones, Starts::all_zero}) {
        if (field == 8 && starts == Starts::all_zero) continue;
        Members members = small_members();
        members[1].second = make_index({0, 1, 3}, big);
        members[2].second =
            make_packed_data({make_row({1, 2}, big), make_row({3, 4}, big), make_row({5, 6}, big)}, field, big, starts);
        auto dataset = open_bytes(make_tar(members));
        ASSERT_TRUE(dataset.ok()) << dataset.error().text();
        EXPECT_EQ(values_of(**dataset, "visits", Flavour::Kind::stored),
                  (Texts{"1", "2", "3", "4", "0", "0", "5", "6"}))
            << "big " << big << " field " << field;
        auto values = dynamic_cast<CubeDataset&>(**dataset).file().values(0);
        ASSERT_TRUE(values.ok());
        EXPECT_EQ((*values)->data.short_headers(), field == 4);
      }
    }
  }
}

TEST(CubeMade, OneDamagedMetricLeavesTheOthers) {
  Members members = small_members();
  members[2].second.resize(40);
  auto dataset = open_bytes(make_tar(members));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const Texts message = values_of(**dataset, "visits", Flavour::Kind::stored);
  ASSERT_EQ(message.size(), 1U);
  EXPECT_NE(message[0].find("made.cubex(0.data):0x28"), std::string::npos) << message[0];
  EXPECT_NE(message[0].find("truncated"), std::string::npos) << message[0];
  EXPECT_EQ(values_of(**dataset, "ticks", Flavour::Kind::stored).size(), 8U);
  auto checked = (*dataset)->check();
  EXPECT_TRUE(checked.ok());
  EXPECT_TRUE((*dataset)->work()->diagnostics.defective());
}

// Opens and reads everything; the only demands are that it comes back and that errors name a place.
void read_everything(std::string bytes) {
  const Work work = make_work(false, std::uint64_t{256} << 20);
  auto dataset = open_bytes(std::move(bytes), work);
  if (!dataset.ok()) {
    EXPECT_FALSE(dataset.error().place().file.empty()) << dataset.error().text();
    return;
  }
  auto profile = (*dataset)->profile();
  if (!profile.ok()) return;
  for (std::size_t m = 0; m < (*profile)->defs().metrics.size(); ++m) {
    for (const auto kind : {Flavour::Kind::stored, Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
      auto cells = compute(**profile, MetricId(m), everything(**profile, kind));
      if (!cells.ok()) {
        EXPECT_FALSE(cells.error().place().file.empty()) << cells.error().text();
      }
    }
  }
  (void)(*dataset)->check();
  (void)(*dataset)->dump({}, [](std::string_view) { return true; });
}

TEST(CubeMade, TruncationAtEveryByte) {
  const std::string whole = make_tar(small_members());
  for (std::size_t length = 0; length < whole.size(); ++length) read_everything(whole.substr(0, length));
}

TEST(CubeMade, FlippedBits) {
  Members members = small_members();
  members[2].second = make_packed_data({make_row({1, 2}), make_row({3, 4}), make_row({5, 6})}, 8);
  const std::string whole = make_tar(members);
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = whole;
    const std::size_t bit = random() % (damaged.size() * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    read_everything(std::move(damaged));
  }
}

TEST(CubeReference, TruncationAtEveryByteOfTheSmallestFile) {
  SKIP_WITHOUT_DATA();
  const auto blob = map_file(data_folder() / "synthetic" / "outer_gzip" / "outer_gzip.cubex");
  ASSERT_TRUE(blob.ok());
  // The gzip layer on disk and the archive inside it.
  const std::string inner = read_text(data_folder() / "synthetic" / "outer_gzip" / "outer_gzip.cubex");
  for (std::size_t length = 0; length < inner.size(); ++length) read_everything(inner.substr(0, length));
}

TEST(CubeReference, FlippedBitsOfSmallFiles) {
  SKIP_WITHOUT_DATA();
  for (const Case& c : all_cases()) {
    const std::string whole = read_text(c.file());
    if (whole.size() > 11000) continue;
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i) {
      std::string damaged = whole;
      const std::size_t bit = random() % (damaged.size() * 8);
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      read_everything(std::move(damaged));
    }
  }
}

}  // namespace
}  // namespace fathom::cube::testing
