// What part of a table is wanted. Bounds that a table does not know are refused, so that none is silently ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

struct TableBounds {
  std::optional<std::int64_t> from_ns = {};  // events and messages: not before
  std::optional<std::int64_t> to_ns = {};    // and before
  std::vector<std::string> locations = {};   // ids as the file uses them, or patterns; empty = all
  std::vector<std::string> metrics = {};     // unique names, or patterns
  std::vector<std::string> contexts = {};    // ids as the file uses them: 3, 5-10, roots, leaves, level<2
  std::string flavour = {};  // of values: "inclusive", "exclusive", or a scope of the format; "" = as stored

  [[nodiscard]] bool any() const {
    return from_ns || to_ns || !locations.empty() || !metrics.empty() || !contexts.empty() || !flavour.empty();
  }
};

}  // namespace fathom
