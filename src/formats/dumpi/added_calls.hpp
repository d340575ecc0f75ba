// Calls that a DUMPI stream has no place for, as the recorder of capture/ leaves them beside the trace: one file
// PREFIX-RANK.calls per process, while an archive of another format is to be made of both.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "trace/trace.hpp"

namespace fathom::dumpi {

struct AddedCalls {
  std::shared_ptr<const Trace> trace;        // with the calls among its own
  std::vector<std::filesystem::path> files;  // that were read
  std::uint64_t calls = 0;
  std::uint64_t lost = 0;  // of ranks that the trace does not know, or of names that the file does not
};

// The trace of a metafile PREFIX.meta with what PREFIX-*.calls say. Threads that made no other call become locations,
// too. Without such files it is the trace as it is.
Result<AddedCalls> with_added_calls(std::shared_ptr<const Trace> trace, const std::filesystem::path& metafile,
                                    const Work& work);

}  // namespace fathom::dumpi
