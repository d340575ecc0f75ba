// What Caliper writes, whatever the spelling: attributes, and records of attributes with values.
#pragma once

#include <deque>
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

// MT: safe (const).
struct Records {
  Blob blob;
  std::vector<Attribute> attributes;
  std::vector<Entry> entries;           // of all records; those of a tree from the root down
  std::vector<std::size_t> record_end;  // in entries
  std::vector<std::uint64_t> line;      // of records; empty: not known
  Attributes globals;
  std::deque<std::string> texts;  // behind views of values that had to be unescaped
  bool old_times = false;         // times without a unit are in microseconds, not in seconds
};

// The text stream (.cali): "__rec=ctx,ref=12,attr=3,data=0.5".
Result<std::shared_ptr<const Records>> read_cali(const Blob& blob, const Work& work);
// JSON in the form json-split: data, columns, column_metadata, nodes.
Result<std::shared_ptr<const Records>> read_json(const Blob& blob, const Work& work);

}  // namespace fathom::caliper
