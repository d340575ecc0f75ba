// The files of a TAU run as one profile.
#pragma once

#include "formats/tau/tau_file.hpp"
#include "profile/profile.hpp"

namespace fathom::tau {

struct ThreadFile {
  std::uint32_t node = 0, context = 0, thread = 0;
  std::size_t metric = 0;  // number of its directory
  TauFile file;
};

// `metrics`: names of the directories MULTI__NAME, or one empty name. Files come sorted by thread, then metric.
Result<ProfilePtr> to_profile(const std::vector<std::string>& metrics, const std::vector<ThreadFile>& files,
                              const std::string& name, const Work& work);

}  // namespace fathom::tau
