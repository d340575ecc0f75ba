// The recorders of capture/ that are installed beside this program, and which of them a command needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace fathom::cli {

struct MpiRecorder {
  std::string library;         // "openmpi", "mpich": the MPI library it is made for
  std::filesystem::path path;  // of the recorder
};

std::vector<MpiRecorder> mpi_recorders();

// The MPI library behind "mpirun -n 4 ./program": that of the first program that names one, else that of the launcher.
// Empty: nothing says it.
std::string mpi_library_of(const std::vector<std::string>& command);
// Whether a word of a command is the launcher of that library.
bool is_launcher_of(const std::string& word, const std::string& library);

// The program beside the recorders that reads the clocks of all nodes, for the library behind a launcher and its
// options. `library`: which one, where it is known; may be empty.
Result<std::filesystem::path> clock_sampler(const std::vector<std::string>& launcher, const std::string& library);

}  // namespace fathom::cli
