// A packed profile of ParaProf (.ppk): all threads and metrics of a run in one file.
#pragma once

#include <set>

#include "formats/tau/tau_mapping.hpp"

namespace fathom::tau {

struct PackedProfile {
  std::vector<std::string> metrics;
  std::vector<ThreadFile> files;  // by thread, then metric; names of functions lie in the blob
  std::set<std::string> groups;   // to which the functions refer
};

// True when the unpacked bytes begin as such a file does.
bool is_packed_profile(std::string_view head);

// A file that breaks off keeps the threads before.
Result<PackedProfile> read_packed(const Blob& blob, const Work& work);

}  // namespace fathom::tau
