// Cartesian topologies of a profile: made, renamed, their dimensions named. Values stay what they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.hpp"

namespace fathom::algebra {

// What stands at the points of a new topology.
enum class TopologyOf : std::uint8_t { locations, groups, nodes };

struct NewTopology {
  std::string name;
  std::vector<TopologyDimension> dimensions;  // all with a name or none
  TopologyOf of = TopologyOf::locations;
  // Lines of "id c0 c1 ...", blanks or commas between: which id (as the file has it) stands where, several times if
  // need be. Empty: all of them in their order, the last dimension changing fastest.
  std::string coordinates;
};
Result<ProfilePtr> add_topology(const ProfilePtr& profile, const NewTopology& wanted);

// A topology by its name, or by its number from 0 on.
Result<std::size_t> find_topology(const Definitions& defs, std::string_view which);
Result<ProfilePtr> rename_topology(const ProfilePtr& profile, std::size_t which, std::string name);
// One name for each dimension.
Result<ProfilePtr> name_dimensions(const ProfilePtr& profile, std::size_t which, const std::vector<std::string>& names);

}  // namespace fathom::algebra
