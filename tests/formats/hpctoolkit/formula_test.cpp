// Formulas of databases: the language, the taxonomy that holds them, and what real databases define with them.
#include "formats/hpctoolkit/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "profile/compute.hpp"
#include "profile/expression/derive.hpp"
#include "profile/memory_profile.hpp"
#include "temporary_directory.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

// Metrics m1 = 6 (call) + 2 (root's own) at the root and m2 = 3; $1 and $2 are their numbers.
ProfilePtr small_profile() {
  test::MemoryProfile made({"0"});
  const MetricId one = made.metric("m1");
  const MetricId two = made.metric("m2");
  made.context("main");
  made.context("main/leaf");
  made.values<double>(one, "main", {2.0});
  made.values<double>(one, "main/leaf", {6.0});
  made.values<double>(two, "main/leaf", {3.0});
  return made.build();
}

Result<expression::Tree> compiled(std::string_view text) {
  return compile_formula(text, [](char sign, std::int64_t number) -> Result<expression::MetricReference> {
    if (number != 1 && number != 2) return Error("there is no metric " + std::to_string(number));
    expression::MetricReference out{"m" + std::to_string(number), expression::Reach::here, expression::Wanted::running,
                                    expression::Wanted::running};
    if (sign == '@') out.reach = expression::Reach::roots;
    return out;
  });
}

// The formula's exclusive value at the leaf, where $1 is 6, $2 is 3, @1 is 8.
double at_leaf(std::string_view text) {
  auto tree = compiled(text);
  EXPECT_TRUE(tree.ok()) << text << ": " << (tree.ok() ? "" : tree.error().text());
  if (!tree.ok()) return std::nan("");
  auto program = std::make_shared<expression::Program>();
  program->value = std::move(*tree);
  auto profile = with_program(small_profile(), {"x", std::string(text), Derivation::post, "", ""}, program);
  EXPECT_TRUE(profile.ok());
  Selection selection;
  selection.flavour.kind = Flavour::Kind::exclusive;
  selection.locations = all_locations((*profile)->defs());
  auto cells = compute(**profile, (*profile)->defs().find_metric("x"), selection);
  EXPECT_TRUE(cells.ok()) << text;
  return cells.ok() ? cells->scalar(1, 0) : std::nan("");
}

TEST(HpctoolkitFormula, Operators) {
  EXPECT_EQ(at_leaf("$1+$2*2"), 12);
  EXPECT_EQ(at_leaf("($1 + $2) * 2"), 18);
  EXPECT_EQ(at_leaf("-$2^2"), -9);
  EXPECT_EQ(at_leaf("2^3^2"), 512);
  EXPECT_EQ(at_leaf("$1/$2/2"), 1);
  EXPECT_EQ(at_leaf("100*($2/$1)"), 50);
  EXPECT_EQ(at_leaf("@1 - $1"), 2);
  EXPECT_EQ(at_leaf("sqrt((($1/$2)-(($1/$2)^2)) + 27)"), 5);
}

TEST(HpctoolkitFormula, DivisionByZeroIsZero) {
  EXPECT_EQ(at_leaf("$1/($2-3)"), 0);
  EXPECT_EQ(at_leaf("1+$1/0"), 1);
}

TEST(HpctoolkitFormula, Functions) {
  EXPECT_EQ(at_leaf("sum($1, $2, 1)"), 10);
  EXPECT_EQ(at_leaf("avg($1,$2)"), 4.5);
  EXPECT_EQ(at_leaf("min($1,$2) + max($1,$2)"), 9);
  EXPECT_EQ(at_leaf("stdev($1,$2)"), 1.5);
  EXPECT_EQ(at_leaf("pow($2, 2)"), 9);
  EXPECT_EQ(at_leaf("mod($1, 4)"), 2);
  EXPECT_NEAR(at_leaf("log(1000)"), 3, 1e-12);
  EXPECT_NEAR(at_leaf("log(8, 2)"), 3, 1e-12);
  EXPECT_EQ(at_leaf("lg(8)"), 3);
  EXPECT_NEAR(at_leaf("ln(e())"), 1, 1e-12);
  EXPECT_NEAR(at_leaf("cos(pi())"), -1, 1e-12);
  EXPECT_EQ(at_leaf("fact(4)"), 24);
  EXPECT_EQ(at_leaf("combin(5, 2)"), 10);
  EXPECT_EQ(at_leaf("if($1-6, 1, 2)"), 2);
  EXPECT_EQ(at_leaf("sign(-3)+abs(-3)+round(2.6)+floor(2.6)+ceil(2.2)"), -1 + 3 + 3 + 2 + 3);
  EXPECT_NEAR(at_leaf("sinh(1)+cosh(1)"), std::numbers::e, 1e-12);
  EXPECT_NEAR(at_leaf("atanh(tanh(0.5))+asinh(sinh(0.5))+acosh(cosh(0.5))"), 1.5, 1e-12);
}

TEST(HpctoolkitFormula, ErrorsPointAtTheCharacter) {
  const auto message = [](std::string_view text) {
    auto tree = compiled(text);
    return tree.ok() ? "accepted" : tree.error().text();
  };
  EXPECT_NE(message("$1 + ").find("character 6"), std::string::npos) << message("$1 + ");
  EXPECT_NE(message("$1 + $7").find("character 6: there is no metric 7"), std::string::npos) << message("$1 + $7");
  EXPECT_NE(message("$x").find("character 2: expected the number of a metric"), std::string::npos) << message("$x");
  EXPECT_NE(message("frob($1)").find("character 1: there is no function 'frob' of 1"), std::string::npos);
  EXPECT_NE(message("(1").find("expected ')'"), std::string::npos);
  EXPECT_NE(message(std::string(100'000, '(')).find("nested too deeply"), std::string::npos);
}

// What is printed is read back to the same values.
TEST(HpctoolkitFormula, PrintsWhatItReads) {
  for (const char* text : {"($1+$2)*2", "-$2^2", "sqrt($1/$2)", "max($1,2,$2)-0.1", "log($1,2)"}) {
    auto tree = compiled(text);
    ASSERT_TRUE(tree.ok()) << text;
    const auto spell = [](const expression::MetricReference& one) { return "$" + one.metric.substr(1); };
    auto again = formula_text(*tree, FormulaStyle::infix, spell);
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(at_leaf(*again), at_leaf(text)) << *again;
  }
}

constexpr const char* kTaxonomy = R"(version: 0
inputs:
  - &aI {metric: a, scope: execution}
  - &aE {<<: *aI, scope: function}
  - &aX {<<: *aI, scope: lex_aware}
  - &bI {metric: b, scope: execution, formula: $$, combine: sum}
  - &bE {<<: *bI, scope: function}
  - &aN {<<: *aI, formula: 1}
  - &aMin {<<: *aI, combine: min}
  - &aMax {<<: *aI, combine: max}
  - &aSquares {<<: *aE, formula: ($$^2)}
roots:
  - name: a
    description: what a is
    variants:
      Sum: {render: number, formula: {inclusive: *aI , exclusive: {custom: *aX , standard: *aE }}}
      Mean: {render: number, formula: {inclusive: {/: [*aI , *aN ]}}}
      Spread: {formula: {inclusive: {-: [*aMax , *aMin ]}, exclusive: {sqrt: [{-: [*aSquares , 15]}]}}}
  - name: family
    variants:
      Sum: {render: colorbar, formula: sum}
      First: {render: number, formula: first}
    children:
      - name: ratio
        description: a per b
        variants:
          Sum: {formula: {inclusive: {standard: {/: [*aI , *bI ]}}, exclusive: {custom: {/: [*aX , *bE ]}, standard: {/: [*aE , *bE ]}}}}
          First: {formula: {inclusive: [2 *,[*aI ,+,*bI ]]}}
      - name: infix
        variants:
          Sum: {formula: {inclusive: [4*,[*aI ,-,*bI ]], exclusive: {"strict floor": [[*aE ,/,2]]}}}
  - name: no such input
    variants:
      Sum: {formula: {inclusive: {frob: [*aI ]}}}
)";

class HpctoolkitTaxonomy : public testing::Test {
 protected:
  // A database of a profile with metrics a and b, with the taxonomy given instead of its own.
  ProfilePtr database_with(const std::string& taxonomy) {
    test::MemoryProfile made({"0", "1"});
    const MetricId a = made.metric("a");
    const MetricId b = made.metric("b");
    made.context("main");
    made.context("main/leaf");
    made.values<double>(a, "main", {2.0, 0.0});
    made.values<double>(a, "main/leaf", {7.0, 8.0});
    made.values<double>(b, "main/leaf", {2.0, 0.0});
    EXPECT_TRUE(write_database(*made.build(), nullptr, {}, Generation::meta, directory_ / "db").ok());
    EXPECT_TRUE(write_file(directory_ / "db/metrics/default.yaml", taxonomy).ok());
    auto dataset = open_dataset(directory_ / "db", work_);
    EXPECT_TRUE(dataset.ok());
    if (!dataset.ok()) return nullptr;
    dataset_ = std::move(*dataset);
    auto profile = dataset_->profile();
    return profile.ok() ? *profile : nullptr;
  }

  static double value(const Profile& profile, const char* metric, Flavour::Kind flavour, std::size_t context,
                      std::size_t location) {
    const MetricId id = profile.defs().find_metric(metric);
    EXPECT_TRUE(id.valid()) << metric;
    if (!id.valid()) return std::nan("");
    Selection selection;
    selection.flavour.kind = flavour;
    selection.locations = all_locations(profile.defs());
    auto cells = compute(profile, id, selection);
    EXPECT_TRUE(cells.ok()) << metric;
    return cells.ok() ? cells->scalar(context, location) : std::nan("");
  }

  static double over_all(const Profile& profile, const char* metric, Flavour::Kind flavour, std::size_t context) {
    const auto cells =
        compute(profile, profile.defs().find_metric(metric), {{flavour, {}}, {}, all_locations(profile.defs()), true});
    EXPECT_TRUE(cells.ok()) << metric;
    return cells.ok() ? cells->scalar(context, 0) : std::nan("");
  }

  TemporaryDirectory directory_;
  Work work_ = make_work();
  DatasetPtr dataset_;
};

TEST_F(HpctoolkitTaxonomy, FormulasBecomeDerivedMetrics) {
  const ProfilePtr profile = database_with(kTaxonomy);
  ASSERT_TRUE(profile);
  const auto kInclusive = Flavour::Kind::inclusive;
  const auto kExclusive = Flavour::Kind::exclusive;
  EXPECT_EQ(value(*profile, "ratio", kInclusive, 0, 0), 4.5);
  EXPECT_EQ(value(*profile, "ratio", kExclusive, 1, 0), 3.5);
  EXPECT_EQ(value(*profile, "ratio", kExclusive, 1, 1), 0);  // 8/0
  EXPECT_EQ(value(*profile, "infix", kInclusive, 0, 0), 4 * (9 - 2));
  EXPECT_EQ(value(*profile, "infix", kExclusive, 1, 1), 3);  // the largest integer below 8/2
  // Sums of children, and the first child's variant.
  EXPECT_EQ(value(*profile, "family", kInclusive, 0, 0), 4.5 + 28);
  EXPECT_EQ(value(*profile, "family:First", kInclusive, 0, 0), 2 * (9 + 2));
  EXPECT_EQ(value(*profile, "family:First", kExclusive, 0, 0), 0);  // it has inclusive values only
  // Unasked, what the operands show unasked.
  EXPECT_EQ(value(*profile, "ratio", Flavour::Kind::stored, 0, 0), 4.5);
  // Statistics over the profiles: 9 and 8 of main, 7 and 8 of the leaf.
  EXPECT_EQ(over_all(*profile, "a:Mean", kInclusive, 0), 8.5);
  EXPECT_EQ(over_all(*profile, "a:Spread", kInclusive, 0), 1);
  EXPECT_NEAR(over_all(*profile, "a:Spread", kExclusive, 1), std::sqrt(7 * 7 + 8 * 8 - 15), 1e-12);
  EXPECT_EQ(value(*profile, "a:Mean", kInclusive, 0, 1), 8);  // of one profile alone
  // Aliases are no new metrics; the bad one is reported.
  EXPECT_FALSE(profile->defs().find_metric("a:Sum").valid());
  EXPECT_EQ(profile->defs().metric(profile->defs().find_metric("a")).description, "what a is");
  EXPECT_FALSE(profile->defs().find_metric("no such input").valid());
  bool reported = false;
  for (const auto& one : work_->diagnostics.all()) {
    reported = reported || (one.id == "hpctoolkit.formula" && one.text.find("character 1") != std::string::npos);
  }
  EXPECT_TRUE(reported);
}

TEST_F(HpctoolkitTaxonomy, DamageCostsTheDerivedMetricsOnly) {
  for (const std::string& text :
       {std::string("roots: [\n"), std::string("just text"), std::string("roots: &a [*a ]\n"),
        std::string("roots:\n  - name: x\n    variants: {Sum: {formula: {inclusive: &f {sqrt: [*f ]}}}}\n"),
        std::string("inputs: [&m {metric: gone, scope: execution}]\nroots: [{name: y, variants: {Sum: {formula: "
                    "{inclusive: {sqrt: [*m ]}}}}}]\n"),
        std::string()}) {
    const ProfilePtr profile = database_with(text);
    ASSERT_TRUE(profile) << text;
    EXPECT_EQ(profile->defs().metrics.size(), 2U) << text;
    EXPECT_EQ(value(*profile, "a", Flavour::Kind::inclusive, 0, 0), 9) << text;
    work_ = make_work();
  }
}

// Through the older generation and back, formulas keep their values.
TEST_F(HpctoolkitTaxonomy, KeptWhenWritten) {
  const ProfilePtr before = database_with(kTaxonomy);
  ASSERT_TRUE(before);
  for (const Generation generation : {Generation::xml, Generation::meta}) {
    const fs::path target = directory_ / (generation == Generation::xml ? "xml" : "meta");
    ASSERT_TRUE(write_database(*before, nullptr, {}, generation, target).ok());
    auto dataset = open_dataset(target, work_);
    ASSERT_TRUE(dataset.ok());
    auto after = (*dataset)->profile();
    ASSERT_TRUE(after.ok());
    for (const char* metric : {"ratio", "infix", "family", "family:First"}) {
      for (const auto flavour : {Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
        for (std::size_t cell = 0; cell < 4; ++cell) {
          EXPECT_EQ(value(**after, metric, flavour, cell / 2, cell % 2),
                    value(*before, metric, flavour, cell / 2, cell % 2))
              << target << metric << cell;
        }
      }
    }
    for (const char* metric : {"a:Mean", "a:Spread", "b:StdDev"}) {
      if (!before->defs().find_metric(metric).valid()) continue;
      EXPECT_EQ(over_all(**after, metric, Flavour::Kind::inclusive, 0),
                over_all(*before, metric, Flavour::Kind::inclusive, 0))
          << target << metric;
    }
    // What every database has is not there twice.
    EXPECT_TRUE((*after)->defs().find_metric("b:StdDev").valid());
    EXPECT_FALSE((*after)->defs().find_metric("b:StdDev'").valid());
  }
}

// The occupancy of the real kernels follows from the accumulators: 100 × active / possible.
TEST(HpctoolkitDerived, OccupancyOfRealKernels) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit";
  if (!fs::exists(data)) GTEST_SKIP() << "no shared data";
  for (const char* name : {"a-loops-cuda", "b-loops-cuda", "b-derived-metrics"}) {
    auto dataset = open_dataset(data / name, make_work());
    ASSERT_TRUE(dataset.ok());
    auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok());
    const Definitions& defs = (*profile)->defs();
    Selection selection;
    selection.flavour.kind = Flavour::Kind::exclusive;
    selection.locations = all_locations(defs);
    const auto cells = [&](const char* metric) { return compute(**profile, defs.find_metric(metric), selection); };
    auto occupancy = cells("GKER:OCC_THR");
    auto active = cells("GKER:FGP_ACT_ACUMU");
    auto possible = cells("GKER:FGP_MAX_ACUMU");
    ASSERT_TRUE(occupancy.ok() && active.ok() && possible.ok()) << name;
    std::size_t kernels = 0;
    for (std::size_t row = 0; row < occupancy->rows(); ++row) {
      for (std::size_t column = 0; column < occupancy->columns(); ++column) {
        if (possible->scalar(row, column) == 0) continue;
        ++kernels;
        EXPECT_DOUBLE_EQ(occupancy->scalar(row, column),
                         100 * active->scalar(row, column) / possible->scalar(row, column));
      }
    }
    EXPECT_GT(kernels, 0U) << name;
  }
}

}  // namespace
}  // namespace fathom::hpctoolkit
