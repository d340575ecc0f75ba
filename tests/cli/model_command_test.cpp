// fathom model as its users call it: table, predictions, JSON, saved files, figures.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "temporary_directory.hpp"

namespace fathom::cli {
namespace {

using Json = nlohmann::json;

const std::string kExample = FATHOM_SOURCE_DIR "/examples/scaling.txt";

struct Ran {
  int status;
  std::string out;
  std::string err;
};
Ran run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "model");
  Output out;
  Output err;
  const int status = run_program(arguments, out, err);
  return {status, out.text(), err.text()};
}
Json run_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Ran ran = run(std::move(arguments));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

// Points p = 4 ... 64 (n = 10 ... 50), values of f with a little fixed scatter.
template <class F>
std::string write_experiment(const TemporaryDirectory& folder, int parameters, const F& f, int points = 5) {
  const std::string path = (folder.path() / "made.txt").string();
  std::ofstream out(path);
  out << "PARAMETER p\n" << (parameters > 1 ? "PARAMETER n\n" : "") << (parameters > 2 ? "PARAMETER m\n" : "");
  std::ostringstream data;
  out << "POINTS";
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < (parameters > 1 ? 5 : 1); ++j) {
      for (int k = 0; k < (parameters > 2 ? 5 : 1); ++k) {
        const double p = 4 << i;
        const double n = 10 + 10 * j;
        const double m = 2 + k;
        out << " (" << p;
        if (parameters > 1) out << " " << n;
        if (parameters > 2) out << " " << m;
        out << ")";
        const double value = f(p, n, m);
        data << "DATA " << value * 0.99 << " " << value << " " << value * 1.01 << "\n";
      }
    }
  }
  out << "\nMETRIC time\nREGION main\n" << data.str();
  return path;
}

TEST(ModelCommand, TheTableRanksMarksAndExplains) {
  const Ran ran = run({kExample});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out.rfind("8 models; now: p=64; target: p=1024\n", 0), 0U);
  // The example's generator: linear, p^1.25 * log2 p and the square root are bugs; constants and logarithms are none.
  for (const char* name : {"main->write_output", "main->load_balance", "main->read_input", "exchange_halo"}) {
    EXPECT_EQ(line_with(ran.out, name).front(), '!') << name;
  }
  for (const char* name : {"stencil", "MPI_Allreduce"}) EXPECT_EQ(line_with(ran.out, name).front(), ' ') << name;
  // 'main' is a constant of which the modeler makes a power; the noise could have feigned it.
  EXPECT_EQ(line_with(ran.out, "  main  ").front(), '?');
  EXPECT_NE(ran.out.find("\nScalability bugs (!):\n  'time' of main->write_output grows like p, faster than log2(p): "),
            std::string::npos);
  EXPECT_NE(ran.out.find("\nNot sure (?):\n  'time' of main may grow like "), std::string::npos);
}

TEST(ModelCommand, ExpectationAndTargetAreTheUsers) {
  const Ran lenient = run({kExample, "--expect", "p^2", "--at", "p=256"});
  EXPECT_EQ(lenient.status, 0);
  EXPECT_NE(lenient.out.find("target: p=256"), std::string::npos);
  EXPECT_EQ(lenient.out.find("Scalability bugs"), std::string::npos);
  const Ran strict = run({kExample, "--expect", "1", "--callpath", "main->solve"});
  EXPECT_NE(strict.out.find("grows like log2(p), faster than a constant"), std::string::npos);
  EXPECT_EQ(run({kExample, "--expect", "q"}).status, 2);
  EXPECT_EQ(run({kExample, "--at", "p"}).status, 2);
  EXPECT_EQ(run({kExample, "--at", "q=3"}).status, 2);
}

// What is left out of the table still takes its time: a call path alone has the same share as among all.
TEST(ModelCommand, SharesAreOfAllCallPathsWhateverIsShown) {
  const auto shares = [](const Ran& ran) {
    const std::string line = line_with(ran.out, " main->solve  ");
    return line.substr(std::min(line.size(), line.find('%')));
  };
  const std::string alone = shares(run({kExample, "--callpath", "main->solve", "--at", "p=128"}));
  EXPECT_EQ(alone, shares(run({kExample, "--at", "p=128", "-n", "0"})));
  EXPECT_EQ(std::count(alone.begin(), alone.end(), '%'), 3);
  EXPECT_EQ(alone.find("100.0%"), std::string::npos) << alone;
}

TEST(ModelCommand, ATargetFarOutsideIsSaidToBeAGuess) {
  EXPECT_EQ(run({kExample, "--at", "p=1024"}).err.find("guesses"), std::string::npos);
  EXPECT_NE(run({kExample, "--at", "p=2048"}).err.find("warning: p=2048 lies 32 times outside"), std::string::npos);
  // Each point on its own, and those below the data too; the machine form stays free of them.
  const Ran ran = run({kExample, "--predict", "p=2048", "--predict", "p=0.125", "--predict", "p=100000", "--json"});
  EXPECT_NE(ran.err.find("warning: p=2048 lies 32 times outside"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("warning: p=0.125 lies 32 times outside"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("warning: p=100000 lies"), std::string::npos) << ran.err;
  EXPECT_TRUE(Json::accept(ran.out));
  EXPECT_EQ(ran.out.find("outside"), std::string::npos);
  EXPECT_EQ(run({kExample, "--predict", "p=2048", "--quiet"}).err, "");
  EXPECT_EQ(run({kExample, "--predict", "p=2048", "--strict"}).status, 0);  // the data are sound
}

TEST(ModelCommand, WhereAModelHasNoValueItHasNoIntervalEither) {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "made.txt").string();
  std::ofstream(path) << "PARAMETER p\nPOINTS 2 4 8 16 32\nREGION a\nMETRIC time\nDATA 3.1 3.2\nDATA 9\nDATA 25\nDATA "
                         "65\nDATA 161\n";  // about 1 + p * log2(p)
  const Ran ran = run({path, "--predict", "p=0", "--json"});
  EXPECT_NE(ran.err.find("at p=0 1 of 1 models has no value, such as 'time' of a"), std::string::npos) << ran.err;
  const Json json = Json::parse(ran.out)[0]["predictions"][0];
  EXPECT_EQ(json["value"], "nan");
  EXPECT_EQ(json["low"], "nan") << json;
  EXPECT_NE(run({path, "--predict", "p=1e300"}).err.find("p=1e+300 lies 3.1e+298 times outside"), std::string::npos);
}

TEST(ModelCommand, OptionsOfReadingThatTheFormatDoesNotKnowAreSaidToHaveNoEffect) {
  const Ran ran = run({kExample, "--scaling", "strong", "--multiply-by", "p"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("--scaling has no effect on"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("--multiply-by has no effect"), std::string::npos);
  EXPECT_EQ(run({kExample, "--multiply-by", "p"}).err.find("no effect"), std::string::npos);
}

TEST(ModelCommand, AWideIntervalIsSaid) {
  // Noise of a factor of three at two points of five: nothing is known well.
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "made.txt").string();
  std::ofstream(path)
      << "PARAMETER p\nPOINTS 2 4 8 16 32\nMETRIC t\nREGION steady\nDATA 1 1.01\nDATA 1 1.01\nDATA 1 1.01\n"
         "DATA 1 1.01\nDATA 1 1.01\nREGION wild\nDATA 1 9\nDATA 8 1\nDATA 3 27\nDATA 20 2\nDATA 4 30\n";
  for (const char* option : {"--predict", "--at"}) {
    const Ran ran = run({path, option, "p=64"});
    EXPECT_NE(ran.err.find("at p=64 1 of 2 models is known only to within a factor of 2"), std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("of wild"), std::string::npos) << ran.err;
  }
}

TEST(ModelCommand, CsvHasTheNumbersOfTheJson) {
  const std::vector<std::string> arguments = {kExample, "--callpath", "main->solve", "--predict",
                                              "p=128",  "--predict",  "p=256"};
  auto with_csv = arguments;
  with_csv.push_back("--csv");
  const Ran ran = run(with_csv);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json model = run_json(arguments)[0];
  std::istringstream lines(ran.out);
  std::string header;
  std::getline(lines, header);
  EXPECT_EQ(header, "callpath,metric,function,RSS,rRSS,SMAPE,AR2,RE,point,value,low,high");
  for (const auto& prediction : model["predictions"]) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.starts_with("main->solve,time," + model["function"].get<std::string>() + ",")) << line;
    double value = 0;
    double low = 0;
    double high = 0;
    ASSERT_EQ(std::sscanf(line.substr(line.find(",p=")).c_str(), ",p=%*d,%lf,%lf,%lf", &value, &low, &high), 3) << line;
    EXPECT_EQ(value, prediction["value"].get<double>());
    EXPECT_EQ(low, prediction["low"].get<double>());
    EXPECT_EQ(high, prediction["high"].get<double>());
  }
  // Without points their columns are empty.
  EXPECT_NE(run({kExample, "--callpath", "main->solve", "--csv"}).out.find(",,,,\n"), std::string::npos);
}

TEST(ModelCommand, PredictionsComeWithIntervals) {
  const Ran ran = run({kExample, "--predict", "p=128", "--predict", "p=256", "--callpath", "main->write_output"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(line_with(ran.out, "call path").find("p=128"), std::string::npos);
  EXPECT_NE(line_with(ran.out, "call path").find("p=256"), std::string::npos);
  const std::string line = line_with(ran.out, "main->write_output");
  double value = 0;
  double low = 0;
  double high = 0;
  const auto bracket = line.find(" [");
  ASSERT_NE(bracket, std::string::npos);
  const auto start = line.rfind(' ', bracket - 1);
  ASSERT_EQ(std::sscanf(line.c_str() + start, " %lf [%lf, %lf]", &value, &low, &high), 3);
  EXPECT_NEAR(value, 0.5 + 0.03 * 128, 0.1);
  EXPECT_LT(low, value);
  EXPECT_GT(high, value);
}

TEST(ModelCommand, JsonSaysWhatTheTableSays) {
  double now = 0;
  double target = 0;
  for (const Json& model : run_json({kExample, "--at", "p=1024"})) {
    now += model["share_now"].get<double>();
    target += model["share_target"].get<double>();
    const std::string path = model["callpath"];
    // As examples/make_scaling.py made them.
    if (path == "main->write_output") {
      EXPECT_EQ(model["mark"], "!");
      EXPECT_EQ(model["growth"], "p");
      EXPECT_NE(model["reason"].get<std::string>().find("faster than log2(p)"), std::string::npos);
    } else if (path == "main->solve->stencil") {
      EXPECT_EQ(model["mark"], "");
      EXPECT_EQ(model["growth"], "constant");
      EXPECT_EQ(model["reason"], "");
    }
  }
  EXPECT_NEAR(now, 1, 1e-9);
  EXPECT_NEAR(target, 1, 1e-9);
}

TEST(ModelCommand, FailsOnBugsWhenAskedTo) {
  EXPECT_EQ(run({kExample, "--fail-on-bug"}).status, 1);
  EXPECT_NE(run({kExample, "--fail-on-bug"}).err.find("4 of 8 models grow faster"), std::string::npos);
  EXPECT_EQ(run({kExample, "--fail-on-bug", "--json"}).status, 1);
  EXPECT_EQ(run({kExample, "--fail-on-bug", "--expect", "p^2"}).status, 0);
  EXPECT_EQ(run({kExample, "--fail-on-bug", "--callpath", "main->solve->stencil"}).status, 0);
}

TEST(ModelCommand, TimeIsShownUnlessAMetricIsChosen) {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "two.txt").string();
  std::ofstream(path)
      << "PARAMETER p\nPOINTS 4 8 16 32 64\nMETRIC visits\nREGION f\nDATA 1\nDATA 2\nDATA 3\nDATA 4\nDATA 5\n"
         "METRIC time\nREGION f\nDATA 4\nDATA 8\nDATA 16\nDATA 32\nDATA 64\n";
  const Ran usual = run({path});
  EXPECT_EQ(usual.out.rfind("1 model;", 0), 0U) << usual.out;
  EXPECT_NE(usual.out.find("time"), std::string::npos);
  EXPECT_NE(usual.err.find("-m NAME shows another metric (visits)"), std::string::npos) << usual.err;
  EXPECT_NE(run({path, "-m", "visits"}).out.find("visits"), std::string::npos);
  EXPECT_EQ(run({path, "-m", "*"}).out.rfind("2 models", 0), 0U);
  EXPECT_EQ(run_json({path}).size(), 2U);  // machines get everything
}

TEST(ModelCommand, TheDifferenceOfTwoExperimentsIsOneLessTheOther) {
  const TemporaryDirectory before;
  const TemporaryDirectory after;
  const auto f = [](double slope) { return [slope](double p, double, double) { return 10 + slope * p; }; };
  const std::string old_path = write_experiment(before, 1, f(1));
  const std::string new_path = write_experiment(after, 1, f(3));
  const Ran ran = run({new_path, "--minus", old_path, "--at", "p=100", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json row = Json::parse(ran.out)["models"][0];
  EXPECT_NEAR(row["now_change"].get<double>(), 2 * 64, 0.5);
  EXPECT_NEAR(row["target"].get<double>(), 310, 1);
  EXPECT_NEAR(row["target_other"].get<double>(), 110, 1);
  EXPECT_NEAR(row["target_change"].get<double>(), 200, 1);
  const std::string figure = (after.path() / "change.svg").string();
  EXPECT_EQ(run({new_path, "--minus", old_path, "--plot", figure}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(figure));
  EXPECT_EQ(run({new_path, "--minus", (after.path() / "none.txt").string()}).status, 2);
}

TEST(ModelCommand, AFigureIsOfTheKindThatItsNameSays) {
  const TemporaryDirectory folder;
  EXPECT_EQ(run({kExample, "--plot", (folder.path() / "x.gif").string()}).status, 2);
  EXPECT_EQ(run({kExample, "--plot", (folder.path() / "x").string()}).status, 2);
  const std::string png = (folder.path() / "x.png").string();
  const Ran ran = run({kExample, "--plot", png});
  if (ran.status == 0) {
    std::ifstream in(png, std::ios::binary);
    std::string start(4, ' ');
    in.read(start.data(), 4);
    EXPECT_EQ(start, "\x89PNG");
  } else {
    EXPECT_FALSE(std::filesystem::exists(png));
  }
}

TEST(ModelCommand, JsonHasExactlyTheDocumentedMembers) {
  const Json models = run_json({kExample, "--predict", "p=1024"});
  ASSERT_TRUE(models.is_array());
  ASSERT_EQ(models.size(), 8U);
  for (const Json& model : models) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : model.items()) keys.push_back(key);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"AR2", "RE", "RSS", "SMAPE", "callpath", "function", "growth", "mark", "metric",
                                        "predictions", "rRSS", "reason", "share_now", "share_target", "terms"}));
    EXPECT_TRUE(model["terms"]["constant"].is_number());
    for (const Json& term : model["terms"]["compound"]) {
      EXPECT_TRUE(term["coefficient"].is_number());
      for (const Json& factor : term["factors"]) {
        EXPECT_EQ(factor["parameter"], "p");
        EXPECT_TRUE(factor["exponent"].is_string() && factor["log"].is_string());
      }
    }
    const Json& prediction = model["predictions"][0];
    EXPECT_EQ(prediction["point"], (Json{{"p", 1024}}));
    EXPECT_LE(prediction["low"].get<double>(), prediction["value"].get<double>());
    EXPECT_GE(prediction["high"].get<double>(), prediction["value"].get<double>());
  }
}

TEST(ModelCommand, JsonOfASegmentedModelHasSegments) {
  const TemporaryDirectory folder;
  const auto path = write_experiment(
      folder, 1, [](double p, double, double) { return p <= 64 ? 100 + p : 5000 + p * p; }, 10);
  const Json model = run_json({path, "--modeler", "segmented"})[0];
  ASSERT_TRUE(model.contains("segments"));
  EXPECT_FALSE(model.contains("terms"));
  ASSERT_EQ(model["segments"].size(), 2U);
  EXPECT_TRUE(model["segments"][0]["from"].is_null());
  EXPECT_TRUE(model["segments"][0]["to"].is_number());
  EXPECT_TRUE(model["segments"][1]["to"].is_null());
  EXPECT_TRUE(model["segments"][1]["terms"]["compound"].is_array());
}

std::string exponents(const Json& model) {
  std::string out;
  for (const Json& term : model["terms"]["compound"]) {
    out += "+";
    for (const Json& f : term["factors"]) {
      out += f["parameter"].get<std::string>() + "^" + f["exponent"].get<std::string>() + "*log^" +
             f["log"].get<std::string>();
    }
  }
  return out;
}

TEST(ModelCommand, EveryOptionOfTheSingleParameterModelersHasItsEffect) {
  const TemporaryDirectory folder;
  const auto log = write_experiment(folder, 1, [](double p, double, double) { return 10 + 2 * std::log2(p); });
  EXPECT_EQ(exponents(run_json({log})[0]), "+p^0*log^1");
  EXPECT_EQ(exponents(run_json({log, "--option", "allow_log_terms=false"})[0]).find("log^1"), std::string::npos);
  EXPECT_EQ(exponents(run_json({log, "--option", "poly_exponents=1,2", "--option", "log_exponents=0"})[0]),
            "+p^1*log^0");
  EXPECT_EQ(
      exponents(run_json({log, "--option", "poly_exponents=1,2", "--option", "retain_default_exponents=true"})[0]),
      "+p^0*log^1");
  EXPECT_EQ(exponents(run_json({log, "--option", "minimum_term_contribution=0.9"})[0]), "");
  // Without cross-validation RSS is that of the fit, which is smaller.
  const double left_out = run_json({log})[0]["RSS"].get<double>();
  const double in_sample = run_json({log, "--option", "use_crossvalidation=off"})[0]["RSS"].get<double>();
  EXPECT_LE(in_sample, left_out);
  EXPECT_EQ(exponents(run_json({log, "--option", "compare_with_RSS=true"})[0]), "+p^0*log^1");
  EXPECT_EQ(run({log, "--option", "no_such_option=1"}).status, 2);
}

TEST(ModelCommand, ForcedCombinationsHaveBothExponents) {
  const TemporaryDirectory folder;
  const auto line = write_experiment(folder, 1, [](double p, double, double) { return 10 + 3 * p; });
  std::vector<std::string> arguments{line, "--option", "poly_exponents=1", "--option", "log_exponents=2"};
  EXPECT_EQ(exponents(run_json(arguments)[0]), "+p^1*log^0");
  arguments.insert(arguments.end(), {"--option", "force_combination_exponents=yes"});
  EXPECT_EQ(exponents(run_json(arguments)[0]), "+p^1*log^2");
}

TEST(ModelCommand, NegativeExponentsAndRefining) {
  const TemporaryDirectory folder;
  const auto path = write_experiment(folder, 1, [](double p, double, double) { return 1 + 100 / p; });
  EXPECT_EQ(exponents(run_json({path, "--option", "allow_negative_exponents=true"})[0]), "+p^-1*log^0");
  const TemporaryDirectory other;
  const auto root = write_experiment(other, 1, [](double p, double, double) { return 3 + 2 * std::sqrt(p); });
  EXPECT_EQ(exponents(run_json({root, "--modeler", "Refining"})[0]), "+p^1/2*log^0");
}

TEST(ModelCommand, TheMeasureIsHonouredEverywhere) {
  for (const int parameters : {1, 2}) {
    const TemporaryDirectory folder;
    const auto path = write_experiment(folder, parameters, [](double, double, double) { return 100.0; });
    EXPECT_NEAR(run_json({path})[0]["terms"]["constant"].get<double>(), 100, 1e-9);
    EXPECT_NEAR(run_json({path, "--measure", "minimum"})[0]["terms"]["constant"].get<double>(), 99, 1e-9);
    EXPECT_NEAR(run_json({path, "--measure", "maximum"})[0]["terms"]["constant"].get<double>(), 101, 1e-9);
    EXPECT_NEAR(run_json({path, "--measure", "median"})[0]["terms"]["constant"].get<double>(), 100, 1e-9);
    EXPECT_NEAR(run_json({path, "--measure", "maximum", "--modeler", "robust"})[0]["terms"]["constant"].get<double>(),
                101, 1e-9);
  }
}

TEST(ModelCommand, EverySingleParameterModelerWorksInsideTheMultiParameterOne) {
  const TemporaryDirectory folder;
  const auto path = write_experiment(folder, 2, [](double p, double n, double) { return 5 + p * std::log2(n); });
  for (const char* inner : {"basic", "refining", "segmented"}) {
    const Json model = run_json({path, "--option", std::string("single_parameter_modeler=") + inner})[0];
    EXPECT_EQ(exponents(model), "+p^1*log^0n^0*log^1") << inner;
  }
  EXPECT_EQ(exponents(run_json({path, "--option", "sp.allow_log_terms=false"})[0]).find("log^1"), std::string::npos);
  EXPECT_EQ(exponents(run_json({path, "--option", "single_parameter_point_selection=smallest"})[0]),
            "+p^1*log^0n^0*log^1");
  EXPECT_EQ(exponents(run_json({path, "--option", "allow_combinations_of_sums_and_products=false"})[0]),
            "+p^1*log^0n^0*log^1");
  EXPECT_EQ(run({path, "--modeler", "basic"}).status, 2);
}

TEST(ModelCommand, SavedModelsAreReadBackWithEveryModeler) {
  for (const char* modeler : {"basic", "refining", "segmented", "robust", "multi-parameter"}) {
    const bool multi = std::string_view(modeler) == "multi-parameter";
    const TemporaryDirectory folder;
    const auto path = write_experiment(
        folder, multi ? 2 : 1, [](double p, double n, double) { return p <= 64 ? 100 + p + n : 5000 + p * p; },
        multi ? 5 : 10);
    const std::string saved = (folder.path() / "out").string();
    const Ran ran = run({path, "--modeler", modeler, "--save", saved, "--model-set-name", "mine"});
    ASSERT_EQ(ran.status, 0) << modeler << ran.err;
    const Json fresh = run_json({path, "--modeler", modeler});
    const Json stored = run_json({saved + ".extra-p", "--stored"});
    ASSERT_EQ(stored.size(), fresh.size()) << modeler;
    EXPECT_EQ(stored[0]["RSS"], fresh[0]["RSS"]) << modeler;
    EXPECT_EQ(stored[0]["SMAPE"], fresh[0]["SMAPE"]) << modeler;
    // The same function: a file gives exponents as decimals, so compare what it says far away.
    const Json far_fresh = run_json({path, "--modeler", modeler, "--predict", multi ? "p=500,n=99" : "p=5000"});
    const Json far_stored = run_json({saved + ".extra-p", "--stored", "--predict", multi ? "p=500,n=99" : "p=5000"});
    EXPECT_NEAR(far_stored[0]["predictions"][0]["value"].get<double>(),
                far_fresh[0]["predictions"][0]["value"].get<double>(),
                1e-9 * far_fresh[0]["predictions"][0]["value"].get<double>())
        << modeler;
  }
}

TEST(ModelCommand, PlotsAreWrittenAndReplacedAsAWhole) {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "figure.svg").string();
  EXPECT_EQ(run({kExample, "--plot", file}).status, 0);
  std::ifstream in(file);
  const std::string svg((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"band\""), std::string::npos);
}

// Without --stored models are made anew: a set that was to go would stay, and nobody would know.
TEST(ModelCommand, StoredSetsAreChosenRenamedAndDeletedWithStoredOnly) {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "sets.extra-p").string();
  ASSERT_EQ(run({kExample, "--save", file, "--model-set-name", "a"}).status, 0);
  ASSERT_EQ(run({file, "--save", file, "--model-set-name", "b"}).status, 0);
  EXPECT_EQ(run_json({file, "--sets"}).size(), 2U);
  for (const auto& [option, value] :
       {std::pair("--set", "b"), std::pair("--rename-set", "a=c"), std::pair("--delete-set", "a")}) {
    const Ran ran = run({file, option, value, "--save", file});
    EXPECT_EQ(ran.status, 2) << option;
    EXPECT_NE(ran.err.find("--stored is missing"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(run_json({file, "--sets"}).size(), 2U);
  EXPECT_EQ(run({file, "--stored", "--rename-set", "b=c", "--delete-set", "a", "--save", file}).status, 0);
  const Json sets = run_json({file, "--sets"});
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0]["name"], "c");
}

}  // namespace
}  // namespace fathom::cli
