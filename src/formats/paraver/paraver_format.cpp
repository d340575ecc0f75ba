#include "formats/paraver/paraver_format.hpp"

#include "formats/paraver/paraver_trace.hpp"
#include "formats/paraver/prv_file.hpp"
#include "formats/paraver/trace_writer.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"

namespace fathom::paraver {

namespace {

std::filesystem::path beside(const std::filesystem::path& prv, std::string_view extension) {
  return std::filesystem::path(prv).replace_extension(extension);
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
    if (auto blob = map_file(beside(path(), ".pcf")); blob.ok()) names = read_pcf(*blob);
    if (auto blob = map_file(beside(path(), ".row")); blob.ok()) rows = read_row(*blob);
    FATHOM_TRY(trace_, make_trace(std::move(file_), names, rows, work()));
    return trace_;
  }
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions&) override {
    FATHOM_TRY(const Blob records, open_file(path(), work()));
    std::vector<std::pair<std::string_view, Blob>> names;
    for (const std::string_view extension : {".pcf", ".row"}) {
      auto blob = map_file(beside(path(), extension));
      if (blob.ok()) names.emplace_back(extension, *std::move(blob));
    }
    if (names.empty()) {
      FATHOM_CHECK(write_file(target, records.text()));
      return true;
    }
    FATHOM_TRY(OutputSet set, OutputSet::beside(target, {}));
    FATHOM_CHECK(write_file(set.path() / target.filename(), records.text()));
    for (const auto& [extension, blob] : names) {
      FATHOM_CHECK(write_file(beside(set.path() / target.filename(), extension), blob.text()));
    }
    FATHOM_CHECK(set.commit());
    return true;
  }
  // Everything was read, and every bad line and wrong order noted, when it was opened.
  Result<void> check() override { return {}; }

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
