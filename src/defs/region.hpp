// A named piece of code: function, loop, MPI call, ...
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.hpp"
#include "defs/attributes.hpp"

namespace fathom {

using RegionId = Id<struct RegionTag>;

struct Region {
  std::string name;
  std::string mangled_name;  // empty: the same as name
  std::string paradigm;      // compiler, mpi, openmp, ...; free text
  std::string role;          // function, loop, barrier, ...; free text
  std::string file;
  std::string module;  // load module (binary), where the format knows it
  std::int64_t begin_line = -1;
  std::int64_t end_line = -1;
  std::string url;
  std::string description;
  std::uint64_t file_id = 0;  // the id the file uses
  Attributes attributes;
};

}  // namespace fathom
