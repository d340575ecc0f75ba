// What Caliper writes, whatever the spelling: attributes, and records of attributes with values.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct Entry {
  std::uint32_t attribute = 0;
  std::string_view value;
};

// Most records name a path of the tree that others name, too: a path is kept once.
struct Record {
  std::uint32_t path = 0;
  std::size_t end = 0;  // of its own entries
};

// MT: safe (const).
struct Records {
  Blob blob;
  std::vector<Attribute> attributes;
  std::vector<Entry> path_entries;          // of all paths, each from the root down
  std::vector<std::size_t> path_end = {0};  // in path_entries; path 0 is empty
  std::vector<Entry> entries;               // of all records, beside their paths
  std::vector<Record> all;
  Attributes globals;
  std::deque<std::string> texts;  // behind views of values that had to be unescaped
  bool old_times = false;         // times without a unit are in microseconds, not in seconds
  std::vector<Budget::Reservation> memory;

  [[nodiscard]] std::span<const Entry> path(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : path_end[number - 1];
    return {path_entries.data() + begin, path_end[number] - begin};
  }
  [[nodiscard]] std::span<const Entry> own(std::size_t record) const {
    const std::size_t begin = record == 0 ? 0 : all[record - 1].end;
    return {entries.data() + begin, all[record].end - begin};
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
  // The entries that came since the last record are its own.
  Result<void> record(std::uint32_t path) {
    made->all.push_back({path, made->entries.size()});
    return make_room();
  }

  std::shared_ptr<Records> made;

 private:
  Result<void> make_room() {
    constexpr std::size_t kStep = 1 << 16;
    while (made->path_entries.size() + made->entries.size() + made->all.size() > reserved_) {
      FATHOM_TRY(auto more, work_->budget.reserve(kStep * sizeof(Entry), "the records of a Caliper file"));
      made->memory.push_back(std::move(more));
      reserved_ += kStep;
    }
    return {};
  }
  Work work_;
  std::size_t reserved_ = 0;
};

// The text stream (.cali): "__rec=ctx,ref=12,attr=3,data=0.5".
Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work);
// JSON in the form json-split: data, columns, column_metadata, nodes.
Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work);

}  // namespace fathom::caliper
