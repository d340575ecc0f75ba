#include "formats/cube/cube_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "formats/cube/byte_order.hpp"
#include "formats/cube/cube_file.hpp"
#include "io/byte_cursor.hpp"
#include "io/inflate.hpp"
#include "profile/absent.hpp"
#include "profile/cubepl/type_names.hpp"

namespace fathom::cube {

namespace {

// The official library's level.
constexpr int kDeflateLevel = 6;
// Rows that are packed at a time, on all cores.
constexpr std::size_t kBatchBytes = std::size_t{8} << 20;

template <class T>
void append(std::string& out, T value) {
  if constexpr (Endian::native == Endian::big) value = byte_swapped(value);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

bool all_zero(const std::byte* at, std::size_t size) {
  return size == 0 || (at[0] == std::byte{0} && std::memcmp(at, at + 1, size - 1) == 0);
}

// Where the official reader takes a stored zero into sums and passes by what is not there: extremes, and the rates 0/0
// and empty ranges of histograms, too.
bool zeros_are_values(ValueType type) {
  return absent_is_no_value(type) || type.kind == ValueKind::rate || type.kind == ValueKind::histogram;
}

std::string index_member(const std::vector<std::uint32_t>& numbers) {
  std::string out = "CUBEX.INDEX";
  append<std::uint32_t>(out, 1);
  append<std::uint16_t>(out, 0);
  append<std::uint8_t>(out, 1);  // sparse
  append(out, static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint32_t number : numbers) append(out, number);
  return out;
}

// Rows as they come.
class PlainRows {
 public:
  explicit PlainRows(TarWriter& tar) : tar_(tar) { tar_.write(as_bytes("CUBEX.DATA")); }
  void add(Bytes row) { tar_.write(row); }
  Result<void> finish(OutputFile&) { return {}; }

 private:
  TarWriter& tar_;
};

// Packed rows behind a table of their places. The table's length must be known when its first row is written, so the
// rows are counted in a first pass; its content is filled in at the end.
class PackedRows {
 public:
  PackedRows(TarWriter& tar, OutputFile& out, std::size_t row_bytes, std::size_t count)
      : tar_(tar), row_bytes_(row_bytes), rows_per_batch_(std::max<std::size_t>(1, kBatchBytes / row_bytes)) {
    std::string head = "ZCUBEX.DATA";
    append(head, std::uint64_t{count});
    tar_.write(as_bytes(head));
    table_at_ = out.offset();
    const std::string room(std::min<std::size_t>(count, 4096) * kEntry, '\0');
    for (std::size_t left = count; left > 0;) {
      const std::size_t now = std::min<std::size_t>(left, 4096);
      tar_.write(as_bytes(room).first(now * kEntry));
      left -= now;
    }
  }
  Result<void> add(Bytes row) {
    batch_.insert(batch_.end(), row.begin(), row.end());
    if (batch_.size() / row_bytes_ < rows_per_batch_) return {};
    return flush();
  }
  Result<void> finish(OutputFile& out) {
    FATHOM_CHECK(flush());
    out.overwrite(table_at_, as_bytes(table_));
    return {};
  }

 private:
  static constexpr std::size_t kEntry = 24;

  Result<void> flush() {
    const std::size_t rows = batch_.size() / row_bytes_;
    std::vector<std::vector<std::byte>> packed(rows);
    FATHOM_CHECK(parallel_for(rows, [&](std::size_t i) -> Result<void> {
      packed[i] = deflate_zlib(Bytes(batch_).subspan(i * row_bytes_, row_bytes_), kDeflateLevel);
      return {};
    }));
    for (const auto& row : packed) {
      append(table_, plain_);
      append(table_, packed_);
      append(table_, std::uint64_t{row.size()});
      tar_.write(row);
      plain_ += row_bytes_;
      packed_ += row.size();
    }
    batch_.clear();
    return {};
  }

  TarWriter& tar_;
  std::size_t row_bytes_;
  std::size_t rows_per_batch_;
  std::uint64_t table_at_ = 0;
  std::uint64_t plain_ = 0;
  std::uint64_t packed_ = 0;
  std::string table_;
  std::vector<std::byte> batch_;
};

Result<void> write_metric(const Anchor& anchor, std::size_t metric, const RowSource& rows, TarWriter& tar,
                          OutputFile& out, const CubeWriteOptions& options) {
  const std::string stem = member_stem(anchor.metrics[metric]);
  if (const auto [index, data] = rows.members(metric); index != nullptr && data != nullptr) {
    tar.add(stem + ".data", data->content.bytes());
    tar.add(stem + ".index", index->content.bytes());
    return {};
  }
  const std::size_t row_bytes = rows.row_bytes(metric);
  if (row_bytes == 0) return {};
  // First pass: which rows hold anything.
  const auto type_of_values = cubepl::parse_dtype(anchor.metrics[metric].dtype);
  const bool keep_zeros = type_of_values && zeros_are_values(*type_of_values);
  std::vector<std::uint32_t> numbers;
  FATHOM_CHECK(rows.rows(metric, [&](std::uint32_t number, const std::byte* values) -> Result<void> {
    if (keep_zeros || !all_zero(values, row_bytes)) numbers.push_back(number);
    return {};
  }));
  if (numbers.empty()) return {};
  const std::uint64_t bound = 64 + numbers.size() * (row_bytes + row_bytes / 8 + 128);
  tar.begin(stem + ".data", bound);
  const auto each = [&](auto& writer) -> Result<void> {
    std::size_t next = 0;
    std::vector<std::byte> swapped;
    const ValueType type = cubepl::parse_dtype(anchor.metrics[metric].dtype).value_or(ValueType{});
    FATHOM_CHECK(rows.rows(metric, [&](std::uint32_t number, const std::byte* values) -> Result<void> {
      if (next == numbers.size() || numbers[next] != number) return {};
      ++next;
      Bytes row(values, row_bytes);
      if constexpr (Endian::native == Endian::big) {
        swapped.assign(row.begin(), row.end());
        swap_values(type, swapped.data(), row_bytes / type.size(), true);
        row = swapped;
      }
      if constexpr (std::is_same_v<decltype(writer.add(row)), void>) {
        writer.add(row);
        return {};
      } else {
        return writer.add(row);
      }
    }));
    return writer.finish(out);
  };
  if (options.compress) {
    PackedRows writer(tar, out, row_bytes, numbers.size());
    FATHOM_CHECK(each(writer));
  } else {
    PlainRows writer(tar);
    FATHOM_CHECK(each(writer));
  }
  tar.end();
  tar.add(stem + ".index", as_bytes(index_member(numbers)));
  return {};
}

// Ids 0 .. n-1 in the order of the old ones, which are left alone when they are that already.
template <class Table, class Pick>
void close_gaps(Table& table, Pick&& pick) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if (pick(table[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return table[a].id < table[b].id; });
  for (std::uint32_t i = 0; i < order.size(); ++i) table[order[i]].id = i;
}

}  // namespace

Result<CubeWriteOptions> parse_options(const WriteOptions& options) {
  CubeWriteOptions out;
  out.compress = options.compress;
  for (const auto& [key, value] : options.options) {
    OptionValues given;
    FATHOM_CHECK(given.set_text(kAnchor, value));
    out.gzip_anchor = given.text(kAnchor) == "gzip";
  }
  return out;
}

void make_writable(Anchor& anchor, TreeIds ids) {
  using Kind = AnchorSystemNode::Kind;
  const bool accelerators = std::any_of(anchor.system.begin(), anchor.system.end(), [](const AnchorSystemNode& node) {
    return node.kind != Kind::tree_node && node.type.starts_with("accelerator");
  });
  anchor.version = accelerators ? "4.7" : "4.4";
  const auto ensure = [&](const char* key, const char* value) {
    if (find_attribute(anchor.attributes, key) == nullptr) anchor.attributes.emplace_back(key, value);
  };
  ensure("Cube Version", "4.8.2");
  ensure("CubePL Version", "1.1");
  const auto any = [](const auto&) { return true; };
  if (ids == TreeIds::without_gaps) {
    close_gaps(anchor.regions, any);
    close_gaps(anchor.cnodes, any);
  }
  close_gaps(anchor.system, [](const AnchorSystemNode& node) { return node.kind == Kind::group; });
  // Machines and nodes of old files are numbered apart; together they count in document order.
  std::uint32_t next = 0;
  for (AnchorSystemNode& node : anchor.system) {
    if (node.kind == Kind::tree_node) node.id = next++;
  }
}

Result<void> write_cube(const std::filesystem::path& target, const Anchor& anchor, const RowSource& rows,
                        const std::vector<const TarMember*>& extra_members, const CubeWriteOptions& options) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  TarWriter tar(out, TarPadding::slack_block);
  for (const TarMember* member : extra_members) tar.add(member->name, member->content.bytes());
  Progress progress("writing metrics", anchor.metrics.size());
  for (std::size_t metric = 0; metric < anchor.metrics.size(); ++metric, progress.advance()) {
    FATHOM_CHECK(write_metric(anchor, metric, rows, tar, out, options));
  }
  const std::string text = write_anchor(anchor);
  if (options.gzip_anchor) {
    tar.add(kAnchorName, gzip(as_bytes(text), kDeflateLevel));
  } else {
    tar.add(kAnchorName, as_bytes(text));
  }
  tar.finish();
  return out.commit();
}

}  // namespace fathom::cube
