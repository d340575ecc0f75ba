#include "formats/profile_dataset.hpp"

#include "formats/format.hpp"

namespace fathom {

namespace {

// Not in the registry: it is never read and never chosen.
const Format& computed_format() {
  static const Format kFormat{.name = "computed", .title = "computed profile", .extensions = "", .can = {}};
  return kFormat;
}

class ProfileDataset final : public Dataset {
 public:
  explicit ProfileDataset(ProfilePtr profile)
      : Dataset(computed_format(), profile->name, profile->work), profile_(std::move(profile)) {}

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::profile}; }

  Result<std::vector<InfoEntry>> describe(bool) override {
    const Definitions& defs = profile_->defs();
    return std::vector<InfoEntry>{{"metrics", std::uint64_t(defs.metrics.size())},
                                  {"contexts", std::uint64_t(defs.contexts.size())},
                                  {"regions", std::uint64_t(defs.regions.size())},
                                  {"locations", std::uint64_t(defs.system.location_count())}};
  }

  Result<std::shared_ptr<const Profile>> profile() override { return profile_; }

 private:
  ProfilePtr profile_;
};

}  // namespace

DatasetPtr make_profile_dataset(ProfilePtr profile) { return std::make_unique<ProfileDataset>(std::move(profile)); }

}  // namespace fathom
