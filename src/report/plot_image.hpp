// A figure as the ending of its file says: SVG as it is; PDF and PNG through librsvg and cairo, which are loaded when
// they are needed.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace fathom {

// Refuses endings other than .svg, .pdf and .png, before any work is done.
Result<void> check_figure_name(const std::filesystem::path& path);
Result<void> write_figure(const std::filesystem::path& path, const std::string& svg);

}  // namespace fathom
