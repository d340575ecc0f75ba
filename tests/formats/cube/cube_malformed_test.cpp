// The collection of broken files: what each must lead to, in bounded time and memory.
#include <sys/resource.h>

#include "formats/cube/cube_support.hpp"

namespace fathom::cube::testing {
namespace {

std::vector<std::string> malformed_names() {
  std::vector<std::string> out;
  const auto list = data_folder() / "malformed" / "expectations.json";
  if (!std::filesystem::exists(list)) return out;
  const Json expectations = Json::parse(read_text(list));
  for (const auto& [name, ignored] : expectations.items()) out.push_back(name);
  return out;
}

// Time of this process alone, so that a busy machine does not count.
double cpu_seconds() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long peak_kib() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

struct Outcome {
  bool opened = false;
  std::vector<std::string> errors;          // opening, or metrics that cannot be read
  std::vector<std::string> failed_metrics;  // their names
  bool warned = false;
};

Outcome read_all(const std::filesystem::path& path) {
  Outcome out;
  const Work work = make_work(false, std::uint64_t{512} << 20);
  auto dataset = open_dataset(path, work);
  if (!dataset.ok()) {
    out.errors.push_back(dataset.error().text());
    EXPECT_FALSE(dataset.error().place().file.empty());
    return out;
  }
  out.opened = true;
  auto profile = (*dataset)->profile();
  for (std::size_t m = 0; m < (*profile)->defs().metrics.size(); ++m) {
    Selection selection = everything(**profile, Flavour::Kind::stored);
    selection.aggregate = true;
    auto cells = compute(**profile, MetricId(m), selection);
    if (cells.ok()) continue;
    EXPECT_FALSE(cells.error().place().file.empty());
    out.errors.push_back(cells.error().text());
    out.failed_metrics.push_back((*profile)->defs().metrics[m].name);
  }
  out.warned = work->diagnostics.defective();
  return out;
}

// No file keeps the program busy; what the sanitizers add is not the program's.
constexpr double kMostSeconds = FATHOM_SANITIZED ? 120 : 10;

class CubeMalformed : public ::testing::TestWithParam<std::string> {};

TEST_P(CubeMalformed, IsHandledAsDemanded) {
  const Json expectation = Json::parse(read_text(data_folder() / "malformed" / "expectations.json"))[GetParam()];
  const auto expect = expectation["expect"].get<std::string>();
  const double start = cpu_seconds();
  const long before = peak_kib();
  const Outcome outcome = read_all(data_folder() / "malformed" / (GetParam() + ".cubex"));
  EXPECT_LT(cpu_seconds() - start, kMostSeconds);
  EXPECT_LT(peak_kib() - before, 256 * 1024);
  std::string all;
  for (const auto& text : outcome.errors) all += text + "\n";
  SCOPED_TRACE(all);
  if (expect == "error") {
    EXPECT_FALSE(outcome.errors.empty());
  } else if (expect == "error-for-that-metric") {
    EXPECT_TRUE(outcome.opened);
    EXPECT_EQ(outcome.failed_metrics.size(), 1U);
  } else if (expect == "metric-without-data" || expect.starts_with("success")) {
    EXPECT_TRUE(outcome.opened);
    EXPECT_TRUE(outcome.errors.empty());
  } else if (expect == "error-or-warning") {
    EXPECT_TRUE(!outcome.errors.empty() || outcome.warned);
  } else {
    EXPECT_TRUE(expect.starts_with("error-or")) << "unknown expectation " << expect;
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, CubeMalformed, ::testing::ValuesIn(malformed_names()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CubeMalformed);

}  // namespace
}  // namespace fathom::cube::testing
