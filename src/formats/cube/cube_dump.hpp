// The native records of a Cube archive as text.
#pragma once

#include "formats/cube/cube_file.hpp"
#include "formats/dataset.hpp"

namespace fathom::cube {

// Sections: attributes, mirrors, metrics, calltree, systemtree, topologies, files, values, or file:NAME for the content
// of a further file; none chosen = all but that.
Result<void> dump_cube(const CubeFile& file, const DumpOptions& options, const TextSink& sink);

}  // namespace fathom::cube
