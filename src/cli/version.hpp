#pragma once

namespace fathom::cli {

// FATHOM_VERSION comes from the build (project version in CMakeLists.txt).
inline constexpr const char* kVersion = FATHOM_VERSION;

}  // namespace fathom::cli
