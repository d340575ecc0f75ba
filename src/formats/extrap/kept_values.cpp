#include "formats/extrap/kept_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::extrap {
namespace {

constexpr std::string_view kValuesMagic("Extra-P VALUES\0\0", 16);
constexpr std::string_view kIndexMagic("Extra-P INDEX\0\0\0", 16);
constexpr std::string_view kArrayMagic("\x93NUMPY", 6);
constexpr std::uint64_t kChunkSize = std::uint64_t{1} << 30;
constexpr std::size_t kMostDimensions = 16;

// The text after 'key': in the header's dictionary, up to its end.
std::string_view after_key(std::string_view header, std::string_view key) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  const auto colon = header.find(':');
  return colon == std::string_view::npos ? std::string_view{} : trim(header.substr(colon + 1));
}

double element(const std::byte* at, char kind, std::size_t size) {
  switch (kind) {
    case 'f':
      return size == 4 ? static_cast<double>(load_unchecked<float>(at)) : load_unchecked<double>(at);
    case 'u':
      return size == 4 ? static_cast<double>(load_unchecked<std::uint32_t>(at))
                       : static_cast<double>(load_unchecked<std::uint64_t>(at));
    default:
      return size == 4 ? static_cast<double>(load_unchecked<std::int32_t>(at))
                       : static_cast<double>(load_unchecked<std::int64_t>(at));
  }
}

// Tokens of a full array.
void append_shape(std::vector<ShapeToken>& shape, std::span<const std::uint64_t> dimensions) {
  if (dimensions.size() == 1) {
    shape.push_back(static_cast<ShapeToken>(dimensions[0] * 2));
    return;
  }
  shape.push_back(static_cast<ShapeToken>(dimensions[0] * 2 + 1));
  for (std::uint64_t i = 0; i < dimensions[0]; ++i) append_shape(shape, dimensions.subspan(1));
}

}  // namespace

Result<KeptValues> KeptValues::open(const ZipReader& zip, std::uint64_t chunk, const Work& work) {
  KeptValues result;
  FATHOM_TRY(result.values_, zip.read(fmt::format("values/{}.vals", chunk), work));
  if (!result.values_.starts_with(kValuesMagic)) {
    return Error("does not start with 'Extra-P VALUES'", result.values_.place());
  }
  FATHOM_TRY(const Blob index, zip.read(fmt::format("values/{}.indx", chunk), work));
  ByteCursor cursor(index);
  cursor.expect(kIndexMagic, "index");
  const std::uint64_t count = cursor.count_that_fits(cursor.u64("array count"), 8, "array count");
  for (std::uint64_t i = 0; i < count; ++i) result.offsets_.push_back(cursor.u64("array offset"));
  FATHOM_CHECK(cursor.status());
  return result;
}

// magic, version (2 bytes), header length (2 bytes; 4 from version 2 on), header
// {'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }, data
Result<void> KeptValues::read(std::uint64_t index, KeptArray& out) const {
  if (index >= offsets_.size()) {
    return Error(fmt::format("there is no array {}; the file holds {}", index, offsets_.size()), values_.place());
  }
  ByteCursor cursor(values_);
  cursor.seek(offsets_[index], "array");
  cursor.expect(kArrayMagic, "array");
  const std::uint8_t version = cursor.u8("array version");
  cursor.u8("array version");
  const std::uint64_t length = version >= 2 ? cursor.u32("header length") : cursor.u16("header length");
  const std::string_view header = as_text(cursor.bytes(length, "header"));
  FATHOM_CHECK(cursor.status());
  const auto bad = [&](std::string what) { return Error(std::move(what), values_.place(offsets_[index])); };
  const std::string_view type = after_key(header, "'descr'");
  if (type.size() < 5 || type[0] != '\'' || (type[1] != '<' && type[1] != '|') ||
      (type[2] != 'f' && type[2] != 'i' && type[2] != 'u') || (type[3] != '8' && type[3] != '4') || type[4] != '\'') {
    return bad(fmt::format("arrays of type {} are not known", fit(type.substr(0, 8), 8)));
  }
  const auto size = static_cast<std::size_t>(type[3] - '0');
  std::string_view tuple = after_key(header, "'shape'");
  if (!tuple.starts_with('(') || tuple.find(')') == std::string_view::npos) return bad("malformed shape");
  tuple = tuple.substr(1, tuple.find(')') - 1);
  std::vector<std::uint64_t> dimensions;
  std::uint64_t count = 1;
  for (const std::string_view part : split(tuple, ',')) {
    if (trim(part).empty()) continue;
    const auto n = parse_integer<std::uint64_t>(trim(part));
    if (!n || dimensions.size() >= kMostDimensions) return bad("malformed shape");
    dimensions.push_back(*n);
    if (*n != 0 && count > cursor.remaining() / *n) return bad("the array is larger than the file");
    count *= *n;
  }
  if (count == 0) return bad("an empty array");
  if (count > cursor.remaining() / size) return bad("the array is larger than the file");
  if (after_key(header, "'fortran_order'").starts_with("True") && dimensions.size() > 1) {
    return bad("arrays in Fortran order are not known");
  }
  const Bytes data = cursor.bytes(count * size, "array data");
  out.values.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) out.values[i] = element(data.data() + i * size, type[2], size);
  out.shape.clear();
  if (dimensions.size() > 1) append_shape(out.shape, dimensions);
  return cursor.status();
}

namespace {

// The smallest full array that holds a nested list: the longest list of every depth.
void measure_shape(std::span<const ShapeToken> shape, std::vector<std::uint64_t>& dimensions) {
  std::vector<std::uint64_t> open;
  for (const ShapeToken token : shape) {
    if (!open.empty()) --open.back();
    const std::size_t depth = open.size();
    if (token != kNumber) {
      if (dimensions.size() <= depth) dimensions.resize(depth + 1, 0);
      dimensions[depth] = std::max<std::uint64_t>(dimensions[depth], token / 2);
      if (token % 2 == 1) open.push_back(token / 2);
    }
    while (!open.empty() && open.back() == 0) open.pop_back();
  }
}

// Copies the values to where the full array has them.
void place_values(std::span<const double> values, std::span<const ShapeToken> shape,
                  std::span<const std::uint64_t> dimensions, std::vector<double>& full) {
  std::vector<std::uint64_t> strides(dimensions.size(), 1);
  for (std::size_t d = dimensions.size(); d-- > 1;) strides[d - 1] = strides[d] * dimensions[d];
  struct Open {
    std::uint64_t left;
    std::uint64_t at;
  };
  std::vector<Open> open;
  std::size_t next = 0;
  for (const ShapeToken token : shape) {
    std::uint64_t at = 0;
    if (!open.empty()) {
      at = open.back().at;
      open.back().at += strides[open.size() - 1];
      --open.back().left;
    }
    if (token == kNumber) {
      full[at] = values[next++];
    } else if (token % 2 == 0) {
      const std::uint64_t stride = strides[open.size()];
      for (ShapeToken i = 0; i < token / 2; ++i) full[at + i * stride] = values[next++];
    } else {
      open.push_back({token / 2, at});
    }
    while (!open.empty() && open.back().left == 0) open.pop_back();
  }
}

void append_u64(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> KeptValuesWriter::add(std::span<const double> values,
                                                              std::span<const ShapeToken> shape) {
  if (values_.empty()) values_ = kValuesMagic;
  std::vector<std::uint64_t> dimensions;
  std::vector<double> full;
  if (shape.empty()) {
    dimensions = {values.size()};
    full.assign(values.begin(), values.end());
  } else {
    measure_shape(shape, dimensions);
    std::uint64_t count = 1;
    for (const std::uint64_t d : dimensions) count *= d;
    full.assign(count, std::numeric_limits<double>::quiet_NaN());
    place_values(values, shape, dimensions, full);
  }
  const std::pair where{chunk_, std::uint64_t{offsets_.size()}};
  offsets_.push_back(values_.size());
  std::string tuple;
  for (const std::uint64_t d : dimensions) tuple += (tuple.empty() ? "" : ", ") + std::to_string(d);
  if (dimensions.size() == 1) tuple += ",";
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", tuple);
  constexpr std::size_t kPreamble = 10;
  while ((kPreamble + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  values_ += kArrayMagic;
  values_ += '\x01';
  values_ += '\0';
  values_ += static_cast<char>(header.size() & 0xFF);
  values_ += static_cast<char>(header.size() >> 8);
  values_ += header;
  values_.append(reinterpret_cast<const char*>(full.data()), full.size() * sizeof(double));
  if (values_.size() >= kChunkSize) close_chunk();
  return where;
}

void KeptValuesWriter::close_chunk() {
  if (offsets_.empty()) return;
  std::string index(kIndexMagic);
  append_u64(index, offsets_.size());
  for (const std::uint64_t offset : offsets_) append_u64(index, offset);
  done_.push_back({fmt::format("values/{}.vals", chunk_), std::move(values_), false});
  done_.push_back({fmt::format("values/{}.indx", chunk_), std::move(index), false});
  values_.clear();
  offsets_.clear();
  ++chunk_;
}

std::vector<ZipMember> KeptValuesWriter::members() && {
  close_chunk();
  return std::move(done_);
}

void drop_padding(KeptArray& array) {
  std::vector<double> values;
  std::size_t next = 0;
  for (ShapeToken& token : array.shape) {
    if (token == kNumber) {
      values.push_back(array.values[next++]);
      continue;
    }
    if (token % 2 != 0) continue;
    const std::size_t count = token / 2;
    std::size_t used = count;
    while (used > 0 && std::isnan(array.values[next + used - 1])) --used;
    for (std::size_t i = 0; i < used; ++i) values.push_back(array.values[next + i]);
    next += count;
    token = static_cast<ShapeToken>(used * 2);
  }
  if (!array.shape.empty()) array.values = std::move(values);
}

}  // namespace fathom::extrap
