// Strictly valid JSON, written as it comes.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/output.hpp"

namespace fathom {

// In lines, members of the outermost object or array stand on lines of their own, and what is inside them stays on one
// line; compact has neither lines nor blanks.
enum class JsonLayout : std::uint8_t { lines, compact };

class JsonWriter {
 public:
  explicit JsonWriter(Output& out, JsonLayout layout = JsonLayout::lines)
      : out_(out), compact_(layout == JsonLayout::compact) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::nullptr_t);
  JsonWriter& value(double number);  // NaN and infinities as texts
  JsonWriter& value(Int128 number);
  template <std::same_as<bool> Bool>
  JsonWriter& value(Bool yes) {
    return raw(yes ? "true" : "false");
  }
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && sizeof(Int) <= 8)
  JsonWriter& value(Int number) {
    before_value();
    out_.write_number(number);
    return *this;
  }
  // A text that is JSON already.
  JsonWriter& raw(std::string_view json);

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& content) {
    key(name);
    return value(content);
  }

 private:
  struct Level {
    char close;
    bool empty = true;
  };
  JsonWriter& begin(char open, char close);
  JsonWriter& end();
  void before_value();

  Output& out_;
  std::vector<Level> levels_;
  bool compact_;
  bool after_key_ = false;
};

}  // namespace fathom
