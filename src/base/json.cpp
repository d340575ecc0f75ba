#include "base/json.hpp"

#include "base/text.hpp"

namespace fathom {

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  const bool first = levels_.back().empty;
  levels_.back().empty = false;
  if (compact_) {
    if (!first) out_.write(',');
  } else if (levels_.size() == 1) {
    out_.write(first ? "\n  " : ",\n  ");
  } else if (!first) {
    out_.write(", ");
  }
}

JsonWriter& JsonWriter::begin(char open, char close) {
  before_value();
  out_.write(open);
  levels_.push_back({close});
  return *this;
}

JsonWriter& JsonWriter::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  const bool on_lines = levels_.empty() && !compact_;
  if (on_lines && !level.empty) out_.write('\n');
  out_.write(level.close);
  if (on_lines) out_.write('\n');
  return *this;
}

JsonWriter& JsonWriter::begin_object() { return begin('{', '}'); }
JsonWriter& JsonWriter::end_object() { return end(); }
JsonWriter& JsonWriter::begin_array() { return begin('[', ']'); }
JsonWriter& JsonWriter::end_array() { return end(); }

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  out_.write(json_quote(name));
  out_.write(compact_ ? ":" : ": ");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_.write(json);
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_quote(text)); }
JsonWriter& JsonWriter::value(std::nullptr_t) { return raw("null"); }
JsonWriter& JsonWriter::value(double number) { return raw(json_number(number)); }
JsonWriter& JsonWriter::value(Int128 number) { return raw(exact_text(number)); }

}  // namespace fathom
