#include "formats/stack_file.hpp"

#include "formats/same_bytes.hpp"

namespace fathom {

Result<std::vector<InfoEntry>> StackFileDataset::describe(bool) {
  FATHOM_TRY(const ProfilePtr all, profile());
  const Definitions& defs = all->defs();
  std::vector<InfoEntry> out{{"metrics", std::uint64_t{defs.metrics.size()}},
                             {"contexts", std::uint64_t{defs.contexts.size()}},
                             {"regions", std::uint64_t{defs.regions.size()}},
                             {"locations", std::uint64_t{defs.system.location_count()}}};
  for (InfoEntry& entry : more_info()) out.push_back(std::move(entry));
  std::vector<std::string> attributes;
  for (const auto& [key, value] : defs.attributes) attributes.push_back(key + "=" + value);
  if (!attributes.empty()) out.push_back({"attributes", std::move(attributes)});
  return out;
}

Result<std::shared_ptr<const Profile>> StackFileDataset::profile() {
  if (!profile_) {
    FATHOM_TRY(profile_, make_profile());
  }
  return profile_;
}

Result<void> StackFileDataset::check() {
  if (auto made = profile(); !made.ok()) return std::move(made).error();
  return {};
}

Result<bool> StackFileDataset::rewrite(const std::filesystem::path& target, const WriteOptions& options) {
  return write_same_bytes(blob_, target, options);
}

}  // namespace fathom
