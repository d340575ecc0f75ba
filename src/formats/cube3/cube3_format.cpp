#include "formats/cube3/cube3_format.hpp"

#include "base/text.hpp"
#include "formats/cube3/cube3_file.hpp"
#include "formats/cube3/cube3_writer.hpp"
#include "formats/cube3/to_profile.hpp"
#include "profile/compute.hpp"

namespace fathom::cube3 {

namespace {

class Cube3Dataset : public Dataset {
 public:
  Cube3Dataset(std::filesystem::path path, Work work, std::shared_ptr<const Cube3File> file)
      : Dataset(cube3::format(), std::move(path), std::move(work)), file_(std::move(file)) {}

  [[nodiscard]] std::string version() const override { return file_->version; }
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::profile}; }

  Result<std::vector<InfoEntry>> describe(bool) override {
    std::uint64_t threads = 0;
    for (const FileSystemNode& node : file_->system) threads += node.kind == FileSystemNode::Kind::thread ? 1 : 0;
    std::vector<std::string> attributes;
    for (const auto& [key, value] : file_->attributes) attributes.push_back(key + "=" + value);
    return std::vector<InfoEntry>{
        {"metrics", std::uint64_t{file_->metrics.size()}},       {"contexts", std::uint64_t{file_->cnodes.size()}},
        {"regions", std::uint64_t{file_->regions.size()}},       {"locations", threads},
        {"topologies", std::uint64_t{file_->topologies.size()}}, {"attributes", std::move(attributes)}};
  }

  Result<std::shared_ptr<const Profile>> profile() override {
    if (!profile_) {
      FATHOM_TRY(profile_, to_profile(file_, work()));
    }
    return profile_;
  }

  Result<void> check() override {
    FATHOM_TRY(const auto all, profile());
    for (std::size_t i = 0; i < all->defs().metrics.size(); ++i) {
      FATHOM_CHECK(compute(*all, MetricId(i), {{}, {}, all_locations(all->defs()), true}));
    }
    return success();
  }

 private:
  std::shared_ptr<const Cube3File> file_;
  ProfilePtr profile_;
};

Match recognise(const Source& source) {
  if (source.is_directory()) return {};
  const std::string_view head = source.head();
  const std::size_t at = head.find("<cube");
  if (at == std::string_view::npos) return {};
  const std::string_view tag = head.substr(at, head.find('>', at) - at);
  if (tag.size() > 5 && tag[5] != ' ' && tag[5] != '\n' && tag[5] != '\t') return {};
  if (tag.find("version=\"4") != std::string_view::npos) return {};  // an anchor outside its archive
  return {Confidence::certain, "XML document with a <cube> element"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; a Cube 3 profile is one file", Place::in(source.path().string()));
  }
  FATHOM_TRY(auto file, read(source.blob(), work));
  return DatasetPtr(std::make_unique<Cube3Dataset>(source.path(), work, std::move(file)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "cube3",
                              .title = "Cube 3 profile (XML)",
                              .extensions = ".cube .cube.gz",
                              .can = {{Level::profile}, {Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .equal_paths_repeat = true};
  return kFormat;
}

}  // namespace fathom::cube3
