// The text of a Chrome trace: where its events are, and what stands beside them. Events are handed over in pieces, so
// that files of any size can be read; pieces are parsed in parallel.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/work.hpp"
#include "formats/chrome/chunk.hpp"
#include "io/blob.hpp"

namespace fathom::chrome {

struct EventFile {
  std::map<std::string, std::string, std::less<>> others;  // keys beside traceEvents, short values as they stand
  bool cut_off = false;                                    // the text ends before the list of events does
};

// Reads it all; `take` gets the events in the order of the file, one chunk at a time.
Result<EventFile> read_events(const Blob& blob, const Work& work,
                              const std::function<Result<void>(const Chunk&)>& take);

}  // namespace fathom::chrome
