#include "formats/paraver/paraver_format.hpp"

#include <fmt/format.h>

#include <optional>

#include "formats/paraver/paraver_trace.hpp"
#include "formats/paraver/prv_file.hpp"
#include "formats/paraver/trace_writer.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"

namespace fathom::paraver {

namespace {

// The files of names of x.prv and of x.prv.gz are x.pcf and x.row.
std::filesystem::path beside(std::filesystem::path prv, std::string_view extension) {
  if (prv.extension() == ".gz") prv.replace_extension();
  return prv.replace_extension(extension);
}

Result<void> check_target(const std::filesystem::path& target) {
  if (target.extension() != ".gz") return {};
  return Error::usage(fmt::format("{}: Paraver traces are written as text, not packed", target.string()))
      .hint("leave out '.gz'; gzip packs the file, and it is read like that");
}

// Nothing where there is none; one that is there and cannot be read is told.
Result<std::optional<Blob>> read_beside(const std::filesystem::path& prv, std::string_view extension,
                                        const Work& work) {
  const std::filesystem::path path = beside(prv, extension);
  std::error_code status;
  if (std::filesystem::symlink_status(path, status).type() == std::filesystem::file_type::not_found) {
    return std::optional<Blob>();
  }
  auto blob = map_file(path);
  if (blob.ok()) return std::optional<Blob>(*std::move(blob));
  FATHOM_CHECK(work->diagnostics.lost("paraver.names", Place::in(path.string()),
                                      fmt::format("names are left out: {}", blob.error().message())));
  return std::optional<Blob>();
}

class ParaverDataset : public Dataset {
 public:
  ParaverDataset(const Format& owner, std::filesystem::path path, Work work, PrvFile file)
      : Dataset(owner, std::move(path), std::move(work)), file_(std::move(file)) {
    const std::uint64_t states = file_.changes.size() / 2;
    description_.push_back({"locations", std::uint64_t{file_.threads.size()}});
    description_.push_back({"events", states + file_.events.size() + file_.messages.size()});
    description_.push_back({"states", states});
    description_.push_back({"messages", std::uint64_t{file_.messages.size()}});
    describe_span(0, file_.nanoseconds(file_.final_time), description_);
  }

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool) override { return description_; }
  Result<std::shared_ptr<const Trace>> trace() override {
    if (trace_) return trace_;
    PcfNames names;
    std::vector<std::string> rows;
    FATHOM_TRY(const auto pcf, read_beside(path(), ".pcf", work()));
    FATHOM_TRY(const auto row, read_beside(path(), ".row", work()));
    if (pcf) names = read_pcf(*pcf);
    if (row) rows = read_row(*row);
    FATHOM_TRY(trace_, make_trace(std::move(file_), names, rows, work()));
    return trace_;
  }
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions&) override {
    FATHOM_CHECK(check_target(target));
    FATHOM_TRY(const Blob records, open_file(path(), work()));
    std::vector<std::pair<std::string_view, Blob>> names;
    for (const std::string_view extension : {".pcf", ".row"}) {
      FATHOM_TRY(const auto blob, read_beside(path(), extension, work()));
      if (blob) names.emplace_back(extension, *blob);
    }
    if (names.empty()) {
      FATHOM_CHECK(write_file(target, records.text()));
      return true;
    }
    FATHOM_TRY(const std::filesystem::path prv, follow_links(target));
    FATHOM_TRY(OutputSet set, OutputSet::beside(prv, {}));
    FATHOM_CHECK(write_file(set.path() / prv.filename(), records.text()));
    for (const auto& [extension, blob] : names) {
      FATHOM_CHECK(write_file(beside(set.path() / prv.filename(), extension), blob.text()));
    }
    FATHOM_CHECK(set.commit());
    return true;
  }
  // The records were read, and every bad line and wrong order noted, when it was opened.
  Result<void> check() override {
    for (const std::string_view extension : {".pcf", ".row"}) {
      FATHOM_TRY(const auto names, read_beside(path(), extension, work()));
      (void)names;
    }
    return {};
  }

 private:
  PrvFile file_;  // until it is a trace
  std::vector<InfoEntry> description_;
  std::shared_ptr<const Trace> trace_;
};

Match recognise(const Source& source) {
  if (!source.head(16).starts_with("#Paraver")) return {};
  return {Confidence::certain, "starts with '#Paraver'"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(PrvFile file, read_prv(source.blob(), work));
  return DatasetPtr(std::make_unique<ParaverDataset>(format(), source.path(), work, std::move(file)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_CHECK(check_target(target));
  FATHOM_TRY(const auto trace, dataset.trace());
  return write_trace(*trace, target, dataset.work());
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "paraver",
                              .title = "Paraver trace",
                              .extensions = ".prv",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .catalogue = nullptr};
  return kFormat;
}

}  // namespace fathom::paraver
