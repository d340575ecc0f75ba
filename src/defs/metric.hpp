// What was measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "defs/attributes.hpp"
#include "defs/value_type.hpp"

namespace fathom {

using MetricId = Id<struct MetricTag>;

// What a value of a context covers (design.md, "What the levels must be able to hold").
enum class Scope : std::uint8_t {
  own,        // the context itself
  exclusive,  // own and what lies below without crossing a call
  inclusive,  // the whole subtree
  named,      // something else that the format defines; `name` says what
};

struct StoredScope {
  Scope scope = Scope::exclusive;
  std::string name;  // as the format calls it: "execution", "lex_aware"; empty where it has no name for it
  friend bool operator==(const StoredScope&, const StoredScope&) = default;
};

// How the values of a derived metric come about.
enum class Derivation : std::uint8_t {
  none,           // stored
  post,           // evaluated on operands that are aggregated already: ratios stay ratios
  pre_exclusive,  // evaluated per cell, gives exclusive values, which are then aggregated
  pre_inclusive,  // the same, gives inclusive values
};

struct Metric {
  std::string name;  // unique
  std::string display_name;
  std::string unit;  // as the file spells it: sec, bytes, occ
  std::string description;
  std::string url;
  ValueType type;
  MetricId parent;                  // "part of": a parent's value already contains its children's
  std::vector<StoredScope> scopes;  // which flavours are stored; empty when nothing is
  Derivation derivation = Derivation::none;
  std::string expression;     // of derived metrics, as text
  bool hidden = false;        // for use in expressions only
  bool switched_off = false;  // declared void: counts as zero
  bool convertible = true;    // a derived one may be turned into stored values
  std::string unusable;       // why its values cannot be had (unknown data type, damaged member); empty = usable
  std::uint64_t file_id = 0;
  Attributes attributes;

  [[nodiscard]] bool derived() const { return derivation != Derivation::none; }
  [[nodiscard]] int stored_as(Scope scope) const {
    for (std::size_t i = 0; i < scopes.size(); ++i) {
      if (scopes[i].scope == scope) return static_cast<int>(i);
    }
    return -1;
  }
};

}  // namespace fathom
