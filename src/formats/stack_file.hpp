// What datasets share that are one file, read as a whole into a profile when it is first asked for.
#pragma once

#include "formats/format.hpp"
#include "profile/profile.hpp"

namespace fathom {

class StackFileDataset : public Dataset {
 public:
  StackFileDataset(const Format& format, const Source& source, Work work)
      : Dataset(format, source.path(), std::move(work)), blob_(source.blob()) {}

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::profile}; }
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<std::shared_ptr<const Profile>> profile() final;
  Result<void> check() override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

 protected:
  [[nodiscard]] const Blob& blob() const { return blob_; }
  virtual Result<ProfilePtr> make_profile() = 0;
  // Besides metrics, contexts, regions, locations and attributes.
  [[nodiscard]] virtual std::vector<InfoEntry> more_info() const { return {}; }

 private:
  Blob blob_;
  ProfilePtr profile_;
};

}  // namespace fathom
