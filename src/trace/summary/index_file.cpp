#include "trace/summary/index_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "io/byte_cursor.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"

namespace fathom::summary {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "FATHOMX";
constexpr char kVersion = '2';  // 1: all blocks are packed
constexpr std::size_t kKeyAt = kMagic.size() + 1;
constexpr std::size_t kKey = 32;
constexpr std::size_t kHead =
    kIndexHead;  // magic, version, key, where the directory begins, its size, its checksum, spare

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads numbers out of the directory; past its end everything is 0 and `short_` says so.
class Numbers {
 public:
  explicit Numbers(Bytes bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof value) {
      short_ = true;
      at_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  // Whether that many items of a size can follow.
  [[nodiscard]] bool room(std::uint64_t count, std::size_t size) const { return count <= (bytes_.size() - at_) / size; }
  [[nodiscard]] bool complete() const { return !short_ && at_ == bytes_.size(); }
  [[nodiscard]] bool is_short() const { return short_; }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
  bool short_ = false;
};

Result<StoredIndex> parse(const Blob& blob, std::string_view key, const Trace& trace) {
  const auto damaged = [&](const char* what) { return Error(what, blob.place()); };
  const Bytes bytes = blob.bytes();
  if (bytes.size() < kHead || !blob.starts_with(kMagic)) return damaged("this is no index of a timeline");
  if (blob.text()[kMagic.size()] != kVersion) return damaged("the index is of another version");
  if (blob.text().substr(kKeyAt, kKey) != key) return damaged("the index belongs to another input");
  Numbers head(bytes.subspan(kKeyAt + kKey, kHead - kKeyAt - kKey));
  const auto begin = head.take<std::uint64_t>();
  const auto size = head.take<std::uint64_t>();
  const auto sum = head.take<std::uint32_t>();
  if (begin < kHead || begin > bytes.size() || size != bytes.size() - begin) return damaged("the index is cut short");
  if (checksum(bytes.subspan(begin, size)) != sum) return damaged("the index is damaged");
  Numbers in(bytes.subspan(begin, size));
  StoredIndex index;
  index.events = in.take<std::uint64_t>();
  const auto contexts = in.take<std::uint64_t>();
  if (!in.room(contexts, 13)) return damaged("the index is damaged: contexts");
  for (std::uint64_t i = 0; i < contexts; ++i) {
    const auto parent = in.take<std::uint32_t>();
    Step step;
    step.kind = static_cast<StepKind>(std::min<std::uint8_t>(in.take<std::uint8_t>(), 2));
    step.id = in.take<std::int64_t>();
    if (parent != kNothing && parent >= i) return damaged("the index is damaged: parents");
    index.contexts.push_back(Contexts::made(index.contexts, parent, step));
  }
  const std::size_t rows = trace.location_count();
  if (in.take<std::uint64_t>() != rows) return damaged("the index has another number of rows");
  const auto* const samples = dynamic_cast<const SampleRecords*>(&trace);
  auto owner = std::make_shared<Blob>(blob);
  for (std::size_t r = 0; r < rows; ++r) {
    auto row = std::make_shared<TimelineRow>();
    row->whole = true;
    row->first_ns = in.take<std::int64_t>();
    row->last_ns = in.take<std::int64_t>();
    const auto at = in.take<std::uint64_t>();
    const auto length = in.take<std::uint64_t>();
    BlockTree::Layout layout;
    layout.packed_bytes = in.take<std::uint64_t>();
    layout.blocks = in.take<std::uint64_t>();
    const auto levels = in.take<std::uint32_t>();
    if (!in.room(levels, 8) || levels > 64) return damaged("the index is damaged: levels");
    for (std::uint32_t i = 0; i < levels; ++i) layout.level_sizes.push_back(in.take<std::uint64_t>());
    layout.sampled = in.take<std::uint64_t>();
    const auto end_ns = in.take<std::int64_t>();
    const auto transitions = in.take<std::uint64_t>();
    const auto nodes = in.take<std::uint32_t>();
    row->in_time_order = in.take<std::uint8_t>() != 0;
    const auto known = in.take<std::uint32_t>();
    if (!in.room(known, 4)) return damaged("the index is damaged: rows");
    for (std::uint32_t i = 0; i < known; ++i) {
      row->global.push_back(in.take<std::uint32_t>());
      if (row->global.back() >= contexts) return damaged("the index is damaged: numbers of contexts");
    }
    if (at < kHead || at > begin || length > begin - at || at % 8 != 0) return damaged("the index is damaged: places");
    auto tree = BlockTree::over(bytes.subspan(at, length), layout, end_ns, transitions, known, owner);
    if (!tree) return damaged("the index is damaged: blocks");
    if (checksum(tree->node_bytes()) != nodes) return damaged("the index is damaged: nodes");
    row->tree = std::move(*tree);
    if (row->in_time_order || row->tree.needs_trace()) {
      if (samples == nullptr) return damaged("the index reads from another kind of trace");
      row->tree.read_from(*samples, LocationId(r));
    }
    index.rows.push_back(std::move(row));
  }
  if (!in.complete()) return damaged("the index is damaged: its end");
  return index;
}

}  // namespace

Result<StoredIndex> read_index(const fs::path& path, std::string_view key, const Trace& trace) {
  FATHOM_TRY(const Blob blob, map_file(path));
  FATHOM_TRY(StoredIndex index, parse(blob, key, trace));
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // who was used last
  return index;
}

RowEntry entry_of(const TimelineRow& row) {
  const BlockTree& tree = row.tree;
  return {row.first_ns,  row.last_ns,        tree.raw().size(),           tree.layout(),
          tree.end_ns(), tree.transitions(), checksum(tree.node_bytes()), row.in_time_order};
}

IndexDirectory::IndexDirectory(std::uint64_t events, std::span<const Contexts::Node> contexts, std::uint64_t rows) {
  put(text_, events);
  put(text_, std::uint64_t{contexts.size()});
  for (const Contexts::Node& node : contexts) {
    put(text_, node.parent);
    put(text_, static_cast<std::uint8_t>(node.step.kind));
    put(text_, node.step.id);
  }
  put(text_, rows);
}

void IndexDirectory::add(const RowEntry& row, std::uint64_t at, std::span<const std::uint32_t> global) {
  put(text_, row.first_ns);
  put(text_, row.last_ns);
  put(text_, at);
  put(text_, row.length);
  put(text_, row.layout.packed_bytes);
  put(text_, row.layout.blocks);
  put(text_, static_cast<std::uint32_t>(row.layout.level_sizes.size()));
  for (const std::uint64_t size : row.layout.level_sizes) put(text_, size);
  put(text_, row.layout.sampled);
  put(text_, row.end_ns);
  put(text_, row.transitions);
  put(text_, row.nodes);
  put(text_, static_cast<std::uint8_t>(row.in_time_order));
  put(text_, static_cast<std::uint32_t>(global.size()));
  for (const std::uint32_t context : global) put(text_, context);
}

std::string IndexDirectory::head(std::string_view key, std::uint64_t at) const {
  std::string head(kMagic);
  head += kVersion;
  head.append(key.substr(0, kKey));
  put(head, at);
  put(head, std::uint64_t{text_.size()});
  put(head, checksum(as_bytes(text_)));
  head.resize(kHead);
  return head;
}

void make_index_directory(const fs::path& file) {
  std::error_code failed;
  const fs::path directory = file.parent_path();
  if (directory.empty() || fs::exists(directory, failed)) return;
  fs::create_directories(directory, failed);
  if (!failed) fs::permissions(directory, fs::perms::owner_all, failed);
}

Result<IndexMemory> index_memory(const Work& work) {
  constexpr std::uint64_t kMost = std::uint64_t{256} << 20;
  const std::uint64_t memory = std::min(kMost, work->budget.limit() / 8);
  IndexMemory out;
  FATHOM_TRY(out.reserved, work->budget.reserve(memory, "the index of a timeline"));
  out.pool = std::make_shared<ArrayPool>(memory);
  return out;
}

Result<StoredIndex> write_index(const fs::path& path, std::string_view key, const StoredIndex& index,
                                const Trace& trace) {
  FATHOM_TRY(OutputFile out, OutputFile::create(path));
  out.write(std::string(kHead, '\0'));
  IndexDirectory directory(index.events, index.contexts, index.rows.size());
  for (const RowPtr& row : index.rows) {
    directory.add(entry_of(*row), out.offset(), row->global);
    out.write(row->tree.raw());
  }
  const std::uint64_t begin = out.offset();
  out.write(directory.text());
  out.overwrite(0, as_bytes(directory.head(key, begin)));
  FATHOM_TRY(const Blob blob, out.written());
  FATHOM_TRY(StoredIndex stored, parse(blob, key, trace));
  FATHOM_CHECK(out.commit());
  std::error_code ignored;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, ignored);
  return stored;
}

fs::path index_directory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "fathom";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "fathom";
  return {};
}

void prune_indexes(const fs::path& directory, std::uint64_t most, const fs::path& keep) {
  struct Found {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t size;
  };
  std::vector<Found> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (!entry->is_regular_file(ignored) || entry->path().extension() != kIndexExtension) continue;
    found.push_back({entry->path(), entry->last_write_time(ignored), entry->file_size(ignored)});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.used > b.used; });
  std::uint64_t sum = 0;
  for (const Found& one : found) {
    sum += one.size;
    if (sum > most && one.path != keep) fs::remove(one.path, ignored);
  }
}

}  // namespace fathom::summary
