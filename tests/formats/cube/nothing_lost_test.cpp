// What is easily lost: extremes of nothing, types that are not known, nested groups, ids with gaps, parameters.
#include <bit>
#include <cfloat>
#include <filesystem>
#include <fstream>

#include "cli/program.hpp"
#include "formats/cube/cube_made.hpp"
#include "formats/cube/cube_support.hpp"
#include "formats/cube/from_profile.hpp"
#include "profile/inspect/inspect.hpp"
#include "temporary_directory.hpp"

namespace fathom::cube::testing {
namespace {

Result<DatasetPtr> open_bytes(std::string bytes, const Work& work = make_work()) {
  return open_source(Source::of(Blob::own("made.cubex", std::move(bytes))), work);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string row(std::initializer_list<double> values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return make_row(bits);
}

// small_anchor() with metric 0 of another type; rows by number: main 0, work 1, leaf 2, end 3.
Members with_type(const std::string& dtype, const std::vector<std::uint32_t>& rows, const std::string& data) {
  Members members = small_members();
  for (auto& [name, content] : members) {
    if (name == "anchor.xml") content = replaced(content, "<dtype>UINT64</dtype>", "<dtype>" + dtype + "</dtype>");
    if (name == "0.index") content = make_index(rows);
    if (name == "0.data") content = "CUBEX.DATA" + data;
  }
  return members;
}

std::vector<std::string> values_of(Dataset& dataset, const std::string& metric, Flavour::Kind kind, bool aggregate) {
  std::vector<std::string> out;
  auto profile = dataset.profile();
  EXPECT_TRUE(profile.ok());
  Selection selection = everything(**profile, kind);
  selection.aggregate = aggregate;
  auto cells = compute(**profile, (*profile)->defs().find_metric(metric), selection);
  if (!cells.ok()) return {cells.error().text()};
  for (std::size_t r = 0; r < cells->rows(); ++r) {
    for (std::size_t c = 0; c < cells->columns(); ++c) out.push_back(cells->at(r, c).text());
  }
  return out;
}
using Texts = std::vector<std::string>;

// A row that is not there is no value; a stored zero is one. main has no row, leaf holds zeros.
TEST(CubeExtremes, AbsentRowsTakeNoPart) {
  auto minimum = open_bytes(make_tar(with_type("MINDOUBLE", {1, 3}, row({0.5, 2}) + row({0.25, DBL_MAX}))));
  ASSERT_TRUE(minimum.ok()) << minimum.error().text();
  EXPECT_EQ(values_of(**minimum, "visits", Flavour::Kind::inclusive, false),
            (Texts{"0.25", "2", "0.5", "2", "", "", "0.25", ""}));
  EXPECT_EQ(values_of(**minimum, "visits", Flavour::Kind::inclusive, true), (Texts{"0.25", "0.5", "", "0.25"}));
  auto maximum = open_bytes(make_tar(with_type("MAXDOUBLE", {1}, row({-3, -4}))));
  ASSERT_TRUE(maximum.ok());
  EXPECT_EQ(values_of(**maximum, "visits", Flavour::Kind::inclusive, true), (Texts{"-3", "-3", "", ""}));
  auto zeros = open_bytes(make_tar(with_type("MINDOUBLE", {0, 2}, row({7, 7}) + row({0, 0}))));
  ASSERT_TRUE(zeros.ok());
  EXPECT_EQ(values_of(**zeros, "visits", Flavour::Kind::inclusive, true), (Texts{"0", "0", "0", ""}));
}

// For people, too: no value is no zero, and an extreme has no share of anything.
TEST(CubeExtremes, AreShownWithoutShares) {
  ScratchFile file("extremes.cubex");
  std::ofstream(file.path()) << make_tar(with_type("MINDOUBLE", {1, 3}, row({0.5, 2}) + row({0.25, DBL_MAX})));
  for (const char* command : {"tree", "top"}) {
    Output out;
    Output err;
    const std::vector<std::string> arguments = {command, file.path().string(), "-m", "visits"};
    ASSERT_EQ(cli::run_program(arguments, out, err), 0) << err.text();
    EXPECT_EQ(out.text().find(".0%"), std::string::npos) << out.text();
    EXPECT_NE(out.text().find("  -  "), std::string::npos) << out.text();  // main itself
    EXPECT_NE(out.text().find("0.25"), std::string::npos) << out.text();
  }
}

// Nor is one that grows a bug of what grows, in whatever form models are asked for, unless it is named.
TEST(CubeExtremes, AreBugsOnlyWhereTheyAreNamed) {
  const TemporaryDirectory folder;
  for (const int p : {2, 4, 8, 16, 32}) {
    const auto run = folder.path() / ("app.p" + std::to_string(p));
    std::filesystem::create_directory(run);
    const double longest = p * p;
    std::ofstream(run / "a.cubex") << make_tar(with_type("MAXDOUBLE", {1}, row({longest, longest})));
  }
  for (const char* form : {"--quiet", "--json", "--csv"}) {
    for (const bool named : {false, true}) {
      std::vector<std::string> arguments = {"model", folder.path().string(), "--fail-on-bug", form};
      if (named) arguments.insert(arguments.end(), {"--metric", "visits"});
      Output out;
      Output err;
      EXPECT_EQ(cli::run_program(arguments, out, err), named ? 1 : 0) << form << out.text() << err.text();
      if (std::string_view(form) == "--json") {
        EXPECT_EQ(out.text().find(R"("mark": "!")") != std::string::npos, named) << out.text();
      }
    }
  }
}

// count, minimum, maximum, sum, sum of squares of the only row.
TEST(CubeExtremes, AtomicValuesOfNothing) {
  std::string data;
  for (const std::uint32_t count : {2U, 1U}) {
    data += bytes_of(count, 4, false) + row({1.5, 2.5, 4, 8.5});
  }
  auto atomic = open_bytes(make_tar(with_type("TAU_ATOMIC", {1}, data)));
  ASSERT_TRUE(atomic.ok()) << atomic.error().text();
  const Texts found = values_of(**atomic, "visits", Flavour::Kind::inclusive, true);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], "3;1.5;2.5;8;17");
  EXPECT_EQ(found[2], "");
}

// Rows of zeros are values of these types, so that they are written, by both writers.
TEST(CubeExtremes, ZerosAreWritten) {
  auto zeros = open_bytes(make_tar(with_type("MINDOUBLE", {0, 2}, row({7, 7}) + row({0, 0}))));
  ASSERT_TRUE(zeros.ok());
  ScratchFile rewritten("rewritten.cubex");
  ASSERT_TRUE((*zeros)->rewrite(rewritten.path(), {}).ok());
  ScratchFile converted("converted.cubex");
  ASSERT_TRUE(write_profile(**(*zeros)->profile(), converted.path(), {}).ok());
  for (const auto& path : {rewritten.path(), converted.path()}) {
    const DatasetPtr again = open_or_fail(path);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(values_of(*again, "visits", Flavour::Kind::inclusive, true), (Texts{"0", "0", "0", ""})) << path;
  }
}

// The official library sums them up as well: a rate of 0/0, a range at 0.
TEST(CubeExtremes, ZerosOfRatesAndHistogramsAreWritten) {
  for (const char* type : {"RATE", "HISTOGRAM(1)", "COMPLEX"}) {
    const bool histogram = std::string_view(type).starts_with("HISTOGRAM");  // two numbers and its bin
    const std::string two =
        histogram ? row({0, 1, 5, 0, 1, 5}) + row({0, 0, 0, 0, 0, 0}) : row({1, 2, 1, 2}) + row({0, 0, 0, 0});
    auto zeros = open_bytes(make_tar(with_type(type, {0, 2}, two)));
    ASSERT_TRUE(zeros.ok()) << zeros.error().text();
    ScratchFile rewritten("rewritten.cubex");
    ASSERT_TRUE((*zeros)->rewrite(rewritten.path(), {}).ok());
    ScratchFile converted("converted.cubex");
    ASSERT_TRUE(write_profile(**(*zeros)->profile(), converted.path(), {}).ok());
    for (const auto& path : {rewritten.path(), converted.path()}) {
      const DatasetPtr again = open_or_fail(path);
      ASSERT_NE(again, nullptr);
      const auto values = dynamic_cast<CubeDataset&>(*again).file().values(0);
      ASSERT_TRUE(values.ok());
      EXPECT_EQ((*values)->rows.size(), std::string_view(type) == "COMPLEX" ? 1U : 2U) << type << ' ' << path;
    }
  }
}

std::vector<std::string> told(const Work& work) {
  std::vector<std::string> ids;
  for (const auto& one : work->diagnostics.all()) ids.emplace_back(one.id);
  return ids;
}

Members with_anchor(const std::string& from, const std::string& to) {
  Members members = small_members();
  members[0].second = replaced(members[0].second, from, to);
  return members;
}

TEST(CubeMetrics, HiddenOnesAreSaidToBe) {
  ScratchFile file("ghost.cubex");
  std::ofstream(file.path()) << make_tar(with_anchor("<metric id=\"1\"", "<metric id=\"1\" viztype=\"GHOST\""));
  Output out;
  Output err;
  const std::vector<std::string> arguments = {"info", file.path().string(), "--metrics"};
  ASSERT_EQ(cli::run_program(arguments, out, err), 0) << err.text();
  const std::string text(out.text());
  const std::string ticks = text.substr(text.find("\nticks") + 1);
  EXPECT_NE(ticks.substr(0, ticks.find('\n')).find("hidden"), std::string::npos) << text;
  EXPECT_EQ(text.find("hidden"), text.rfind("hidden")) << text;
}

TEST(CubeSystem, UnknownTypesAreTold) {
  const Work work = make_work();
  auto dataset = open_bytes(
      make_tar(with_anchor("<rank>1</rank><type>thread</type>", "<rank>1</rank><type>quantum</type>")), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const Texts ids = told(work);
  const auto found = std::find(ids.begin(), ids.end(), "cube.location_type");
  ASSERT_NE(found, ids.end());
  const Diagnostic one = work->diagnostics.all()[static_cast<std::size_t>(found - ids.begin())];
  EXPECT_NE(one.text.find("quantum"), std::string::npos);
  ScratchFile made("made.cubex");
  ASSERT_TRUE(write_profile(**(*dataset)->profile(), made.path(), {}).ok());
  const Texts after = told(work);
  EXPECT_NE(std::find(after.begin(), after.end(), "cube.other_location_type"), after.end());
}

TEST(CubeSystem, GroupsInGroups) {
  const std::string inner =
      "<locationgroup Id=\"1\"><name>gpu</name><rank>0</rank><type>accelerator</type>"
      "<location Id=\"2\"><name>s0</name><rank>0</rank><type>accelerator stream</type></location></locationgroup>";
  Members members = small_members();
  members[0].second = replaced(members[0].second, "</location>\n        </locationgroup>",
                               "</location>\n        " + inner + "</locationgroup>");
  for (auto& [name, content] : members) {
    if (name == "0.data") content = "CUBEX.DATA" + make_row({1, 2, 9}) + make_row({3, 4, 9}) + make_row({5, 6, 9});
    if (name == "1.index") content = make_index({});
    if (name == "1.data") content = "CUBEX.DATA";
  }
  auto dataset = open_bytes(make_tar(members));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const SystemTree& system = (*(*dataset)->profile())->defs().system;
  ASSERT_EQ(system.location_count(), 3U);
  EXPECT_EQ(system.path(system.locations[2]), "m/n/p0/gpu/s0");
  EXPECT_EQ(values_of(**dataset, "visits", Flavour::Kind::inclusive, true), (Texts{"48", "16", "0", "20"}));
  // The inner group is no node of the machine.
  const auto entries = (*dataset)->describe(false);
  ASSERT_TRUE(entries.ok());
  for (const InfoEntry& entry : *entries) {
    if (entry.key != "nodes") continue;
    EXPECT_EQ(std::get<std::uint64_t>(entry.value), 1U);
  }
  const auto view = inspect::node_view(**(*dataset)->profile(), MetricId(0));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->nodes, 1U);
  EXPECT_EQ(view->over_nodes.maximum, 48);
  ScratchFile target("nested.cubex");
  ASSERT_TRUE((*dataset)->rewrite(target.path(), {}).ok());
  const DatasetPtr again = open_or_fail(target.path());
  ASSERT_NE(again, nullptr);
  const SystemTree& kept = (*again->profile())->defs().system;
  EXPECT_EQ(kept.path(kept.locations[2]), "m/n/p0/gpu/s0");
  // What is made anew has groups side by side, as other readers want them, and says so.
  ScratchFile made("made.cubex");
  const ProfilePtr profile = *(*dataset)->profile();
  ASSERT_TRUE(write_profile(*profile, made.path(), {}).ok());
  const Texts ids = told(profile->work);
  EXPECT_NE(std::find(ids.begin(), ids.end(), "cube.group_in_group"), ids.end());
  const DatasetPtr anew = open_or_fail(made.path());
  ASSERT_NE(anew, nullptr);
  const SystemTree& flat = (*anew->profile())->defs().system;
  EXPECT_EQ(flat.path(flat.locations[2]), "m/n/gpu/s0");
}

std::vector<std::uint64_t> context_ids(Dataset& dataset) {
  std::vector<std::uint64_t> ids;
  for (const Context& context : (*dataset.profile())->defs().contexts.all()) ids.push_back(context.file_id);
  return ids;
}

TEST(CubeIds, GapsStayAndOrderStays) {
  auto gaps = open_bytes(make_tar(with_anchor("<cnode id=\"3\"", "<cnode id=\"9\"")));
  ASSERT_TRUE(gaps.ok());
  ScratchFile target("gaps.cubex");
  ASSERT_TRUE((*gaps)->rewrite(target.path(), {}).ok());
  EXPECT_EQ(context_ids(*open_or_fail(target.path())), (std::vector<std::uint64_t>{0, 2, 1, 9}));
  // Through the level (derive, convert): ids stay where they are 0 .. n-1.
  auto plain = open_bytes(make_tar(small_members()));
  ASSERT_TRUE(plain.ok());
  ScratchFile written("written.cubex");
  ASSERT_TRUE(write_profile(**(*plain)->profile(), written.path(), {}).ok());
  EXPECT_EQ(context_ids(*open_or_fail(written.path())), (std::vector<std::uint64_t>{0, 2, 1, 3}));
}

// The same code called with other parameters is another call path.
TEST(CubeParameters, AreInTheName) {
  const std::string text = "<parameter parvalue=\"x\" parkey=\"k\" partype=\"string\"/>";
  auto dataset = open_bytes(
      make_tar(with_anchor(text, "<parameter partype=\"numeric\" parkey=\"size\" parvalue=\"10\"/>" + text)));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const Definitions& defs = (*(*dataset)->profile())->defs();
  EXPECT_EQ(defs.context_name(ContextId(1U)), "work<int> (size=10, k=x)");
  EXPECT_EQ(defs.path(ContextId(2U)), "main->work<int> (size=10, k=x)->main");
}

TEST(CubeParameters, ThoseThatCannotBeInTheNameAreTold) {
  const std::string text = "<parameter parvalue=\"x\" parkey=\"k\" partype=\"string\"/>";
  const Work work = make_work();
  auto dataset = open_bytes(make_tar(with_anchor(text,
                                                 "<parameter partype=\"numeric\" parkey=\"size\" parvalue=\"ten\"/>"
                                                 "<parameter partype=\"date\" parkey=\"day\" parvalue=\"1\"/>")),
                            work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*(*dataset)->profile())->defs().context_name(ContextId(1U)), "work<int> (size=0)");
  std::vector<std::string> told;
  for (const Diagnostic& one : work->diagnostics.all()) {
    if (std::string_view(one.id).starts_with("cube.parameter_")) told.push_back(one.id);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"cube.parameter_value", "cube.parameter_type"}));
}

}  // namespace
}  // namespace fathom::cube::testing
