#include "formats/cube/cubepl/cubepl.hpp"

#include <gtest/gtest.h>

#include "../../profile/memory_profile.hpp"
#include "dump_csv.hpp"
#include "formats/cube/cubepl/parser.hpp"
#include "profile/expression/program.hpp"

namespace fathom {
namespace {

using cube::cubepl::parse;
using cube::cubepl::with_cubepl;

// Enough JSON for the list of cases: an array of flat objects whose values are texts, null or arrays of texts.
struct Case {
  std::map<std::string, std::vector<std::string>> fields;
};

class CaseReader {
 public:
  explicit CaseReader(std::string text) : text_(std::move(text)) {}
  std::vector<Case> read() {
    at_ = text_.find("\"cases\"");
    at_ = text_.find('[', at_) + 1;
    std::vector<Case> out;
    while (at_ < text_.size()) {
      const std::size_t next = text_.find_first_of("{]", at_);
      if (next == std::string::npos || text_[next] == ']') break;
      at_ = next + 1;
      Case entry;
      while (text_[at_] != '}') {
        const std::string key = string();
        at_ = text_.find_first_not_of(" :\n", at_);
        entry.fields[key] = values();
        at_ = text_.find_first_not_of(" ,\n", at_);
      }
      ++at_;
      out.push_back(std::move(entry));
    }
    return out;
  }

 private:
  std::vector<std::string> values() {
    if (text_[at_] == 'n') {
      at_ += 4;
      return {};
    }
    if (text_[at_] == '"') return {string()};
    std::vector<std::string> out;
    ++at_;
    while (true) {
      at_ = text_.find_first_not_of(" ,\n", at_);
      if (text_[at_] == ']') break;
      out.push_back(string());
    }
    ++at_;
    return out;
  }
  std::string string() {
    at_ = text_.find('"', at_) + 1;
    std::string out;
    while (text_[at_] != '"') {
      if (text_[at_] == '\\') {
        ++at_;
        out += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        out += text_[at_];
      }
      ++at_;
    }
    ++at_;
    return out;
  }
  std::string text_;
  std::size_t at_ = 0;
};

TEST(Cubepl, AllCasesGiveTheOfficialResults) {
  const auto folder = test::shared_cube() / "algebra";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const ProfilePtr input = test::open_profile(folder / "in/r2.cubex");
  ASSERT_TRUE(input);
  const auto cases = CaseReader(test::read_text(folder / "cubepl_cases.json")).read();
  EXPECT_EQ(cases.size(), 122u);
  std::size_t compared = 0;
  for (const Case& entry : cases) {
    const std::string expression = entry.fields.at("expr")[0];
    SCOPED_TRACE(expression);
    const auto profile = with_cubepl(input, {"new", expression, Derivation::post, "", ""});
    if (entry.fields.contains("result")) {
      const bool extension = expression == "ln(10)" || expression == "cot(1)" || expression == "1.5e3" ||
                             expression.find("xor") != std::string::npos ||
                             expression.find("sizeof") != std::string::npos;
      EXPECT_EQ(profile.ok(), extension);
      continue;
    }
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    const Definitions& defs = (*profile)->defs();
    const MetricId id = defs.find_metric("new");
    for (const auto& [key, expected] : entry.fields) {
      if (key == "expr" || expected.empty()) continue;
      const bool aggregate = key.ends_with("aggr");
      const auto kind = key.starts_with("incl") ? Flavour::Kind::inclusive : Flavour::Kind::exclusive;
      const auto cells = compute(**profile, id, {{kind, {}}, {}, all_locations(defs), aggregate});
      ASSERT_TRUE(cells.ok()) << cells.error().text();
      std::size_t i = 0;
      for (std::uint64_t cnode = 0; cnode < defs.contexts.size(); ++cnode) {
        for (std::size_t column = 0; column < cells->columns(); ++column, ++i) {
          const std::string& text = expected.size() == 1 ? expected[0] : expected.at(i);
          const double got = cells->scalar(defs.contexts.find(cnode).index(), column);
          EXPECT_TRUE(test::close(std::strtod(text.c_str(), nullptr), got))
              << key << ", cnode " << cnode << ", column " << column << ": expected " << text << ", got " << got;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 9000u);
}

ProfilePtr sample() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  make.context("main");
  make.context("main/foo");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {4, 8});
  return make.build();
}

Result<double> total(const std::string& text, Derivation derivation = Derivation::post) {
  FATHOM_TRY(const ProfilePtr profile, with_cubepl(sample(), {"x", text, derivation, "", ""}));
  const MetricId id = profile->defs().find_metric("x");
  FATHOM_TRY(const Cells cells, compute(*profile, id, {{Flavour::Kind::inclusive, {}}, {ContextId(0)}, {0, 2}, true}));
  return cells.scalar(0, 0);
}

TEST(Cubepl, WorksWithoutACubeFile) {
  EXPECT_EQ(*total("metric::time(e)"), 3);
  EXPECT_EQ(*total("metric::time()*2", Derivation::pre_exclusive), 30);
  EXPECT_EQ(*total("{ ${a}[2]=5; return sizeof(a); }"), 3);
  EXPECT_EQ(*total("{ ${r}=0; if ((1==1) xor (1==0)) { ${r}=1; }; return ${r}; }"), 1);
  EXPECT_EQ(*total("{ ${r}=0; if (((metric::time(e)+1)*2 > 3) and (not(1 > 2))) { ${r}=1; }; return ${r}; }"), 1);
}

TEST(Cubepl, CellsMayGoDifferentWays) {
  // Only the cells above 3 count: 4 and 8.
  EXPECT_EQ(
      *total("{ ${r}=0; if (metric::time() > 3) { ${r}=metric::time(); }; return ${r}; }", Derivation::pre_exclusive),
      12);
}

TEST(Cubepl, NothingRunsForEver) {
  const auto endless = total("{ ${a}=0; while (1==1) { ${a}=${a}+1; }; return ${a}; }");
  ASSERT_FALSE(endless.ok());
  EXPECT_NE(endless.error().text().find("does not come to an end"), std::string::npos);
  const auto huge = total("{ ${a}[1000000000]=1; return 1; }");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().text().find("position"), std::string::npos);
  EXPECT_FALSE(total("{ ${a}[0-1]=1; return 1; }").ok());
  EXPECT_FALSE(parse(std::string(50000, '(') + "1" + std::string(50000, ')')).ok());
  std::string nested = "1";
  for (int i = 0; i < 60; ++i) nested = "{ if ((((" + nested + "))) > 0) { ${a}=1; }; return 2; }";
  (void)parse(nested);  // must come back
  const auto self = total("metric::x()");
  ASSERT_FALSE(self.ok());
  EXPECT_NE(self.error().text().find("derived from itself"), std::string::npos);
}

TEST(Cubepl, ErrorsNameTheCharacter) {
  const auto message = [](const char* text) {
    const auto parsed = parse(text);
    return parsed.ok() ? std::string("accepted") : parsed.error().text();
  };
  EXPECT_NE(message("1 + ").find("character 5"), std::string::npos);
  EXPECT_NE(message("foo(1)").find("character 1: unknown word 'foo'"), std::string::npos);
  EXPECT_NE(message("{ ${a}=1 return 1; }").find("expected ';'"), std::string::npos);
  EXPECT_NE(message("{ ${cube::#metrics}=1; return 1; }").find("cannot be changed"), std::string::npos);
}

TEST(Cubepl, OperatorsOfAMetric) {
  auto defs = std::make_shared<Definitions>(sample()->defs());
  auto profile = std::make_shared<Profile>(*sample());
  Metric metric;
  metric.name = "longest";
  metric.type = {ValueKind::f64, 0};
  metric.derivation = Derivation::pre_exclusive;
  defs->metrics.push_back(metric);
  cube::cubepl::Source source;
  source.value = "metric::time() + ${offset}";
  source.init = {"{ global(offset); ${offset}=10; return 0; }"};
  source.plus = "max(arg1, arg2)";
  source.aggregate = "max(arg1, arg2)";
  ASSERT_TRUE(cube::cubepl::add_programs(*defs, *profile, {{MetricId(1), source}}).ok());
  profile->definitions = defs;
  const auto cells = compute(*profile, MetricId(1), {{Flavour::Kind::inclusive, {}}, {ContextId(0)}, {0, 2}, true});
  ASSERT_TRUE(cells.ok()) << cells.error().text();
  EXPECT_EQ(cells->scalar(0, 0), 18);
}

TEST(Cubepl, ProgramsOfOtherLanguagesCanBeWritten) {
  const ProfilePtr input = sample();
  for (const char* text : {"time / 2 + 3 ^ 2", "choose(time > 3, time, -1)",
                           "mean(time, 1, 2) * (time < 4 or time > 9)", "exclusive(time) - total(time)"}) {
    const auto derived = with_derived(input, {"x", text, Derivation::post, "", ""});
    ASSERT_TRUE(derived.ok());
    const auto written = cube::cubepl::to_text((*derived)->programs.at(MetricId(1))->value);
    ASSERT_TRUE(written.ok()) << written.error().text();
    const auto again = with_cubepl(input, {"x", *written, Derivation::post, "", ""});
    ASSERT_TRUE(again.ok()) << *written << ": " << again.error().text();
    const Selection selection{{Flavour::Kind::inclusive, {}}, {}, {0, 2}, false};
    const auto a = compute(**derived, MetricId(1), selection);
    const auto b = compute(**again, MetricId(1), selection);
    ASSERT_TRUE(a.ok() && b.ok());
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(a->scalar(i / 2, i % 2), b->scalar(i / 2, i % 2)) << *written;
  }
}

}  // namespace
}  // namespace fathom
