#include "io/inflate.hpp"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/self_profile.hpp"
#include "io/growth.hpp"
#include "io/unzstd.hpp"

namespace fathom {

namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};
struct FreeCompressor {
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
};

// One per thread: they are not free to make.
libdeflate_decompressor* decompressor() {
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> instance(
      libdeflate_alloc_decompressor());
  return instance.get();
}

// What gunzip hands out: the bytes together with their share of the budget.
struct Unpacked {
  Budget::Reservation reservation;
  std::vector<std::byte> bytes;
};

struct Inflater {
  z_stream stream{};
  bool ready;
  Inflater() { ready = inflateInit2(&stream, 15 + 32) == Z_OK; }  // 32: gzip or zlib framing
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

// Unpacks up to the end, or to where the data are damaged or cut off: then that is the value. Errors are the limit's
// and the sink's.
Result<std::optional<Error>> unpack_pieces(const Blob& packed, std::uint64_t limit,
                                           const std::function<Result<void>(Bytes)>& sink) {
  if (is_zstd(packed.bytes())) return unzstd_pieces(packed, limit, sink);
  Inflater inflater;
  if (!inflater.ready) return Error("cannot start zlib", packed.place());
  z_stream& z = inflater.stream;
  const Bytes in = packed.bytes();
  std::vector<std::byte> piece(std::size_t{1} << 18);
  std::size_t consumed = 0;
  std::uint64_t produced = 0;
  for (;;) {
    const std::size_t in_chunk = std::min<std::size_t>(std::numeric_limits<uInt>::max(), in.size() - consumed);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + consumed));
    z.avail_in = static_cast<uInt>(in_chunk);
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&z, Z_NO_FLUSH);
    consumed += in_chunk - z.avail_in;
    const std::size_t got = piece.size() - z.avail_out;
    produced += got;
    if (produced > limit) return too_large(limit, packed.place(consumed));
    if (got > 0) FATHOM_CHECK(sink(Bytes(piece).first(got)));
    if (status == Z_STREAM_END) {
      // Another member may follow; anything else behind the last one is padding.
      if (!is_gzip(in.subspan(consumed))) return std::optional<Error>();
      inflateReset(&z);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return std::optional(
          Error(fmt::format("gzip data are damaged ({})", z.msg != nullptr ? z.msg : "no reason given"),
                packed.place(consumed)));
    } else if (consumed == in.size() && z.avail_out != 0) {
      return std::optional(Error("gzip data end too early", packed.place(consumed)));
    }
  }
}

}  // namespace

bool is_packed(Bytes bytes) { return is_gzip(bytes) || is_zstd(bytes); }

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B}; }

Result<void> gunzip_pieces(const Blob& packed, std::uint64_t limit, const std::function<Result<void>(Bytes)>& sink) {
  const Phase phase("unpack");
  FATHOM_TRY(const std::optional<Error> damage, unpack_pieces(packed, limit, sink));
  if (damage) return *damage;
  return {};
}

Result<void> check_growth(std::uint64_t packed, std::uint64_t unpacked, const Place& place, const Work& work) {
  constexpr std::uint64_t kMostTimes = 200;
  constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{64} << 20;
  if (unpacked <= std::max(kAlwaysAllowed, packed * kMostTimes)) return {};
  if (work->budget.limit() != Budget::default_limit()) return {};
  return Error(fmt::format("unpacks to more than {} times its {} bytes, as no measurement does", kMostTimes, packed),
               place)
      .hint("with --max-memory SIZE it is read, up to that size");
}

Error too_large(std::uint64_t limit, const Place& place) {
  return Error(fmt::format("unpacks to more than {} bytes", limit), place)
      .hint("if the file is really that large, raise --max-memory");
}

Result<Blob> gunzip(const Blob& packed, const Work& work, std::uint64_t limit) {
  const Phase phase("unpack");
  auto out = std::make_shared<Unpacked>();
  const auto keep = [&](Bytes piece) -> Result<void> {
    const std::size_t size = out->bytes.size() + piece.size();
    FATHOM_CHECK(check_growth(packed.size(), size, packed.place(), work));
    if (size > out->bytes.capacity()) {
      const std::size_t room = std::max(size, out->bytes.capacity() * 2);
      FATHOM_TRY(out->reservation, work->budget.reserve(room, "unpacking " + packed.name()));
      out->bytes.reserve(room);
    }
    out->bytes.insert(out->bytes.end(), piece.begin(), piece.end());
    return {};
  };
  FATHOM_TRY(const std::optional<Error> damage, unpack_pieces(packed, limit, keep));
  if (damage) {
    if (out->bytes.empty()) return *damage;
    FATHOM_CHECK(work->diagnostics.lost(
        "gzip.damaged", damage->place(),
        fmt::format("{}: the {} bytes before that are used", damage->what(), out->bytes.size())));
  }
  const Bytes bytes(out->bytes);
  return Blob(packed.name(), bytes, std::move(out));
}

Result<void> inflate_exact(Bytes packed, std::span<std::byte> out) {
  std::size_t produced = 0;
  const auto status =
      libdeflate_zlib_decompress(decompressor(), packed.data(), packed.size(), out.data(), out.size(), &produced);
  if (status == LIBDEFLATE_INSUFFICIENT_SPACE) {
    return Error(fmt::format("zlib stream unpacks to more than the expected {} bytes", out.size()));
  }
  if (status != LIBDEFLATE_SUCCESS) return Error("zlib stream is damaged");
  if (produced != out.size()) {
    return Error(fmt::format("zlib stream unpacks to {} bytes, expected {}", produced, out.size()));
  }
  return {};
}

namespace {

using Compress = std::size_t (*)(libdeflate_compressor*, const void*, std::size_t, void*, std::size_t);

std::vector<std::byte> pack(Bytes bytes, int level, Compress compress,
                            std::size_t (*bound)(libdeflate_compressor*, std::size_t)) {
  const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(libdeflate_alloc_compressor(level));
  std::vector<std::byte> out(bound(compressor.get(), bytes.size()));
  out.resize(compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

}  // namespace

std::vector<std::byte> deflate_zlib(Bytes bytes, int level) {
  return pack(bytes, level, libdeflate_zlib_compress, libdeflate_zlib_compress_bound);
}

std::vector<std::byte> gzip(Bytes bytes, int level) {
  return pack(bytes, level, libdeflate_gzip_compress, libdeflate_gzip_compress_bound);
}

}  // namespace fathom
