#include "formats/speedscope/speedscope_format.hpp"

#include <algorithm>

#include "formats/same_bytes.hpp"
#include "formats/speedscope/levels.hpp"
#include "formats/speedscope/writer.hpp"

namespace fathom::speedscope {

namespace {

class SpeedscopeDataset : public Dataset {
 public:
  SpeedscopeDataset(const Format& owner, std::filesystem::path path, Work work, Blob blob, SpeedscopeFile file)
      : Dataset(owner, std::move(path), std::move(work)), blob_(std::move(blob)), file_(std::move(file)) {}

  [[nodiscard]] std::vector<Level> levels() const override {
    std::vector<Level> out;
    if (count(false) > 0) out.push_back(Level::profile);
    if (count(true) > 0 || out.empty()) out.push_back(Level::trace);
    return out;
  }
  Result<std::vector<InfoEntry>> describe(bool) override {
    std::vector<InfoEntry> entries;
    if (count(false) > 0) {
      FATHOM_TRY(const auto made, profile());
      entries.push_back({"metrics", std::uint64_t{made->defs().metrics.size()}});
      entries.push_back({"contexts", std::uint64_t{made->defs().contexts.size()}});
    }
    entries.push_back({"regions", std::uint64_t{file_.frames.size()}});
    entries.push_back({"locations", std::uint64_t{file_.profiles.size()}});
    entries.push_back({"evented", count(true)});
    entries.push_back({"sampled", count(false)});
    if (!file_.name.empty()) entries.push_back({"name", file_.name});
    if (!file_.exporter.empty()) entries.push_back({"exporter", file_.exporter});
    return entries;
  }
  Result<std::shared_ptr<const Trace>> trace() override {
    if (trace_) return trace_;
    if (count(true) == 0 && count(false) > 0) return no_level(Level::trace);
    FATHOM_TRY(trace_, trace_of(file_, blob_, work()));
    return trace_;
  }
  Result<std::shared_ptr<const Profile>> profile() override {
    if (profile_) return profile_;
    if (count(false) == 0) return Dataset::profile();
    FATHOM_TRY(profile_, profile_of(file_, blob_, work()));
    return profile_;
  }
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override {
    return write_same_bytes(blob_, target, options);
  }
  Result<void> check() override {
    if (count(true) > 0) {
      if (auto made = trace(); !made) return std::move(made).error();
    }
    if (count(false) > 0) {
      if (auto made = profile(); !made) return std::move(made).error();
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t count(bool evented) const {
    return static_cast<std::uint64_t>(std::count_if(file_.profiles.begin(), file_.profiles.end(),
                                                    [&](const StoredProfile& one) { return one.evented == evented; }));
  }
  Blob blob_;
  SpeedscopeFile file_;
  std::shared_ptr<const Trace> trace_;
  ProfilePtr profile_;
};

Match recognise(const Source& source) {
  if (source.is_directory()) return {};
  const std::string_view head = source.head(65536);
  if (head.find("speedscope.app/file-format-schema") != std::string_view::npos) {
    return {Confidence::certain, "names the schema of speedscope"};
  }
  // The schema may stand at the end.
  const std::string_view text = source.blob().text();
  if (head.find('{') != std::string_view::npos && text.size() > 65536 &&
      text.substr(text.size() - 4096).find("speedscope.app/file-format-schema") != std::string_view::npos) {
    return {Confidence::certain, "names the schema of speedscope"};
  }
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(SpeedscopeFile file, read_file(source.blob(), work));
  return DatasetPtr(std::make_unique<SpeedscopeDataset>(format(), source.path(), work, source.blob(), std::move(file)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  const auto levels = dataset.levels();
  if (std::find(levels.begin(), levels.end(), Level::profile) == levels.end()) {
    FATHOM_TRY(const auto trace, dataset.trace());
    return write_trace(*trace, target, dataset.work());
  }
  FATHOM_TRY(const auto profile, dataset.profile());
  return write_profile(*profile, target, options);
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "speedscope",
                              .title = "speedscope profiles",
                              .extensions = ".speedscope.json .speedscope",
                              .can = {{Level::profile, Level::trace}, {Level::trace, Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .options = {.writing = {&kExportMetric}}};
  return kFormat;
}

}  // namespace fathom::speedscope
