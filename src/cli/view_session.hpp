// What the viewer's page saved: which datasets were open, and what was shown of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace fathom::cli {

struct ViewSession {
  std::vector<std::string> paths;
  std::string view;  // the fragment of the address
};

Result<ViewSession> read_view_session(const std::filesystem::path& file);

}  // namespace fathom::cli
