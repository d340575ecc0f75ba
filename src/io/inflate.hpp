// gzip, zlib and zstd data, always with a bound on what comes out.
#pragma once

#include <functional>
#include <span>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

bool is_gzip(Bytes bytes);
// gzip or zstd: what a file is unpacked from on opening.
bool is_packed(Bytes bytes);

// Unpacks a whole file of gzip or zstd (several members too), or a zlib stream of unknown size, of at most `limit`
// bytes; counted against the budget while it lives. Of a damaged or cut-off file it gives what comes before the damage,
// and says so.
Result<Blob> gunzip(const Blob& packed, const Work& work, std::uint64_t limit);

// The same piece by piece, without keeping more than one piece; damage is an error once the sound pieces are handed
// over.
Result<void> gunzip_pieces(const Blob& packed, std::uint64_t limit, const std::function<Result<void>(Bytes)>& sink);

// Unpacks one zlib stream that must fill `out` exactly. MT: safe.
Result<void> inflate_exact(Bytes packed, std::span<std::byte> out);

// Packs for output. Level 1 (fast) to 12 (small). MT: safe.
std::vector<std::byte> deflate_zlib(Bytes bytes, int level);
std::vector<std::byte> gzip(Bytes bytes, int level);

}  // namespace fathom
