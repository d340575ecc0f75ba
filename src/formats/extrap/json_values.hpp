// What the JSON formats share: pieces of a file given to simdjson, and numbers in nested lists.
#pragma once

#include <simdjson.h>

#include <vector>

#include "experiment/experiment.hpp"
#include "io/blob.hpp"

namespace fathom::extrap {

// Hands pieces of a blob to simdjson, which reads a little past their end: pieces near the end of the blob are copied.
class PieceParser {
 public:
  explicit PieceParser(Blob blob) : blob_(std::move(blob)) {}
  // `piece` lies inside the blob, or anywhere when it is followed by readable bytes (`padded`).
  simdjson::error_code iterate(std::string_view piece, simdjson::ondemand::document& document, bool padded = false);

 private:
  Blob blob_;
  simdjson::ondemand::parser parser_;
  std::string copy_;
};

// The values of one measurement as a file gives them.
struct ValueList {
  std::vector<double> values;
  std::vector<ShapeToken> shape;  // empty for a plain list
  std::uint32_t repetitions = 0;
  void clear() {
    values.clear();
    shape.clear();
    repetitions = 0;
  }
};

// A number, a list of numbers, or lists of lists; anything else is an error that says what was found.
Result<void> read_values(simdjson::ondemand::value value, ValueList& out);
// A number; a text that holds one is taken too. nan and inf as texts.
Result<double> read_number(simdjson::ondemand::value value);
Result<std::string> read_string(simdjson::ondemand::value value);

Error json_error(simdjson::error_code code);

}  // namespace fathom::extrap
