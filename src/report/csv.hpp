// CSV as in RFC 4180, UTF-8, '\n'.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/output.hpp"
#include "base/text.hpp"
#include "report/formula.hpp"

namespace fathom {

class CsvWriter {
 public:
  explicit CsvWriter(Output& out) : out_(out) {}

  void header(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) field(name);
    end_row();
  }
  void field(std::string_view text) {
    separate();
    if (out_.csv_safe() && looks_like_formula(text)) {
      out_.write(csv_quote("'" + std::string(text)));
    } else {
      out_.write(csv_quote(text));
    }
  }
  void field(const char* text) { field(std::string_view(text)); }
  // A text that is known to need no quotes, or is quoted already.
  void raw(std::string_view text) {
    separate();
    if (out_.csv_safe() && looks_like_formula(text.starts_with('"') ? text.substr(1) : text)) {
      const bool quoted = text.starts_with('"');
      out_.write(quoted ? "\"'" : "'");
      if (quoted) text.remove_prefix(1);
    }
    out_.write(text);
  }
  template <class Number>
    requires requires(Output& out, Number number) { out.write_number(number); }
  void field(Number number) {
    separate();
    out_.write_number(number);
  }
  void end_row() {
    out_.write('\n');
    first_ = true;
  }
  [[nodiscard]] bool closed() const { return out_.closed(); }

 private:
  void separate() {
    if (!first_) out_.write(',');
    first_ = false;
  }
  Output& out_;
  bool first_ = true;
};

}  // namespace fathom
