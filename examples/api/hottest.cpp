// hottest PROFILE METRIC: the context with the largest exclusive value over all locations.
#include <algorithm>
#include <cstdio>
#include <fathom/fathom.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: hottest PROFILE METRIC\n");
    return 2;
  }
  const auto failed = [](const fathom::api::Error& error) {
    std::fprintf(stderr, "hottest: %s\n", error.text().c_str());
    return 2;
  };
  fathom::OpenOptions options;
  options.threads = 2;
  const auto dataset = fathom::open(argv[1], options);
  if (!dataset) return failed(dataset.error());
  const auto profile = dataset->profile();
  if (!profile) return failed(profile.error());
  const auto metric = profile->find_metric(argv[2]);
  if (!metric) return failed({fathom::api::ErrorKind::usage, std::string("no metric ") + argv[2]});

  const auto totals = profile->totals(*metric, fathom::api::Flavour::exclusive);
  if (!totals) return failed(totals.error());
  const auto best = std::max_element(totals->begin(), totals->end()) - totals->begin();
  std::printf("%.17g %s %s\n", (*totals)[static_cast<std::size_t>(best)], profile->metric(*metric).unit.c_str(),
              profile->path(static_cast<std::size_t>(best)).c_str());
}
