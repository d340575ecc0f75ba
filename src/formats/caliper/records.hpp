// What Caliper writes, whatever the spelling: attributes, and records of attributes with values.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.hpp"
#include "base/work.hpp"
#include "defs/attributes.hpp"
#include "io/blob.hpp"

namespace fathom::caliper {

enum class Type : std::uint8_t { text, integer, real, other };

// Bits of cali.attribute.prop.
inline constexpr std::uint64_t kAsValue = 1;
inline constexpr std::uint64_t kSkipEvents = 64;  // set by Caliper, not by the program
inline constexpr std::uint64_t kHidden = 128;
inline constexpr std::uint64_t kNested = 256;
inline constexpr std::uint64_t kGlobal = 512;

struct Attribute {
  std::string name;
  Type type = Type::text;
  std::uint64_t properties = 0;
  std::string unit;
  std::string alias;
  [[nodiscard]] bool is_value() const { return (properties & kAsValue) != 0; }
};

inline constexpr std::size_t kLongestLine = UINT32_MAX - 2;

// An attribute with its value, as the file has it: a text, or a number of JSON. There are many of them: no bytes are
// lost between their parts. Nothing is longer than what can be a line.
struct Entry {
  using Room = std::array<char, text_writing::kNumberRoom>;
  static constexpr std::uint32_t kInteger = UINT32_MAX;  // instead of sizes
  static constexpr std::uint32_t kReal = UINT32_MAX - 1;

  union {
    const char* begin = nullptr;
    std::int64_t integer;
    double real;
  };
  std::uint32_t size = 0;
  std::uint32_t attribute = 0;

  Entry() = default;
  Entry(std::uint32_t of, std::string_view value)
      : begin(value.data()), size(static_cast<std::uint32_t>(value.size())), attribute(of) {}
  Entry(std::uint32_t of, std::int64_t value) : integer(value), size(kInteger), attribute(of) {}
  Entry(std::uint32_t of, double value) : real(value), size(kReal), attribute(of) {}

  [[nodiscard]] bool is_integer() const { return size == kInteger; }
  [[nodiscard]] bool is_real() const { return size == kReal; }
  // Numbers are written into the room.
  [[nodiscard]] std::string_view text(Room& room) const {
    if (!is_integer() && !is_real()) return {begin, size};
    const char* const end =
        is_integer() ? text_writing::put_integer(room.data(), integer) : text_writing::put_real(room.data(), real);
    return {room.data(), static_cast<std::size_t>(end - room.data())};
  }
};
static_assert(sizeof(Entry) == 16);

// Most records name a path of the tree that others name, too: a path is kept once.
struct Record {
  std::uint32_t path = 0;
  std::uint32_t count = 0;  // of its own entries
};

// Some of the records, in the order of the file.
struct RecordPiece {
  std::vector<Entry> entries;  // of all of them, beside their paths
  std::vector<Record> all;
};

// MT: safe (const).
struct Records {
  Blob blob;
  std::vector<Attribute> attributes;
  std::vector<Entry> path_entries;          // of all paths, each from the root down
  std::vector<std::size_t> path_end = {0};  // in path_entries; path 0 is empty
  std::vector<RecordPiece> pieces;
  std::uint64_t count = 0;  // of the records
  Attributes globals;
  std::deque<std::string> texts;  // behind views of values that had to be unescaped
  bool old_times = false;         // times without a unit are in microseconds, not in seconds
  std::vector<Budget::Reservation> memory;

  [[nodiscard]] std::span<const Entry> path(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : path_end[number - 1];
    return {path_entries.data() + begin, path_end[number] - begin};
  }
  // take(path, own entries) of every record; ends where it says false.
  template <class Take>
  void each(Take&& take) const {
    for (const RecordPiece& piece : pieces) {
      const Entry* at = piece.entries.data();
      for (const Record& record : piece.all) {
        if (!take(record.path, std::span(at, record.count))) return;
        at += record.count;
      }
    }
  }
};

// Fills records within the budget of memory.
class RecordWriter {
 public:
  RecordWriter(const Blob& blob, const Work& work) : made(std::make_shared<Records>()), work_(work) {
    made->blob = blob;
  }
  Result<std::uint32_t> path(std::span<const Entry> entries) {
    made->path_entries.insert(made->path_entries.end(), entries.begin(), entries.end());
    made->path_end.push_back(made->path_entries.size());
    FATHOM_CHECK(make_room());
    return static_cast<std::uint32_t>(made->path_end.size() - 1);
  }
  Result<void> add(RecordPiece piece) {
    entries_ += piece.entries.size() + piece.all.size();
    made->count += piece.all.size();
    made->pieces.push_back(std::move(piece));
    return make_room();
  }

  std::shared_ptr<Records> made;

 private:
  Result<void> make_room() {
    constexpr std::size_t kStep = 1 << 16;
    while (made->path_entries.size() + entries_ > reserved_) {
      FATHOM_TRY(auto more, work_->budget.reserve(kStep * sizeof(Entry), "the records of a Caliper file"));
      made->memory.push_back(std::move(more));
      reserved_ += kStep;
    }
    return {};
  }
  Work work_;
  std::size_t entries_ = 0;  // of all pieces, records counted as such
  std::size_t reserved_ = 0;
};

// Version 2.4 made seconds the unit of durations ("1.5.dev", "2.3.0-dev" are older).
bool is_before_seconds(std::string_view version);

// The text stream (.cali): "__rec=ctx,ref=12,attr=3,data=0.5".
Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work);
// JSON in the form json-split: data, columns, column_metadata, nodes.
Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work);

}  // namespace fathom::caliper
