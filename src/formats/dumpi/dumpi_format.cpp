#include "formats/dumpi/dumpi_format.hpp"

#include "formats/dumpi/dumpi_dataset.hpp"
#include "formats/dumpi/filter.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/writer.hpp"
#include "formats/reading_options.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"
#include "io/output_set.hpp"

namespace fathom::dumpi {

namespace {

Match recognise(const Source& source) {
  if (!source.is_directory()) {
    if (source.blob().starts_with(kMagic)) return {Confidence::certain, "begins with the DUMPI lead-in"};
    const int keys = metafile_keys(source.head());
    if (keys == 2) return {Confidence::certain, "a metafile with numprocs and fileprefix"};
    if (keys == 1 && source.path().extension() == ".meta") {
      return {Confidence::likely, "a metafile with numprocs or fileprefix"};
    }
    return {};
  }
  // A few entries tell; a directory of something else is not walked.
  std::error_code status;
  int looked = 0;
  for (std::filesystem::directory_iterator it(source.path(), status), end; !status && it != end && looked < 4096;
       it.increment(status), ++looked) {
    if (is_litter(it->path().filename()) || !parse_rank_name(it->path().filename().string())) continue;
    if (it->path().extension() == ".gz") return {Confidence::likely, "holds NAME-0000.bin.gz files"};
    auto blob = map_file(it->path());
    if (blob && blob->starts_with(kMagic)) return {Confidence::certain, "holds rank files of a DUMPI run"};
    if (blob && blob->size() > 0) return {};
  }
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(auto ranks, RankSet::open(source, work));
  return DatasetPtr(std::make_unique<DumpiDataset>(format(), source.path(), work, std::move(ranks)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(DumpiDataset * dumpi, with_calls(dataset));
  FATHOM_TRY(const Filter filter, Filter::from_options(options));
  return rewrite_set(dumpi->ranks(), filter, target, dataset.work()->options.flag(kForce));
}

}  // namespace

const Format& format() {
  static const Format kFormat = {
      .name = "dumpi",
      .title = "DUMPI trace of MPI calls",
      .extensions = ".meta .bin",
      .can = {{Level::trace}, {Level::trace}},
      .recognise = recognise,
      .open = open,
      .write = write,
      .options = {.reading = {&kClock, &kWaits}, .writing = filter_options(), .statistics = statistics_options()},
      .shared = {.rewrites = true}};
  return kFormat;
}

}  // namespace fathom::dumpi
