// The native records of a Cube archive as text.
#pragma once

#include "formats/cube/cube_file.hpp"
#include "formats/dataset.hpp"

namespace fathom::cube {

// Sections: attributes, mirrors, metrics, calltree, systemtree, topologies, files, values; none chosen = all.
Result<void> dump_cube(const CubeFile& file, const DumpOptions& options, const TextSink& sink);

}  // namespace fathom::cube
