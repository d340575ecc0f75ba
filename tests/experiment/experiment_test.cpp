#include "experiment/experiment.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "experiment/builder.hpp"
#include "model/model.hpp"

namespace fathom {
namespace {

TEST(Statistics, OfEvenCountAndPopulation) {
  std::vector<double> scratch;
  const std::array values = {4.0, 1.0, 3.0, 2.0};
  const ValueStatistics s = statistics_of(values, scratch);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.minimum, 1);
  EXPECT_EQ(s.maximum, 4);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(1.25));
}

TEST(PythonNumber, LayoutOfRepr) {
  EXPECT_EQ(python_number(1), "1.0");
  EXPECT_EQ(python_number(0.1), "0.1");
  EXPECT_EQ(python_number(1e-5), "1e-05");
  EXPECT_EQ(python_number(0.0001), "0.0001");
  EXPECT_EQ(python_number(1e16), "1e+16");
  EXPECT_EQ(python_number(1234567890123456.0), "1234567890123456.0");
  EXPECT_EQ(python_number(-1.5e300), "-1.5e+300");
  EXPECT_EQ(python_number(1.3742083125522062), "1.3742083125522062");
  EXPECT_EQ(python_number(-0.0), "-0.0");
}

TEST(Builder, CollectsRepetitionsAndNumbersPointsBySeries) {
  ExperimentBuilder builder("x", make_work(), ExperimentBuilder::Repeats::collect);
  builder.parameter("p");
  const auto add = [&](const char* callpath, double p, double value) {
    const auto c = builder.callpath(callpath);
    const auto m = builder.metric("time");
    builder.add(c, m, builder.point(std::array{p}), std::array{value});
  };
  add("a", 1, 10);
  add("b", 2, 20);
  add("a", 3, 30);
  add("a", 1, 12);
  add("b", 1, 7);
  const auto e = std::move(builder).finish().value();
  ASSERT_EQ(e->point_count(), 3u);
  EXPECT_EQ(e->point(0)[0], 1);
  EXPECT_EQ(e->point(1)[0], 3);
  EXPECT_EQ(e->point(2)[0], 2);
  ASSERT_EQ(e->series().size(), 2u);
  EXPECT_EQ(e->repetitions()[0], 2u);
  EXPECT_EQ(e->means()[0], 11);
  EXPECT_EQ(std::vector<double>(e->values(0).begin(), e->values(0).end()), (std::vector<double>{10, 12}));
  EXPECT_EQ(e->series()[1].first, 2u);
  EXPECT_EQ(e->means()[2], 20);
  EXPECT_EQ(e->means()[3], 7);
  const auto refused = validate(*e, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what(),
            "The number of measurements (2) for (Callpath(a), Metric(time)) does not match the number of coordinates "
            "(3).");
  EXPECT_TRUE(validate(*e, true).ok());
}

TEST(Builder, RaggedValuesKeepTheirShape) {
  ExperimentBuilder builder("x", make_work());
  builder.parameter("p");
  const std::array values = {1.0, 2.0, 3.0, 8.0};
  const std::array<ShapeToken, 3> shape = {2 * 2 + 1, 3 * 2, 1 * 2};  // [[1,2,3],[8]]
  builder.add(builder.callpath("a"), builder.metric("t"), builder.point(std::array{1.0}), values, 2, shape);
  const auto e = std::move(builder).finish().value();
  EXPECT_EQ(e->means()[0], 3.5);
  EXPECT_EQ(e->repetitions()[0], 2u);
  EXPECT_EQ(e->shape(0).size(), 3u);
  EXPECT_EQ(e->repetition_means(0), (std::vector<double>{2, 8}));
}

TEST(CallTree, LevelByLevel) {
  ExperimentBuilder builder("x", make_work());
  for (const char* c : {"main->b->c", "other", "main->a", "main->b"}) builder.callpath(c);
  const auto e = std::move(builder).finish().value();
  const auto& nodes = e->call_tree().nodes;
  ASSERT_EQ(nodes.size(), 6u);
  EXPECT_EQ(nodes[1].name, "main");
  EXPECT_EQ(nodes[1].callpath, CallTree::kNone);
  EXPECT_EQ(nodes[2].name, "other");
  EXPECT_EQ(nodes[3].name, "b");
  EXPECT_EQ(nodes[3].callpath, 3u);
  EXPECT_EQ(nodes[4].name, "a");
  EXPECT_EQ(nodes[5].name, "c");
}

TEST(FunctionText, Forms) {
  const std::vector<std::string> names = {"x", "y"};
  Function f;
  f.constant = 1.5;
  f.terms.push_back(
      {-2, {{0, Exponent::fraction(3, 2), Exponent::fraction(2), {}}, {1, {}, Exponent::fraction(1), {}}}});
  EXPECT_EQ(text(f, names), "1.5 + -2.0 * x^(3/2) * log2(x)^(2) * log2(y)^(1)");
  EXPECT_EQ(text(f, names, FunctionForm::python), "1.5-2.0*x**(3/2)*log2(x)**(2)*log2(y)**(1)");
  EXPECT_EQ(text(f, names, FunctionForm::latex),
            "$1.500-2.000\\cdot x^{3/2}\\cdot \\log_2{x}^{2}\\cdot \\log_2{y}^{1}$");
  const std::array at = {4.0, 2.0};
  EXPECT_DOUBLE_EQ(f(at), 1.5 - 2 * 8 * 4);
  EXPECT_EQ(terms_json(f, names),
            R"({"constant":1.5,"compound":[{"coefficient":-2,"factors":[{"parameter":"x","exponent":"3/2","log":"2"},)"
            R"({"parameter":"y","exponent":"0","log":"1"}]}]})");
}

}  // namespace
}  // namespace fathom
