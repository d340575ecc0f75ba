#include <fmt/format.h>

#include "formats/experiment_dataset.hpp"
#include "formats/extrap/extra_p_reader.hpp"
#include "formats/extrap/extra_p_writer.hpp"
#include "formats/extrap/extrap_formats.hpp"
#include "formats/reading_options.hpp"
#include "io/zip.hpp"

namespace fathom::extrap {
namespace {

constexpr std::size_t kFirstName = 30;  // offset of the first member's name in a zip archive

Match recognise(const Source& source) {
  if (source.is_directory() || !is_zip(source.blob().bytes())) return {};
  const auto zip = ZipReader::open(source.blob());
  if (!zip) {
    // Cut off: its list of members is at the end, but its first member has a name.
    const std::string_view head = source.head();
    for (const std::string_view member : {"experiment.json", "values/"}) {
      if (head.substr(0, kFirstName + member.size()).ends_with(member)) {
        return {Confidence::maybe, "a damaged zip archive that starts as an Extra-P experiment does"};
      }
    }
    return {};
  }
  if (zip->has("experiment.json")) return {Confidence::certain, "a zip archive with experiment.json"};
  return {};
}

class ExtraPDataset : public ExperimentDataset {
 public:
  ExtraPDataset(const Source& source, const Work& work, StoredExperiment stored)
      : ExperimentDataset(extra_p_format(), source.path(), work, stored.experiment, stored.version),
        archive_(source.blob()) {
    set_models(std::move(stored.models));
    use_as_it_is();
  }

  // The archive's members; experiment.json as it stands.
  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    FATHOM_TRY(const ZipReader zip, ZipReader::open(archive_));
    FATHOM_TRY(const Blob json, zip.read("experiment.json", work()));
    sink(json.text());
    sink("\n");
    return {};
  }

 private:
  Blob archive_;
};

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) return Error("is a directory, not an .extra-p file");
  FATHOM_TRY(StoredExperiment stored, read_extra_p(source.blob(), work));
  return DatasetPtr(std::make_unique<ExtraPDataset>(source, work, std::move(stored)));
}

}  // namespace

const Format& extra_p_format() {
  static const Format kFormat = {.name = "extra-p",
                                 .title = "Extra-P experiment with models",
                                 .extensions = ".extra-p",
                                 .can = {{Level::experiment, Level::model}, {Level::experiment, Level::model}},
                                 .recognise = recognise,
                                 .open = open,
                                 .write = write_extra_p_dataset,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}, .writing = {&kKeepValues}}};
  return kFormat;
}

}  // namespace fathom::extrap
