// hottest PROFILE METRIC: the context with the largest exclusive value over all locations.
#include <cstdio>
#include <fathom/fathom.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: hottest PROFILE METRIC\n");
    return 2;
  }
  const auto failed = [](const fathom::Error& error) {
    std::fprintf(stderr, "hottest: %s\n", error.text().c_str());
    return 2;
  };
  auto dataset = fathom::open(argv[1]);
  if (!dataset) return failed(dataset.error());
  const auto profile = (*dataset)->profile();
  if (!profile) return failed(profile.error());
  const fathom::Definitions& defs = (*profile)->defs();
  const fathom::MetricId metric = defs.find_metric(argv[2]);
  if (!metric.valid()) return failed(fathom::Error(std::string("no metric ") + argv[2]));

  fathom::Selection selection;
  selection.flavour.kind = fathom::Flavour::Kind::exclusive;
  selection.locations = fathom::all_locations(defs);
  selection.aggregate = true;
  const auto cells = fathom::compute(**profile, metric, selection);
  if (!cells) return failed(cells.error());
  std::size_t best = 0;
  for (std::size_t row = 1; row < cells->rows(); ++row) {
    if (cells->scalar(row, 0) > cells->scalar(best, 0)) best = row;
  }
  std::printf("%s %s %s\n", cells->at(best, 0).text().c_str(), defs.metric(metric).unit.c_str(),
              defs.path(fathom::ContextId(best)).c_str());
}
