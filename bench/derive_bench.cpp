// Ten derived metrics over a large Cube profile, every context and location, against reading the metrics that they use.
// Usage: derive_bench [directory for the generated file] [contexts] [locations]

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "formats/cube/from_profile.hpp"
#include "formats/registry.hpp"
#include "made_profile.hpp"
#include "measure.hpp"
#include "profile/compute.hpp"
#include "profile/cubepl/cubepl.hpp"

using namespace fathom;
using namespace fathom::bench;

namespace {

struct Case {
  const char* what;
  const char* text;
  Derivation derivation = Derivation::post;
};
// What analysts write: ratios, thresholds, selections by name, per-cell corrections.
constexpr Case kCases[] = {
    {"ratio", "metric::time()/metric::visits()"},
    {"rate", "metric::bytes()/metric::time()"},
    {"sum of products", "metric::time()*1000 + metric::visits()*0.5 - metric::bytes()/1024"},
    {"functions", "sqrt(metric::time())*log(1 + metric::visits()) + max(metric::time(), 0.01)"},
    {"share of the system", "metric::time()/metric::fixed::time()"},
    {"threshold", "{ ${r}=0; if (metric::time() > 0.05) { ${r}=metric::time(); }; return ${r}; }"},
    {"two ways",
     "{ ${r}=0; if (metric::visits() > 500) { ${r}=metric::time()/metric::visits(); } "
     "else { ${r}=metric::time(); }; return ${r}; }"},
    {"regions by name",
     "{ ${r}=0; if (${cube::region::name}[${calculation::region::id}] =~ /_1[0-9]*$/) "
     "{ ${r}=metric::time(); }; return ${r}; }"},
    {"per cell", "metric::time() - 0.000001*metric::visits()", Derivation::pre_exclusive},
    {"table by call path", "{ ${a}[1]=1; ${a}[2]=2; return ${a}[${calculation::callpath::id}]*metric::time(); }"},
};

volatile double g_sink;

double evaluate(const Profile& profile, MetricId id) {
  return measure([&] {
           const Cells cells =
               must(compute(profile, id, {{Flavour::Kind::exclusive, {}}, {}, all_locations(profile.defs()), false}));
           g_sink = cells.scalar(cells.rows() - 1, 0);
         })
      .cpu;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto path = arguments.file("derive.cubex");
  if (auto status = cube::write_profile(bench::make_profile(arguments.size), path, {false, false}); !status.ok()) {
    fail(status.error());
  }
  {
    const auto dataset = must(open_dataset(path, make_work()));
    const ProfilePtr stored = must(dataset->profile());
    std::map<std::string, double> reading;
    for (const char* name : {"time", "visits", "bytes"}) {
      reading[name] = evaluate(*stored, stored->defs().find_metric(name));
      std::printf("%-22s %7.3f s cpu to read\n", name, reading[name]);
    }
    double all = 0;
    double all_reading = 0;
    for (const Case& one : kCases) {
      const ProfilePtr profile = must(cubepl::with_cubepl(stored, {"x", one.text, one.derivation, "", ""}));
      const MetricId id = profile->defs().find_metric("x");
      double used = 0;
      std::set<std::string> names;
      for (const auto& reference : profile->programs.at(id)->value.metrics) {
        if (names.insert(reference.metric).second) used += reading[reference.metric];
      }
      const double seconds = evaluate(*profile, id);
      std::printf("%-22s %7.3f s cpu = %.2f x reading the metrics it uses\n", one.what, seconds, seconds / used);
      all += seconds;
      all_reading += used;
    }
    std::printf("%-22s %7.3f s cpu = %.2f x reading the metrics they use\n", "all ten", all, all / all_reading);
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return 0;
}
