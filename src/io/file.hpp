// Files as blobs.
#pragma once

#include <filesystem>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

// Names come from files, too: the system would take one with a NUL byte in it for another, shorter one.
Result<void> check_path(const std::filesystem::path& path);

// Maps a file into memory as it is. The error says what stands in the way (missing, a directory, no permission).
Result<Blob> map_file(const std::filesystem::path& path);

// The same, unpacked when it is gzip: what "a file" means everywhere in Fathom.
Result<Blob> open_file(const std::filesystem::path& path, const Work& work);

}  // namespace fathom
