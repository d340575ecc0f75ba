#include "formats/cube/cube_dataset.hpp"

#include "formats/cube/to_profile.hpp"

namespace fathom::cube {

Result<std::vector<InfoEntry>> CubeDataset::describe(bool) {
  const Anchor& anchor = file_->anchor();
  std::vector<InfoEntry> out;
  out.push_back({"metrics", std::uint64_t{anchor.metrics.size()}});
  out.push_back({"contexts", std::uint64_t{anchor.cnodes.size()}});
  out.push_back({"regions", std::uint64_t{anchor.regions.size()}});
  out.push_back({"locations", std::uint64_t{anchor.location_count}});
  out.push_back({"topologies", std::uint64_t{anchor.topologies.size()}});
  std::vector<std::string> attributes;
  for (const auto& [key, value] : anchor.attributes) attributes.push_back(key + "=" + value);
  out.push_back({"attributes", std::move(attributes)});
  std::vector<std::string> members;
  for (const TarMember& member : file_->members()) members.push_back(member.name);
  out.push_back({"members", std::move(members)});
  return out;
}

Result<std::shared_ptr<const Profile>> CubeDataset::profile() {
  if (!profile_) {
    FATHOM_TRY(profile_, to_profile(file_));
  }
  return profile_;
}

}  // namespace fathom::cube
