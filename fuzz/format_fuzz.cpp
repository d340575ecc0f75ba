// Any bytes as a file of the format that FATHOM_FUZZ_FORMAT names: opened through the registry, then everything that a
// command would ask of it. FATHOM_FUZZ_FORMAT=list prints the names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "experiment/experiment.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "trace/merge.hpp"

using namespace fathom;

namespace {

std::string_view g_format;

void read_values(const Profile& profile) {
  const Definitions& defs = profile.defs();
  // Tables in proportion to contexts × locations are the caller's wish, not the file's; keep them small here.
  if (defs.contexts.size() * defs.system.location_count() > 100000 || defs.metrics.size() > 200) return;
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    for (const auto kind : {Flavour::Kind::stored, Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
      Selection selection;
      selection.flavour.kind = kind;
      selection.locations = all_locations(defs);
      selection.void_values = true;
      (void)compute(profile, MetricId(m), selection);
    }
  }
}

void read_events(const Trace& trace) {
  auto events = MergedEvents::over(trace);
  if (!events.ok()) return;
  std::string detail;
  while (const Event* event = events->next()) {
    detail.clear();
    (void)trace.detail(*event, detail);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FATHOM_FUZZ_FORMAT");
  g_format = name == nullptr ? "" : name;
  if (g_format == "list") {
    for (const Format* format : all_formats()) std::puts(std::string(format->name).c_str());
    std::exit(0);
  }
  if (const auto found = find_format(g_format); !found.ok()) {
    std::fprintf(stderr, "FATHOM_FUZZ_FORMAT: %s\n", found.error().text().c_str());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = make_work(false, std::uint64_t{256} << 20);
  work->options["max-steps"] = "20000";  // endless expressions must not eat the time
  Blob blob = Blob::own("input", std::string(reinterpret_cast<const char*>(data), size));
  auto opened = open_source(Source::of(std::move(blob)), work, g_format);
  if (!opened.ok()) {
    if (opened.error().place().file.empty()) __builtin_trap();  // every error names its place
    return 0;
  }
  Dataset& dataset = **opened;
  (void)dataset.describe(true);
  if (const auto profile = dataset.profile(); profile.ok()) read_values(**profile);
  if (const auto trace = dataset.trace(); trace.ok()) {
    read_events(**trace);
    (void)dataset.statistics({});
  }
  if (const auto experiment = dataset.experiment(); experiment.ok()) (void)dataset.models();
  (void)dataset.check();
  (void)dataset.dump({}, [](std::string_view) { return true; });
  return 0;
}
