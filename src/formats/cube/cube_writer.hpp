// Writes Cube 4 archives that CubeLib, its viewers and pyCubexR read.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/option.hpp"
#include "formats/cube/anchor.hpp"
#include "formats/dataset.hpp"
#include "io/tar.hpp"

namespace fathom::cube {

// Rows of one metric in the order of their numbers. The writer asks for them a block at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Bytes of one row; 0 = the metric has no rows at all.
  [[nodiscard]] virtual std::size_t row_bytes(std::size_t metric) const = 0;
  // Hands over rows, numbers ascending, values in native byte order and valid during the call only.
  using Visit = std::function<Result<void>(std::uint32_t number, const std::byte* values)>;
  virtual Result<void> rows(std::size_t metric, const Visit& visit) const = 0;
  // Members to take over as they are instead of rows; null = none.
  [[nodiscard]] virtual std::pair<const TarMember*, const TarMember*> members(std::size_t) const {
    return {nullptr, nullptr};
  }
};

inline constexpr Option<std::string> kAnchor{"anchor", "FORM", "anchor.xml packed or not", "plain gzip"};
struct CubeWriteOptions {
  bool compress = false;     // ZCUBEX rows
  bool gzip_anchor = false;  // anchor.xml packed
};
Result<CubeWriteOptions> parse_options(const WriteOptions& options);

// Gives the anchor what every reader expects: a known version, the two version attributes, legal ids. Ids stay as they
// are where they are legal; gaps are closed in the order of the old ids, save those of call paths and regions where
// asked for: expressions and other files name them.
enum class TreeIds : std::uint8_t { without_gaps, as_they_are };
void make_writable(Anchor& anchor, TreeIds ids = TreeIds::without_gaps);

// Little endian, sparse, rows of zeros left out, anchor.xml last. Deterministic and atomic.
Result<void> write_cube(const std::filesystem::path& target, const Anchor& anchor, const RowSource& rows,
                        const std::vector<const TarMember*>& extra_members, const CubeWriteOptions& options);

}  // namespace fathom::cube
