// No big-endian archive is at hand: one is made from a little-endian one, field by field, and must read the same.
#include "base/text.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/record_file.hpp"
#include "otf2_cases.hpp"

namespace fathom::otf2 {
namespace {

// Copies a file and turns the bytes of its numbers round.
class Turner {
 public:
  explicit Turner(std::string bytes) : bytes_(std::move(bytes)) {}

  // A file in chunks. `kinds` gives the layouts; event files have times and attribute lists.
  std::string chunks(std::uint64_t chunk_size, bool events,
                     const std::function<std::string_view(std::uint8_t)>& layout) {
    for (std::size_t chunk = 0; chunk < bytes_.size(); chunk += chunk_size) {
      bytes_[chunk + 1] = 0x23;
      reverse(chunk + 2, 8);
      reverse(chunk + 10, 8);
      const std::size_t end = std::min<std::size_t>(bytes_.size(), chunk + chunk_size);
      std::size_t at = chunk + 18;
      while (at < end) {
        const auto type = byte(at++);
        if (type == kEndOfChunk || type == kEndOfFile) break;
        if (events && type == kTimestamp) {
          reverse(at, 8);
          at += 8;
          continue;
        }
        const RecordKind* const kind = events ? find_event_kind(type) : nullptr;
        if (kind != nullptr && !kind->has_length) {
          at = compact(at);
          continue;
        }
        const std::size_t size = byte(at++);
        EXPECT_NE(size, 255U);
        const std::size_t stop = at + size;
        if (events && type == kAttributeList) {
          attributes(at);
        } else {
          fields(layout(type), at, stop);
        }
        at = stop;
      }
    }
    return bytes_;
  }
  std::string anchor() {
    bytes_[1] = 0x23;
    std::size_t at = 2 + 5 + 1 + 1 + 3;
    for (int i = 0; i < 2; ++i, at += 8) reverse(at, 8);
    at += 2;
    for (int i = 0; i < 2; ++i, at += 8) reverse(at, 8);
    for (int i = 0; i < 3; ++i) at = bytes_.find('\0', at) + 1;
    std::uint32_t properties = 0;
    std::memcpy(&properties, bytes_.data() + at, 4);
    reverse(at, 4);
    at += 4;
    for (; properties > 0; --properties) {
      for (int i = 0; i < 2; ++i) at = bytes_.find('\0', at) + 1;
    }
    reverse(at, 8);
    reverse(at + 8, 4);
    reverse(at + 12, 4);
    return bytes_;
  }

 private:
  std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
  void reverse(std::size_t at, std::size_t size) {
    std::reverse(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes_.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  std::size_t compact(std::size_t at) {
    const std::size_t size = byte(at) == 0xFF ? 0 : byte(at);
    reverse(at + 1, size);
    return at + 1 + size;
  }
  std::uint64_t value_of(std::size_t at) const {  // before it is turned
    return load_bytes(reinterpret_cast<const std::byte*>(bytes_.data()) + at + 1, byte(at) == 0xFF ? 0 : byte(at),
                      true);
  }
  std::size_t value(std::uint8_t type, std::size_t at) {
    const std::size_t full = type == 1 || type == 5   ? 1
                             : type == 2 || type == 6 ? 2
                             : type == 9              ? 4
                             : type == 10             ? 8
                                                      : 0;
    if (full == 0) return compact(at);
    reverse(at, full);
    return at + full;
  }
  void attributes(std::size_t at) {
    std::uint64_t count = value_of(at);
    at = compact(at);
    for (; count > 0; --count) {
      at = compact(at);
      const std::uint8_t type = byte(at++);
      at = value(type, at);
    }
  }
  void fields(std::string_view layout, std::size_t at, std::size_t stop) {
    if (layout.empty()) return;
    std::uint64_t last = 0;
    std::uint8_t type = 0;
    std::vector<std::string_view> arrays;
    const auto one = [&](std::string_view name, std::string_view encoding) {
      if (encoding == "str") {
        at = bytes_.find('\0', at) + 1;
      } else if (encoding == "u8") {
        last = byte(at++);
        if (name.starts_with("type")) type = static_cast<std::uint8_t>(last);
      } else if (encoding == "u64" || encoding == "f64") {
        reverse(at, 8);
        at += 8;
      } else if (encoding == "value") {
        at = value(type, at);
      } else if (encoding == "idmap") {
        std::uint64_t count = value_of(at);
        at = compact(at);
        const bool sparse = byte(at++) != 0;
        for (count *= sparse ? 2 : 1; count > 0; --count) at = compact(at);
      } else {
        last = value_of(at);
        at = compact(at);
      }
    };
    const auto flush = [&] {
      const std::uint64_t count = arrays.empty() ? 0 : last;
      for (std::uint64_t i = 0; i < count; ++i) {
        for (const std::string_view field : arrays) {
          const auto colon = field.find(':');
          one(field.substr(0, colon), field.substr(colon + 1, field.find('@') - colon - 1));
        }
      }
      arrays.clear();
    };
    for (const std::string_view field : split(layout, ' ')) {
      if (at >= stop) return;
      const auto colon = field.find(':');
      if (field.find('[') != std::string_view::npos) {
        arrays.push_back(field);
        continue;
      }
      flush();
      if (at >= stop) return;
      one(field.substr(0, colon), field.substr(colon + 1, field.find('@') - colon - 1));
    }
    flush();
  }
  std::string bytes_;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view definition_layout(std::uint8_t type) {
  const RecordKind* const kind = find_definition_kind(type);
  return kind == nullptr ? std::string_view{} : kind->fields;
}
std::string_view local_layout(std::uint8_t type) {
  if (type == 5) return "mapping_type:u8 id_map:idmap";
  if (type == 6) return "time:u64 offset:s64 standard_deviation:f64";
  return definition_layout(type);
}
std::string_view event_layout(std::uint8_t type) {
  const RecordKind* const kind = find_event_kind(type);
  return kind == nullptr ? std::string_view{} : kind->fields;
}

TEST(Otf2ByteOrder, BigEndianReadsTheSame) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  for (const char* name : {"kinds", "pingpong", "mi300"}) {
    const auto source = data_directory() / name;
    const Work work = make_work();
    const auto little = open_archive(source / "traces.otf2", work);
    ASSERT_NE(little, nullptr);
    TemporaryDirectory made;
    const auto write = [&](const std::filesystem::path& to, const std::string& bytes) {
      std::ofstream(to, std::ios::binary) << bytes;
    };
    write(made / "traces.otf2", Turner(read_file(source / "traces.otf2")).anchor());
    write(made / "traces.def",
          Turner(read_file(source / "traces.def")).chunks(little->anchor.definition_chunk, false, definition_layout));
    std::filesystem::create_directory(made / "traces");
    for (const auto& entry : std::filesystem::directory_iterator(source / "traces")) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(".evt")) {
        write(made / ("traces/" + file),
              Turner(read_file(entry.path())).chunks(little->anchor.event_chunk, true, event_layout));
      } else if (file.ends_with(".def")) {
        write(made / ("traces/" + file),
              Turner(read_file(entry.path())).chunks(little->anchor.definition_chunk, false, local_layout));
      }
    }
    const Work big_work = make_work();
    const auto big = open_archive(made / "traces.otf2", big_work);
    ASSERT_NE(big, nullptr);
    EXPECT_EQ(big->anchor.global_definitions, little->anchor.global_definitions);
    EXPECT_EQ(big->definitions.clock.global_offset, little->definitions.clock.global_offset);
    const auto one = Otf2Trace::make(little);
    const auto other = Otf2Trace::make(big);
    ASSERT_TRUE(one.ok() && other.ok());
    ASSERT_EQ((*one)->location_count(), (*other)->location_count());
    for (std::size_t i = 0; i < (*one)->location_count(); ++i) {
      auto wanted = all_events(**one, LocationId(i));
      std::erase_if(wanted, [](const Event& event) { return event.record == Event::kNoRecord; });  // of the marker file
      const auto found = all_events(**other, LocationId(i));
      ASSERT_EQ(wanted.size(), found.size());
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_EQ(wanted[k].time_ns, found[k].time_ns);
        EXPECT_EQ((*one)->name(wanted[k]), (*other)->name(found[k]));
        std::string text, same;
        ASSERT_TRUE((*one)->detail(wanted[k], text).ok());
        ASSERT_TRUE((*other)->detail(found[k], same).ok());
        EXPECT_EQ(text, same);
        if (k == 2000) break;
      }
    }
    EXPECT_FALSE(big_work->diagnostics.defective()) << name;
  }
}

}  // namespace
}  // namespace fathom::otf2
