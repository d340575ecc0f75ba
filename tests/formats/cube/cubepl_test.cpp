#include "profile/cubepl/cubepl.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../profile/memory_profile.hpp"
#include "dump_csv.hpp"
#include "profile/aggregate.hpp"
#include "profile/cubepl/parser.hpp"
#include "profile/expression/program.hpp"

namespace fathom {
namespace {

using cubepl::parse;
using cubepl::with_cubepl;

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

// As the official library has them (found there with random expressions).
TEST(Cubepl, RulesOfTheReference) {
  // main (1, 2) calls foo (4, 8). In pre-derived metrics fixed means all locations together, and () the whole run.
  EXPECT_EQ(*total("metric::fixed::time(e)", Derivation::pre_exclusive), 2 * (3 + 12));
  EXPECT_EQ(*total("metric::fixed::time()", Derivation::pre_exclusive), 4 * 15);
  EXPECT_EQ(*total("metric::fixed::time(e)"), 3);
  // With a flavour for the system it is the value of the location.
  EXPECT_EQ(*total("metric::fixed::time(e,i)", Derivation::pre_exclusive), 15);
  EXPECT_EQ(*total("metric::fixed::time(e,e)"), 3);
  // Machine, node, process, then the locations: parts of the system have nothing of their own.
  EXPECT_EQ(*total("metric::call::time(0,i,2,e)"), 0);
  EXPECT_EQ(*total("metric::call::time(0,i,2,i)"), 15);
  EXPECT_EQ(*total("metric::call::time(0,i,3,e)"), 5);
  // A text that the expression spells is no number, one that a variable holds is.
  EXPECT_EQ(*total("\"12\"+1"), 1);
  EXPECT_EQ(*total("{ ${a}=\"12\"; return ${a}+1; }"), 13);
  EXPECT_EQ(*total("sqrt(1/0)"), 0);
  EXPECT_EQ(*total("log(1/0)"), 0);
  // What is added on the fly is not one of the profile's metrics.
  EXPECT_EQ(*total("${cube::#metrics}"), 1);
  EXPECT_EQ(*total("0*(1/0)"), 0);
  EXPECT_TRUE(std::isnan(*total("(1/0)*0")));
  EXPECT_EQ(*total("${cube::stn::parent::id}[0]"), 0);
}

TEST(Cubepl, CellsMayGoDifferentWays) {
  // Only the cells above 3 count: 4 and 8.
  EXPECT_EQ(
      *total("{ ${r}=0; if (metric::time() > 3) { ${r}=metric::time(); }; return ${r}; }", Derivation::pre_exclusive),
      12);
}

// main (1, 2) calls foo (4, 8): each way through the program is taken by some cells of the block.
TEST(Cubepl, EveryCellGoesItsOwnWay) {
  const auto sum = [](const char* text) { return *total(text, Derivation::pre_exclusive); };
  EXPECT_EQ(sum("{ ${r}=100; if (metric::time() < 2) { ${r}=1; } elseif (metric::time() < 4) { ${r}=10; } "
                "else { if (metric::time() > 5) { ${r}=1000; }; }; return ${r}; }"),
            1 + 10 + 100 + 1000);
  // As many rounds as the value says.
  EXPECT_EQ(sum("{ ${n}=0; ${s}=0; while (${n} < metric::time()) { ${n}=${n}+1; ${s}=${s}+${n}; }; return ${s}; }"),
            1 + 3 + 10 + 36);
  // Arrays that have other sizes in other cells.
  EXPECT_EQ(sum("{ ${a}=1; if (metric::time() > 3) { ${a}[4]=1; }; return sizeof(a); }"), 1 + 1 + 5 + 5);
  // Positions that differ, and texts.
  EXPECT_EQ(sum("{ ${a}[1]=5; ${a}[4]=7; return ${a}[metric::time()]; }"), 12);
  EXPECT_EQ(sum("{ ${r}=0; if (${cube::region::name}[${calculation::region::id}] =~ /^f/) { ${r}=metric::time(); }; "
                "return ${r}; }"),
            12);
  EXPECT_EQ(sum("{ ${t}=\"a\"; if (metric::time() > 2) { ${t}=\"b\"; }; ${r}=0; if (${t} eq \"b\") { ${r}=1; }; "
                "return ${r}; }"),
            2);
}

TEST(Cubepl, NumbersOutsideADomain) {
  EXPECT_EQ(*total("sqrt(-4)"), 0);
  EXPECT_EQ(*total("log(-1)"), 0);
  EXPECT_TRUE(std::isnan(*total("log(0)")));
}

TEST(Cubepl, TextsAndNumbers) {
  const auto holds = [](const std::string& condition) {
    return *total("{ ${r}=0; ${n}=1234567.25; ${t}=\"12.5 apples\"; if (" + condition +
                  ") { ${r}=1; }; return ${r}; }");
  };
  EXPECT_EQ(holds("${n} eq \"1234567.25\""), 1);
  EXPECT_EQ(holds("${t} + 1 == 13.5"), 1);
  EXPECT_EQ(holds("\"inf\" + 1 == 1"), 1);
  EXPECT_EQ(holds("uppercase(${t}) eq \"12.5 APPLES\""), 1);
  EXPECT_EQ(holds("\"a/b\" =~ /a\\/b/"), 1);
  EXPECT_EQ(holds("\"MPI_Send\" =~ /^MPI_(?!Recv)/"), 1);
  EXPECT_EQ(holds("\"MPI_Recv\" =~ /^MPI_(?!Recv)/"), 0);
  EXPECT_EQ(holds("\"foofoo\" =~ /^(foo)\\1$/"), 1);
  EXPECT_EQ(holds("\"foobar\" =~ /^(foo)\\1$/"), 0);
  EXPECT_EQ(holds("\"mpi_send\" =~ /MPI/"), 0);  // case counts
  EXPECT_EQ(holds("\"a\\\"b\" eq \"a\\\"b\""), 1);
}

TEST(Cubepl, ConditionsLookNoFurtherThanTheyMust) {
  // Positions are -1, 0 for main and 2, 6 for foo: the first is none.
  const auto sum = [](const std::string& condition) {
    const auto value =
        total("{ ${a}[2]=5; ${i}=metric::time()-2; ${r}=0; if (" + condition + ") { ${r}=1; }; return ${r}; }",
              Derivation::pre_exclusive);
    return value.ok() ? *value : -1;
  };
  EXPECT_EQ(sum("(${i} > 0) and (${a}[${i}] == 5)"), 1);
  EXPECT_EQ(sum("(${i} < 0) or (${a}[${i}] == 5)"), 2);
  EXPECT_EQ(sum("${a}[${i}] == 5"), -1);
}

TEST(Cubepl, ANameKeepsItsFirstDeclaration) {
  EXPECT_EQ(*total("{ local(x); global(x); ${x}=1; return ${x} + defined(x); }"), 2);
  EXPECT_EQ(*total("{ global(x); ${x}=3; local(x); return ${x}; }"), 3);
}

TEST(Cubepl, WhatIsDefined) {
  EXPECT_EQ(*total("{ local(x); return defined(x); }"), 1);
  EXPECT_EQ(*total("{ ${r}=defined(later); ${later}=1; return ${r}; }"), 1);
  EXPECT_EQ(*total("defined(nothing)"), 0);
  EXPECT_EQ(*total("defined(cube::#metrics) + defined(time)"), 2);
}

TEST(Cubepl, KnowsWhichPartOfTheSystemIsAskedFor) {
  // Two nodes with a process each, of two threads each.
  test::MemoryProfile make;
  make.metric("time");
  make.context("main");
  SystemTree& system = make.defs().system;
  for (std::size_t i = 1; i < 3; ++i) {  // node and process once more
    SystemNode copy = system.nodes[i];
    copy.parent = i == 1 ? SystemNodeId(0) : SystemNodeId(system.nodes.size() - 1);
    system.add(copy);
  }
  for (std::uint64_t i = 2; i < 4; ++i) {
    SystemNode thread;
    thread.kind = SystemKind::location;
    thread.type = "thread";
    thread.file_id = i;
    thread.parent = SystemNodeId(6);
    system.add_location(thread);
  }
  const auto profile =
      with_cubepl(make.build(), {"x",
                                 "${calculation::sysres::kind} + 10*${calculation::sysres::id} + "
                                 "100*${calculation::sysres::#elements} + 1000*${calculation::sysres::sysid}",
                                 Derivation::post, "", ""});
  ASSERT_TRUE(profile.ok());
  const auto over = [&](std::vector<LocationId> locations) {
    const auto cells = compute_groups(**profile, MetricId(1), {Flavour::Kind::inclusive, {}},
                                      {{{ContextId(0)}}, {std::move(locations)}});
    return cells.ok() ? cells->scalar(0, 0) : -1;
  };
  EXPECT_EQ(over({LocationId(2)}), 7 + 10 * 2 + 100 + 1000 * 7);
  EXPECT_EQ(over({LocationId(2), LocationId(3)}), 6 + 10 * 1 + 100 + 1000 * 6);  // the second process
  EXPECT_EQ(over({LocationId(1), LocationId(2)}), 7 + 10 * 1 + 200 + 1000 * 4);  // two threads of two processes
  EXPECT_EQ(over({LocationId(0), LocationId(1), LocationId(2), LocationId(3)}), 0);
}

// As cube_dump has it: locations are asked for as exclusive (1), what is added up over the system is inclusive (0). The
// state of the call path stands beside it.
TEST(Cubepl, LocationsAreExclusiveResources) {
  test::MemoryProfile make;
  make.metric("time");
  make.context("main");
  const auto profile = with_cubepl(
      make.build(),
      {"s", "10*${calculation::sysres::state} + ${calculation::callpath::state}", Derivation::post, "", ""});
  ASSERT_TRUE(profile.ok());
  for (const auto kind : {Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
    const auto cells = compute_groups(**profile, MetricId(1), {kind, {}},
                                      {{{ContextId(0)}}, {{LocationId(0)}, {LocationId(0), LocationId(1)}}});
    ASSERT_TRUE(cells.ok());
    const int state = kind == Flavour::Kind::exclusive ? 1 : 0;
    EXPECT_EQ(cells->scalar(0, 0), 10 + state);
    EXPECT_EQ(cells->scalar(0, 1), state);
  }
}

TEST(Cubepl, VariablesOfTheSystemTree) {
  // Machine, node, process, two threads; numbers within a kind start at 0.
  EXPECT_EQ(*total("${cube::locationgroup::parent::id}[0]"), 1);
  EXPECT_EQ(*total("${cube::locationgroup::parent::sysid}[0]"), 1);
  EXPECT_EQ(*total("${cube::location::parent::id}[1]"), 0);
  EXPECT_EQ(*total("${cube::location::parent::sysid}[1]"), 2);
  EXPECT_EQ(*total("${cube::stn::parent::id}[0]"), 0);
  EXPECT_EQ(*total("${cube::stn::#children}[0] + 10 * ${cube::stn::#locationgroups}[1]"), 11);
  EXPECT_EQ(*total("${cube::locationgroup::#locations}[0]"), 2);
  EXPECT_EQ(*total("${cube::location::type}[0] + ${cube::locationgroup::type}[0]"), 0);
  EXPECT_EQ(*total("{ ${r}=0; if (${cube::stn::class}[1] eq \"node\") { ${r}=1; }; return ${r}; }"), 1);
  // Lists that have no values in the reference either.
  EXPECT_EQ(
      *total("${cube::callpath::children}[0] + ${cube::metric::enumeration}[0] + ${cube::stn::locationgroups}[1]"), 0);
}

// A profile with derived metrics as a file declares them.
ProfilePtr with_sources(std::map<std::string, std::pair<Derivation, cubepl::Source>> metrics) {
  auto defs = std::make_shared<Definitions>(sample()->defs());
  auto profile = std::make_shared<Profile>(*sample());
  std::map<MetricId, cubepl::Source> sources;
  for (auto& [name, what] : metrics) {
    Metric metric;
    metric.name = name;
    metric.derivation = what.first;
    metric.expression = what.second.value;
    defs->metrics.push_back(metric);
    sources[MetricId(defs->metrics.size() - 1)] = what.second;
  }
  EXPECT_TRUE(cubepl::add_programs(*defs, *profile, sources).ok());
  profile->definitions = defs;
  return profile;
}

double value_of(const Profile& profile, const char* name, bool inclusive = true) {
  const MetricId id = profile.defs().find_metric(name);
  const Flavour flavour{inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive, {}};
  const auto cells = compute(profile, id, {flavour, {ContextId(0)}, {0, 2}, true});
  return cells.ok() ? cells->scalar(0, 0) : -1;
}

TEST(Cubepl, ExpressionsSwitchMetricsOff) {
  cubepl::Source source;
  source.value = "1";
  source.init = {"{ if (metric::time() > 14) { cube::metric::set::time(\"value\", \"VOID\"); }; return 0; }"};
  const ProfilePtr profile = with_sources({{"switch", {Derivation::post, source}}});
  EXPECT_EQ(value_of(*profile, "time"), 0);  // 15 before
  EXPECT_EQ(*total("{ ${r}=0; if (cube::metric::get::time(\"value\") eq \"\") { ${r}=1; }; return ${r}; }"), 1);
}

TEST(Cubepl, InitialExpressionsRunOnceAndShareGlobals) {
  cubepl::Source counter;
  counter.value = "${runs}";
  counter.init = {"global(runs); ${runs} = ${runs} + 1;"};
  cubepl::Source reader;
  reader.value = "{ ${r}=0; if (${cube::metric::initexpression}[1] =~ /runs/) { ${r}=${runs}; }; return ${r}; }";
  const ProfilePtr profile =
      with_sources({{"a_counter", {Derivation::post, counter}}, {"b_reader", {Derivation::post, reader}}});
  EXPECT_EQ(value_of(*profile, "a_counter"), 1);
  EXPECT_EQ(value_of(*profile, "a_counter", false), 1);
  EXPECT_EQ(value_of(*profile, "b_reader"), 1);
}

TEST(Cubepl, OwnOperatorsAlsoOverSomeLocations) {
  cubepl::Source source;
  source.value = "metric::time()";
  source.plus = "max(arg1, arg2)";
  source.aggregate = "max(arg1, arg2)";
  source.minus = "arg1 + 100 * arg2";
  const ProfilePtr profile =
      with_sources({{"m", {Derivation::pre_exclusive, source}}, {"n", {Derivation::pre_inclusive, source}}});
  // One column per group, in an order that is not that of the file.
  const Grouping grouping{{{ContextId(0)}, {ContextId(0), ContextId(1)}},
                          {{LocationId(1)}, {LocationId(0), LocationId(1)}}};
  const auto cells = compute_groups(*profile, MetricId(1), {Flavour::Kind::exclusive, {}}, grouping);
  ASSERT_TRUE(cells.ok()) << cells.error().text();
  EXPECT_EQ(cells->scalar(0, 0), 2);
  EXPECT_EQ(cells->scalar(0, 1), 2);  // max(1, 2), not 3
  EXPECT_EQ(cells->scalar(1, 1), 8);  // and over both contexts
  EXPECT_EQ(value_of(*profile, "m"), 8);
  // Inclusive values 5, 10 and 4, 8: max 10 and 8; exclusive by the minus operator.
  EXPECT_EQ(value_of(*profile, "n"), 10);
  EXPECT_EQ(value_of(*profile, "n", false), 810);
}

TEST(Cubepl, TextsMayAmendMetricsDefinedBefore) {
  EXPECT_EQ(
      *total("{ cube::metric::prederived::g(e) << metric::time() >>; cube::metric::plus::g << max(arg1, arg2) >>; "
             "cube::metric::aggr::g << max(arg1, arg2) >>; return metric::g(i); }"),
      8);
}

TEST(Cubepl, ManyEvaluationsAreBoundedTogether) {
  const auto profile = with_cubepl(sample(), {"x", "{ ${a}=0; while (${a} < 100000000) { ${a}=${a}+1; }; return 1; }",
                                              Derivation::pre_exclusive, "", ""});
  ASSERT_TRUE(profile.ok());
  (*profile)->work->options.set(expression::kMaxSteps, 10000);
  const auto& meter = *(*profile)->programs.at(MetricId(1))->meter;
  EXPECT_FALSE(compute(**profile, MetricId(1), {{Flavour::Kind::inclusive, {}}, {}, {0, 2}, false}).ok());
  EXPECT_TRUE(meter.given_up());  // no second try
  expression::Meter together;
  const expression::StepLimit limit = expression::StepLimit::of(*(*profile)->work);
  EXPECT_EQ(limit.one_run, 10'000u);
  EXPECT_TRUE(together.spend(limit.all_runs(), 0, limit));
  EXPECT_TRUE(together.spend(5 * limit.per_value(), 5, limit));
  EXPECT_FALSE(together.spend(1, 0, limit));
}

TEST(Cubepl, NothingRunsForEver) {
  const auto endless = total("{ ${a}=0; while (1==1) { ${a}=${a}+1; }; return ${a}; }");
  ASSERT_FALSE(endless.ok());
  EXPECT_NE(endless.error().text().find("does not come to an end"), std::string::npos);
  const auto huge = total("{ ${a}[1000000000]=1; return 1; }");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().text().find("position"), std::string::npos);
  EXPECT_FALSE(total("{ ${a}[0-1]=1; return 1; }").ok());
  const auto backtracking =
      total("{ ${r}=0; if (\"" + std::string(60, 'a') + "b\" =~ /^(a+)+$/) { ${r}=1; }; return ${r}; }");
  ASSERT_FALSE(backtracking.ok());
  EXPECT_NE(backtracking.error().text().find("limit"), std::string::npos);
  EXPECT_FALSE(parse("{ if (\"a\" =~ /" + std::string(5000, '(') + "/) { ${a}=1; }; return 1; }").ok());
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
  // The bracket of the class that is never closed: found missing at the end of the pattern.
  EXPECT_NE(message("{ if (\"a\" =~ /x[a/) { ${a}=1; }; return 1; }").find("character 18: regular expression"),
            std::string::npos);
  EXPECT_NE(message("{ if (\"a\" =~ /x").find("closing '/'"), std::string::npos);
}

TEST(Cubepl, OperatorsOfAMetric) {
  auto defs = std::make_shared<Definitions>(sample()->defs());
  auto profile = std::make_shared<Profile>(*sample());
  Metric metric;
  metric.name = "longest";
  metric.type = {ValueKind::f64, 0};
  metric.derivation = Derivation::pre_exclusive;
  defs->metrics.push_back(metric);
  cubepl::Source source;
  source.value = "metric::time() + ${offset}";
  source.init = {"{ global(offset); ${offset}=10; return 0; }"};
  source.plus = "max(arg1, arg2)";
  source.aggregate = "max(arg1, arg2)";
  ASSERT_TRUE(cubepl::add_programs(*defs, *profile, {{MetricId(1), source}}).ok());
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
    const auto written = cubepl::to_text((*derived)->programs.at(MetricId(1))->value);
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
