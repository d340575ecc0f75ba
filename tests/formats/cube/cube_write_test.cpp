// Rewriting and writing: what comes back is what went in, also for a reader that shares no code with ours.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "formats/cube/cube_support.hpp"
#include "formats/cube/from_profile.hpp"

namespace fathom::cube::testing {
namespace {

// Every row that is not all zero as the Python reader prints it.
std::string rows_as_text(const CubeFile& file) {
  std::vector<std::string> lines;
  std::vector<std::byte> scratch;
  for (std::size_t m = 0; m < file.anchor().metrics.size(); ++m) {
    auto values = file.values(m);
    EXPECT_TRUE(values.ok()) << values.error().text();
    if (!values.ok()) continue;
    for (const CubeFile::Row& row : (*values)->rows) {
      auto at = (*values)->data.row(row.row, scratch);
      EXPECT_TRUE(at.ok()) << at.error().text();
      if (!at.ok() || *at == nullptr) continue;
      const std::size_t size = (*values)->data.row_bytes();
      if (std::all_of(*at, *at + size, [](std::byte b) { return b == std::byte{0}; })) continue;
      char number[16];
      std::snprintf(number, sizeof(number), " %08u ", row.cnode);
      std::string line = file.anchor().metrics[m].uniq_name + number;
      for (std::size_t i = 0; i < size; ++i) {
        char hex[3];
        std::snprintf(hex, sizeof(hex), "%02x", static_cast<unsigned>((*at)[i]));
        line += hex;
      }
      lines.push_back(line + "\n");
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const auto& line : lines) out += line;
  return out;
}

std::string python_rows(const std::filesystem::path& path) {
  const std::string command =
      "python3 '" FATHOM_SOURCE_DIR "/tests/formats/cube/read_cubex.py' '" + path.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) out.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << out.substr(0, 500);
  return out;
}

Attributes sorted(Attributes attributes) {
  std::stable_sort(attributes.begin(), attributes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return attributes;
}

void expect_same_unknown(const Unknown& a, const Unknown& b) {
  EXPECT_EQ(a.attributes, b.attributes);
  EXPECT_EQ(a.elements, b.elements);
}

void expect_same_metrics(const Anchor& a, const Anchor& b) {
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i) {
    const AnchorMetric& x = a.metrics[i];
    const AnchorMetric& y = b.metrics[i];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.viztype, y.viztype);
    EXPECT_EQ(x.convertible, y.convertible);
    EXPECT_EQ(x.cacheable, y.cacheable);
    EXPECT_EQ(x.disp_name, y.disp_name);
    EXPECT_EQ(x.uniq_name, y.uniq_name);
    EXPECT_EQ(x.dtype, y.dtype);
    EXPECT_EQ(x.uom, y.uom);
    EXPECT_EQ(x.val, y.val);
    EXPECT_EQ(x.url, y.url);
    EXPECT_EQ(x.descr, y.descr);
    EXPECT_EQ(x.cubepl, y.cubepl);
    EXPECT_EQ(x.rowwise, y.rowwise);
    EXPECT_EQ(x.cubeplinit, y.cubeplinit);
    ASSERT_EQ(x.cubeplaggr.size(), y.cubeplaggr.size());
    for (std::size_t k = 0; k < x.cubeplaggr.size(); ++k) {
      EXPECT_EQ(x.cubeplaggr[k].kind, y.cubeplaggr[k].kind);
      EXPECT_EQ(x.cubeplaggr[k].text, y.cubeplaggr[k].text);
    }
    EXPECT_EQ(x.attributes, y.attributes);
    expect_same_unknown(x.unknown, y.unknown);
  }
}

void expect_same_program(const Anchor& a, const Anchor& b) {
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (std::size_t i = 0; i < a.regions.size(); ++i) {
    const AnchorRegion& x = a.regions[i];
    const AnchorRegion& y = b.regions[i];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.mod, y.mod);
    EXPECT_EQ(x.begin, y.begin);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.mangled_name.value_or(x.name), y.mangled_name.value_or(y.name));
    EXPECT_EQ(x.paradigm, y.paradigm);
    EXPECT_EQ(x.role, y.role);
    EXPECT_EQ(x.url, y.url);
    EXPECT_EQ(x.descr, y.descr);
    EXPECT_EQ(x.attributes, y.attributes);
    expect_same_unknown(x.unknown, y.unknown);
  }
  ASSERT_EQ(a.cnodes.size(), b.cnodes.size());
  for (std::size_t i = 0; i < a.cnodes.size(); ++i) {
    const AnchorCnode& x = a.cnodes[i];
    const AnchorCnode& y = b.cnodes[i];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.region, y.region);
    EXPECT_EQ(x.line, y.line);
    EXPECT_EQ(x.has_line, y.has_line);
    EXPECT_EQ(x.has_mod, y.has_mod);
    const CnodeDetails& p = a.details(x);
    const CnodeDetails& q = b.details(y);
    EXPECT_EQ(p.mod, q.mod);
    EXPECT_EQ(p.attributes, q.attributes);
    expect_same_unknown(p.unknown, q.unknown);
    ASSERT_EQ(p.parameters.size(), q.parameters.size());
    for (std::size_t k = 0; k < p.parameters.size(); ++k) {
      EXPECT_EQ(p.parameters[k].partype, q.parameters[k].partype);
      EXPECT_EQ(p.parameters[k].key, q.parameters[k].key);
      EXPECT_EQ(p.parameters[k].value, q.parameters[k].value);
    }
  }
}

void expect_same_system(const Anchor& a, const Anchor& b) {
  ASSERT_EQ(a.system.size(), b.system.size());
  for (std::size_t i = 0; i < a.system.size(); ++i) {
    const AnchorSystemNode& x = a.system[i];
    const AnchorSystemNode& y = b.system[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.rank, y.rank);
    EXPECT_EQ(x.descr, y.descr);
    EXPECT_EQ(x.attributes, y.attributes);
    expect_same_unknown(x.unknown, y.unknown);
    if (x.kind == AnchorSystemNode::Kind::location) {
      EXPECT_EQ(x.id, y.id);
    }
  }
  ASSERT_EQ(a.topologies.size(), b.topologies.size());
  for (std::size_t i = 0; i < a.topologies.size(); ++i) {
    const AnchorTopology& x = a.topologies[i];
    const AnchorTopology& y = b.topologies[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.has_name, y.has_name);
    ASSERT_EQ(x.dimensions.size(), y.dimensions.size());
    for (std::size_t k = 0; k < x.dimensions.size(); ++k) {
      EXPECT_EQ(x.dimensions[k].name, y.dimensions[k].name);
      EXPECT_EQ(x.dimensions[k].size, y.dimensions[k].size);
      EXPECT_EQ(x.dimensions[k].periodic, y.dimensions[k].periodic);
    }
    ASSERT_EQ(x.coordinates.size(), y.coordinates.size());
    for (std::size_t k = 0; k < x.coordinates.size(); ++k) {
      EXPECT_EQ(x.coordinates[k].node, y.coordinates[k].node);
      EXPECT_EQ(x.coordinates[k].at, y.coordinates[k].at);
    }
  }
}

const CubeFile& native(const DatasetPtr& dataset) { return dynamic_cast<CubeDataset&>(*dataset).file(); }

class CubeWrite : public ::testing::TestWithParam<Case> {};

TEST_P(CubeWrite, RewriteLosesNothing) {
  const DatasetPtr before = open_or_fail(GetParam().file());
  ASSERT_NE(before, nullptr);
  for (const bool compress : {false, true}) {
    SCOPED_TRACE(compress ? "packed" : "plain");
    ScratchFile target("out.cubex");
    WriteOptions options;
    options.compress = compress;
    if (compress) options.options.emplace_back("anchor", "gzip");
    auto done = before->rewrite(target.path(), options);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_TRUE(*done);
    const Work work = make_work(true);  // strict: nothing to remark in what we write
    const DatasetPtr after = open_or_fail(target.path(), work);
    ASSERT_NE(after, nullptr);
    auto checked = after->check();
    EXPECT_TRUE(checked.ok()) << checked.error().text();

    const Anchor& a = native(before).anchor();
    const Anchor& b = native(after).anchor();
    for (const auto& attribute : a.attributes) {
      EXPECT_NE(std::find(b.attributes.begin(), b.attributes.end(), attribute), b.attributes.end());
    }
    EXPECT_EQ(b.attributes, sorted(b.attributes));
    EXPECT_EQ(a.mirrors, b.mirrors);
    EXPECT_EQ(a.metrics_title, b.metrics_title);
    EXPECT_EQ(a.program_title, b.program_title);
    EXPECT_EQ(a.system_title, b.system_title);
    expect_same_metrics(a, b);
    expect_same_program(a, b);
    expect_same_system(a, b);
    const std::string rows = rows_as_text(native(before));
    EXPECT_TRUE(rows == rows_as_text(native(after)));
    EXPECT_TRUE(rows == python_rows(target.path()));

    const auto extra_before = native(before).extra_members();
    const auto extra_after = native(after).extra_members();
    ASSERT_EQ(extra_before.size(), extra_after.size());
    for (std::size_t i = 0; i < extra_before.size(); ++i) {
      EXPECT_EQ(extra_before[i]->name, extra_after[i]->name);
      EXPECT_EQ(extra_before[i]->content.text(), extra_after[i]->content.text());
    }
  }
}

TEST_P(CubeWrite, ProfileComesBack) {
  const DatasetPtr before = open_or_fail(GetParam().file());
  ASSERT_NE(before, nullptr);
  auto profile = before->profile();
  ASSERT_TRUE(profile.ok());
  ScratchFile target("out.cubex");
  auto done = write_profile(**profile, target.path(), {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  const DatasetPtr after = open_or_fail(target.path(), make_work(true));
  ASSERT_NE(after, nullptr);
  const std::string rows = rows_as_text(native(before));
  EXPECT_TRUE(rows == rows_as_text(native(after)));
  EXPECT_TRUE(rows == python_rows(target.path()));
  const Anchor& a = native(before).anchor();
  const Anchor& b = native(after).anchor();
  ASSERT_EQ(a.cnodes.size(), b.cnodes.size());
  for (std::size_t i = 0; i < a.cnodes.size(); ++i) {
    EXPECT_EQ(a.cnodes[i].parent, b.cnodes[i].parent);
    EXPECT_EQ(a.regions[a.cnodes[i].region].name, b.regions[b.cnodes[i].region].name);
    EXPECT_EQ(b.cnodes[i].id, GetParam().name == "cnode_id_gaps" ? i : a.cnodes[i].id);
  }
  expect_same_system(a, b);
}

// What a trace without any event becomes.
TEST(CubeWriteEmpty, AProfileWithoutCallPathsIsWritten) {
  class NoValues : public ValueSource {
   public:
    [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
    Result<void> scan(const Box&, const RunVisitor&) const override { return {}; }
  };
  auto defs = std::make_shared<Definitions>();
  Metric time;
  time.name = "time";
  time.scopes = {{Scope::exclusive, {}}};
  defs->metrics.push_back(time);
  SystemNode location;
  location.kind = SystemKind::location;
  defs->system.add_location(location);
  Profile profile;
  profile.definitions = std::move(defs);
  profile.values = std::make_shared<NoValues>();
  profile.work = make_work();
  ScratchFile target("out.cubex");
  const auto done = write_profile(profile, target.path(), {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  const DatasetPtr after = open_or_fail(target.path(), make_work(true));
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(native(after).anchor().metrics.size(), 1U);
  EXPECT_TRUE(native(after).anchor().cnodes.empty());
}

INSTANTIATE_TEST_SUITE_P(Reference, CubeWrite, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CubeWrite);

}  // namespace
}  // namespace fathom::cube::testing
