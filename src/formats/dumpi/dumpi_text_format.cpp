// The text dump as a format of its own: read back into records, written from them.
#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/dumpi_dataset.hpp"
#include "formats/dumpi/dumpi_format.hpp"
#include "formats/dumpi/text_reader.hpp"
#include "io/output_file.hpp"

namespace fathom::dumpi {

namespace {

Match recognise(const Source& source) {
  if (source.is_directory() || !looks_like_text_dump(source.head())) return {};
  return {Confidence::certain, "reads like a text dump of a DUMPI trace"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(Blob binary, binary_of_text(source.blob(), work));
  FATHOM_TRY(File file, File::open(std::move(binary), work));
  return DatasetPtr(
      std::make_unique<DumpiDataset>(text_format(), source.path(), work, RankSet::of(std::move(file), 0, work)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(DumpiDataset * dumpi, with_calls(dataset));
  if (dumpi->ranks().files().size() != 1) {
    return Error::usage("a text dump holds one rank").hint("name one of the .bin files");
  }
  FATHOM_TRY(const auto* scans, dumpi->ranks().scans());
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  FATHOM_CHECK(dump(dumpi->ranks().files()[0].file, (*scans)[0], {}, [&](std::string_view text) {
    out.write(text);
    return true;
  }));
  return out.commit();
}

}  // namespace

const Format& text_format() {
  static const Format kFormat = {.name = "dumpi-text",
                                 .title = "text dump of a DUMPI trace",
                                 .extensions = ".dumpi.txt .ascii .txt",
                                 .can = {{Level::trace}, {Level::trace}},
                                 .recognise = recognise,
                                 .open = open,
                                 .write = write};
  return kFormat;
}

}  // namespace fathom::dumpi
