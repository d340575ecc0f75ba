// Where the viewer keeps indexes of timelines, and `fathom index` puts them for it to find.
#pragma once

#include <filesystem>

#include "trace/summary/index_file.hpp"
#include "trace/trace.hpp"

namespace fathom::serve {

struct IndexOptions {
  std::filesystem::path directory;  // empty: nowhere
  bool beside = false;              // beside the data instead
  bool always = false;              // of small traces, too
};

// `path` is that of the trace; an invalid channel is its activity.
summary::IndexPlace index_place(const Trace& trace, const std::filesystem::path& path, ChannelId channel,
                                const IndexOptions& options);

}  // namespace fathom::serve
