// What Caliper writes, whatever the spelling: attributes, and records of attributes with values.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

// A path is another one and what follows there: deep paths that have most in common take no more room than a tree.
struct PathStep {
  Entry entry;
  std::uint32_t above = 0;
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
  std::vector<PathStep> steps;  // step i makes path i + 1; path 0 is empty
  std::vector<RecordPiece> pieces;
  std::uint64_t count = 0;  // of the records
  Attributes globals;
  std::deque<std::string> texts;  // behind views of values that had to be unescaped
  bool old_times = false;         // times without a unit are in microseconds, not in seconds
  std::vector<Budget::Reservation> memory;

  [[nodiscard]] const PathStep& step(std::uint32_t path) const { return steps[path - 1]; }
  // take(entry) of all of a path, from the root down.
  template <class Take>
  void each_entry(std::uint32_t path, Take&& take) const {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = path; at != 0; at = step(at).above) way.push_back(at);
    for (auto at = way.rbegin(); at != way.rend(); ++at) take(step(*at).entry);
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
  Result<std::uint32_t> path(std::uint32_t above, const Entry& entry) {
    made->steps.push_back({entry, above});
    FATHOM_CHECK(make_room());
    return static_cast<std::uint32_t>(made->steps.size());
  }
  // All of a path below another one.
  Result<std::uint32_t> joined(std::uint32_t above, std::uint32_t below) {
    if (above == 0) return below;
    std::vector<std::uint32_t> missing;
    std::uint32_t at = below;
    std::uint32_t found = above;
    for (; at != 0; at = made->step(at).above) {
      if (const auto known = joined_.find(key_of(above, at)); known != joined_.end()) {
        found = known->second;
        break;
      }
      missing.push_back(at);
    }
    for (auto one = missing.rbegin(); one != missing.rend(); ++one) {
      const Entry entry = made->step(*one).entry;
      FATHOM_TRY(found, path(found, entry));
      joined_.emplace(key_of(above, *one), found);
    }
    return found;
  }
  Result<void> add(RecordPiece piece) {
    entries_ += piece.entries.size() + piece.all.size();
    made->count += piece.all.size();
    made->pieces.push_back(std::move(piece));
    return make_room();
  }

  std::shared_ptr<Records> made;

 private:
  static std::uint64_t key_of(std::uint32_t above, std::uint32_t below) { return std::uint64_t{above} << 32 | below; }
  Result<void> make_room() {
    constexpr std::size_t kStep = 1 << 16;
    constexpr std::size_t kEntriesOfStep = 4;  // with what is kept of it here and in the tree that is made of it
    while (kEntriesOfStep * made->steps.size() + entries_ > reserved_) {
      FATHOM_TRY(auto more, work_->budget.reserve(kStep * sizeof(Entry), "the records of a Caliper file"));
      made->memory.push_back(std::move(more));
      reserved_ += kStep;
    }
    return {};
  }
  Work work_;
  std::unordered_map<std::uint64_t, std::uint32_t> joined_;  // paths below others
  std::size_t entries_ = 0;                                  // of all pieces, records counted as such
  std::size_t reserved_ = 0;
};

// Version 2.4 made seconds the unit of durations ("1.5.dev", "2.3.0-dev" are older).
bool is_before_seconds(std::string_view version);

// The text stream (.cali): "__rec=ctx,ref=12,attr=3,data=0.5".
Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work);
// JSON in the form json-split: data, columns, column_metadata, nodes.
Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work);

}  // namespace fathom::caliper
