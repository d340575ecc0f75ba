#include "io/unzstd.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>
#include <vector>

#include "io/growth.hpp"

namespace fathom {

namespace {

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

bool is_zstd(Bytes bytes) {
  constexpr std::byte kMagic[] = {std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F}, std::byte{0xFD}};
  return bytes.size() >= std::size(kMagic) && std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin());
}

Result<std::optional<Error>> unzstd_pieces(const Blob& packed, std::uint64_t limit,
                                           const std::function<Result<void>(Bytes)>& sink) {
  const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  if (context == nullptr) return Error("cannot start zstd", packed.place());
  // The library refuses windows of more than 128 MB by itself, whatever a frame says.
  const Bytes bytes = packed.bytes();
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::vector<std::byte> piece(ZSTD_DStreamOutSize());
  std::uint64_t produced = 0;
  for (;;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t before = in.pos;
    const std::size_t status = ZSTD_decompressStream(context.get(), &out, &in);
    produced += out.pos;
    if (produced > limit) return too_large(limit, packed.place(in.pos));
    if (out.pos > 0) FATHOM_CHECK(sink(Bytes(piece).first(out.pos)));
    if (ZSTD_isError(status) != 0) {
      return std::optional(
          Error(fmt::format("zstd data are damaged ({})", ZSTD_getErrorName(status)), packed.place(in.pos)));
    }
    // 0 = the end of a frame; another may follow.
    if (status == 0 && in.pos == in.size) return std::optional<Error>();
    if (in.pos == in.size && in.pos == before && out.pos == 0) {
      return std::optional(Error("zstd data end too early", packed.place(in.pos)));
    }
  }
}

}  // namespace fathom
