// A trace directory of any of the five layouts, as its files say.
//
//   v1-a  loom.L/proc.P/thread.T             no header   metadata.json version 1
//   v1-b  loom.L/proc.P/thread.T             header      metadata.json version 1, with model_version
//   v1-c  loom.L/proc.P/thread.T.obs         header      metadata.json version 1, with model_version
//   v2    loom.L/proc.P/thread.T.obs         header      metadata.json and thread.T.json, version 2
//   v3    …/stream.obs                       header      …/stream.json version 3; names say nothing
#pragma once

#include <vector>

#include "base/option.hpp"
#include "base/work.hpp"
#include "formats/ovni/stream.hpp"

namespace fathom::ovni {

enum class Layout : std::uint8_t { v1_a, v1_b, v1_c, v2, v3 };
std::string_view to_string(Layout layout);
inline constexpr Option<std::string> kLayout{"layout", "NAME", "the arrangement of the files", "v1-a v1-b v1-c v2 v3"};
std::optional<Layout> find_layout(std::string_view name);

struct NativeTrace {
  std::filesystem::path root;
  Layout layout = Layout::v3;
  std::vector<Stream> streams;  // by path, byte order
  // Streams that could not be used at all; the emulator refuses such a trace, everything else goes on without them.
  std::vector<Error> unusable;
};

// Opens a trace, a part of one, or the file of one stream. A directory without streams is an empty trace, unless
// other things lie in it.
Result<NativeTrace> open_native(const std::filesystem::path& path, const Work& work);

// True when there is at least one file of a trace at or below `path`; looks at a bounded number of entries.
bool looks_like_trace(const std::filesystem::path& path);

// One stream over bytes in memory, for tests and fuzzing; `header` as the layouts with one have it.
Result<Stream> stream_of(Blob blob, bool may_lack_header);

}  // namespace fathom::ovni
