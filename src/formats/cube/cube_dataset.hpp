// A Cube 4 profile as a dataset.
#pragma once

#include "formats/cube/cube_file.hpp"
#include "formats/dataset.hpp"

namespace fathom::cube {

class CubeDataset : public Dataset {
 public:
  CubeDataset(const Format& format, std::filesystem::path path, Work work, std::shared_ptr<const CubeFile> file)
      : Dataset(format, std::move(path), std::move(work)), file_(std::move(file)) {}

  [[nodiscard]] const CubeFile& file() const { return *file_; }

  [[nodiscard]] std::string version() const override { return file_->anchor().version; }
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::profile}; }
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<std::shared_ptr<const Profile>> profile() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<void> check() override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

 private:
  std::shared_ptr<const CubeFile> file_;
  std::shared_ptr<const Profile> profile_;
};

}  // namespace fathom::cube
