// How many files this process has opened for reading so far: many processes that open the same ones are what the
// metadata server of a parallel file system suffers from.
#pragma once

#include <cstdint>

namespace fathom {

std::uint64_t opened_files();

}  // namespace fathom
