// Raw values kept in a .extra-p archive: NumPy arrays back to back (values/<k>.vals) and where each begins
// (values/<k>.indx).
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "io/zip.hpp"

namespace fathom::extrap {

struct KeptArray {
  std::vector<double> values;
  std::vector<ShapeToken> shape;  // empty for one dimension
};

// Lists of unequal length are stored as equally long ones, filled up with nan. Takes that out again.
void drop_padding(KeptArray& array);

class KeptValues {
 public:
  static Result<KeptValues> open(const ZipReader& zip, std::uint64_t chunk, const Work& work);
  [[nodiscard]] std::uint64_t count() const { return offsets_.size(); }
  Result<void> read(std::uint64_t index, KeptArray& out) const;

 private:
  Blob values_;
  std::vector<std::uint64_t> offsets_;
};

// The other way round. Ragged values are padded with NaN, as an array has no gaps.
class KeptValuesWriter {
 public:
  // [chunk, index] of the array.
  std::pair<std::uint64_t, std::uint64_t> add(std::span<const double> values, std::span<const ShapeToken> shape);
  [[nodiscard]] std::vector<ZipMember> members() &&;

 private:
  void close_chunk();
  std::string values_;
  std::vector<std::uint64_t> offsets_;
  std::vector<ZipMember> done_;
  std::uint64_t chunk_ = 0;
};

}  // namespace fathom::extrap
