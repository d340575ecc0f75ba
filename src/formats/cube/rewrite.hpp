// Cube -> Cube without loss.
#pragma once

#include "formats/cube/cube_file.hpp"
#include "formats/cube/cube_writer.hpp"

namespace fathom::cube {

// Everything the file says, in the current layout: attributes, parameters, topologies, unknown elements, derived and
// ghost metrics, extra members, and the bits of every value. A metric whose values are damaged loses them, with a
// diagnostic.
Result<void> rewrite_cube(const CubeFile& file, const std::filesystem::path& target, const CubeWriteOptions& options);

}  // namespace fathom::cube
