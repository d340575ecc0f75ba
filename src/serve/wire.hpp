// How values and names travel to the page.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/table.hpp"
#include "defs/metric.hpp"
#include "profile/value.hpp"

namespace fathom::serve {

// A browser's numbers are doubles: integers beyond 2^53 go as texts, composites as their scalar.
void write_wire(JsonWriter& json, const Value& value);
// A cell of a table: numbers, texts, true, false and null, by the same rule.
void write_wire(JsonWriter& json, const Column& column, std::size_t row);

// Names of files may be a megabyte long, and a page holds thousands of them: cut, with a mark that says so.
inline constexpr std::size_t kLongestName = 2000;
std::string shown_text(std::string_view text);
// The same as the value that comes next.
inline void write_text(JsonWriter& json, std::string_view text) {
  if (text.size() <= kLongestName) {
    json.value(text);
  } else {
    json.value(std::string_view(shown_text(text)));
  }
}

}  // namespace fathom::serve
