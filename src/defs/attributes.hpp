// Free key/value pairs that any definition may carry, in file order, duplicates kept.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {

using Attributes = std::vector<std::pair<std::string, std::string>>;

inline const std::string* find_attribute(const Attributes& attributes, std::string_view key) {
  for (const auto& [k, value] : attributes) {
    if (k == key) return &value;
  }
  return nullptr;
}

}  // namespace fathom
