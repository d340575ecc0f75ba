// A dataset of one file in its own format again.
#pragma once

#include "formats/dataset.hpp"
#include "io/blob.hpp"

namespace fathom {

// The same bytes, packed where the name or `--compress` says so; false when there are options, which the writer judges.
Result<bool> write_same_bytes(const Blob& blob, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom
