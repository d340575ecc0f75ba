// A value inside an expression: a number, a text, or a row of numbers (one per cell that is worked out together).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::expression {

struct Datum {
  enum class Kind : std::uint8_t { number, text, row } kind = Kind::number;
  double number = 0;
  std::string text;
  std::vector<double> row;
  bool literal = false;  // a text as the expression spells it, not one that was stored in a variable

  Datum() = default;
  Datum(double value) : number(value) {}
  Datum(std::string value) : kind(Kind::text), text(std::move(value)) {}
  Datum(std::vector<double> values) : kind(Kind::row), row(std::move(values)) {}

  // A text counts as the number it starts with, or 0; one that the expression itself spells is 0, as in CubePL.
  [[nodiscard]] double as_number() const;
  [[nodiscard]] std::string as_text() const;  // of numbers and texts
};

// Number at the start of a text, 0 when there is none.
double leading_number(std::string_view text);
// A number where a text is wanted: 14 digits, as CubePL has it.
std::string number_text(double number);

// Every variable is an array; cells that were never set read as 0.
struct Array {
  std::map<std::uint32_t, Datum> cells;
  [[nodiscard]] std::size_t size() const { return cells.empty() ? 0 : cells.rbegin()->first + 1; }
};

// Variables that all metrics of a profile share, and properties that expressions set.
// MT: internally synchronised by `mutex`; evaluation that changes them runs on one thread.
struct Globals {
  std::mutex mutex;
  std::recursive_mutex initialising;  // init expressions run on one thread; they may ask for metrics that have such too
  std::unordered_map<std::string, Array> variables;
  std::map<std::pair<std::string, std::string>, std::string> properties;  // (metric, property) -> value
  std::map<const void*, std::string> initialised;                         // programs whose init ran: what went wrong
  // Some program does, some program has an init expression; fixed before the first evaluation.
  bool sets_properties = false;
  bool any_init = false;
  // How many metrics the profile had before others were added on the fly.
  std::size_t own_metrics = 0;
};

}  // namespace fathom::expression
