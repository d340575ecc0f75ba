#include "formats/extrap/json_measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/pipeline.hpp"
#include "formats/extrap/json_values.hpp"
#include "io/json_scanner.hpp"

namespace fathom::extrap {
namespace {

namespace od = simdjson::ondemand;

// Enough to be worth a thread's while, few enough to keep all of them busy to the end.
constexpr std::size_t kPiece = 256 << 10;

class Reader {
 public:
  Reader(const Blob& blob, ExperimentBuilder& builder) : scanner_(blob), parser_(blob), builder_(builder) {}

  // The whole object.
  Result<void> all() {
    scanner_.expect('{');
    bool first = true;
    while (const auto raw = scanner_.next_key(first)) FATHOM_CHECK(callpath(*raw));
    return scanner_.status();
  }

  // One piece of it, which ends between two call paths, or the last with the document.
  Result<void> piece(bool is_first, bool is_last) {
    if (is_first) scanner_.expect('{');
    bool first = true;
    while (const auto raw = scanner_.next_key(first)) {
      FATHOM_CHECK(callpath(*raw));
      if (!is_last && scanner_.at_end()) return {};
    }
    FATHOM_CHECK(scanner_.status());
    if (is_last && scanner_.accept('}') && scanner_.at_end()) return {};
    return Error("a piece does not end between two call paths", scanner_.place());
  }

 private:
  Result<void> callpath(std::string_view raw_name) {
    const auto name = json_unescape(raw_name);
    if (!name) return Error("malformed name of a call path", scanner_.place());
    const auto number = builder_.callpath(*name);
    scanner_.expect('{');
    bool first_metric = true;
    while (const auto raw_metric = scanner_.next_key(first_metric)) {
      const auto metric_name = json_unescape(*raw_metric);
      if (!metric_name) return Error("malformed name of a metric", scanner_.place());
      const auto metric = builder_.metric(*metric_name);
      scanner_.expect('[');
      bool first = true;
      while (scanner_.ok() && scanner_.next_element(first)) {
        auto status = next_measurement();
        if (!scanner_.ok()) break;
        if (status) {
          builder_.add(number, metric, builder_.point(point_.values), values_.values, values_.repetitions,
                       values_.shape);
          if (!builder_.ok()) status = builder_.status();
        }
        if (!status) return std::move(status).error().with(fmt::format("metric '{}' of '{}'", *metric_name, *name));
      }
      FATHOM_CHECK(scanner_.status());
    }
    return scanner_.status();
  }

  Result<void> next_measurement() {
    if (plain_measurement()) return {};
    const std::size_t begin = scanner_.offset();
    const std::string_view object = scanner_.skip_value();
    FATHOM_CHECK(scanner_.status());
    auto status = measurement(object);
    if (!status) return std::move(status).error().where(scanner_.blob().place(begin));
    return {};
  }

  // Almost all are {"point":[numbers],"values":[numbers]}: read in one go. The parser takes the others, and says what
  // is wrong with them.
  bool plain_measurement() {
    const std::size_t begin = scanner_.offset();
    point_.clear();
    values_.clear();
    const auto key = [this](std::string_view usual, char before, std::string_view name) {
      return scanner_.accept_text(usual) || (scanner_.accept(before) && scanner_.accept_key(name));
    };
    if (key("{\"point\":", '{', "point") && scanner_.accept_numbers(point_.values) &&
        key(",\"values\":", ',', "values") && scanner_.accept_numbers(values_.values) && scanner_.accept('}')) {
      values_.repetitions = static_cast<std::uint32_t>(values_.values.size());
      return true;
    }
    scanner_.back_to(begin);
    return false;
  }

  // Any object {"point":..,"values":..}, to point_ and values_.
  Result<void> measurement(std::string_view text) {
    od::document document;
    if (const auto code = parser_.iterate(text, document)) return json_error(code);
    od::object object;
    if (const auto code = document.get_object().get(object)) return json_error(code);
    bool has_point = false;
    bool has_values = false;
    for (auto field : object) {
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return json_error(code);
      od::value value;
      if (const auto code = field.value().get(value)) return json_error(code);
      if (key == "point") {
        FATHOM_CHECK(read_values(value, point_));
        if (!point_.shape.empty()) return Error("a point must be a list of numbers");
        has_point = true;
      } else if (key == "values") {
        auto status = read_values(value, values_);
        if (!status) return std::move(status).error().with("values");
        has_values = true;
      }
    }
    if (!has_point) return Error("the key 'point' is missing");
    if (!has_values) return Error("the key 'values' is missing");
    return {};
  }

  JsonScanner scanner_;
  PieceParser parser_;
  ExperimentBuilder& builder_;
  ValueList point_;
  ValueList values_;
};

// The comma between two call paths from `at` on, if it is one: `]},"` stands nowhere else outside of texts. Inside of
// one the piece that ends there has a text without an end.
std::size_t find_cut(std::string_view text, std::size_t at) {
  const auto white = [&](std::size_t from) { return std::min(text.find_first_not_of(" \n\t\r", from), text.size()); };
  const auto has = [&](std::size_t place, char c) { return place < text.size() && text[place] == c; };
  while ((at = text.find(']', at)) != std::string_view::npos) {
    const std::size_t brace = white(++at);
    if (!has(brace, '}')) continue;
    const std::size_t comma = white(brace + 1);
    if (has(comma, ',') && has(white(comma + 1), '"')) return comma;
  }
  return text.size();
}

}  // namespace

Result<void> read_measurements(const Blob& object, ExperimentBuilder& builder) { return Reader(object, builder).all(); }

Result<void> read_measurements_in_pieces(const Blob& rest, ExperimentBuilder& builder, const Work& work) {
  struct Piece {
    Blob text;
    bool is_first = false;
    bool is_last = false;
    std::optional<ExperimentBuilder> read;
  };
  std::vector<Piece> pieces(2 * std::size_t{thread_count()} + 1);
  std::size_t begin = 0;
  const auto cut = [&](std::size_t slot) -> Result<bool> {
    const std::size_t end = find_cut(rest.text(), std::min(begin + kPiece, rest.size()));
    Piece& piece = pieces[slot];
    piece.text = rest.part(begin, end - begin);
    piece.is_first = begin == 0;
    piece.is_last = end == rest.size();
    begin = end + 1;
    return !piece.is_last;
  };
  const auto read = [&](std::size_t slot) {
    Piece& piece = pieces[slot];
    piece.read.emplace(rest.name(), work);
    return Reader(piece.text, *piece.read).piece(piece.is_first, piece.is_last);
  };
  const auto make_room = [&](const Piece& piece) {
    if (piece.is_first) builder.make_room(static_cast<double>(piece.text.size()) / static_cast<double>(rest.size()));
  };
  if (thread_count() == 1) {
    for (bool more = true; more;) {
      if (cancelled()) return cancelled_error();
      FATHOM_TRY(more, cut(0));
      FATHOM_CHECK(Reader(pieces[0].text, builder).piece(pieces[0].is_first, pieces[0].is_last));
      make_room(pieces[0]);
    }
    return {};
  }
  const auto join = [&](std::size_t slot) -> Result<bool> {
    builder.append(*std::move(pieces[slot].read));
    pieces[slot].read.reset();
    make_room(pieces[slot]);
    FATHOM_CHECK(builder.status());
    return true;
  };
  return run_pipeline(pieces.size(), cut, read, join);
}

}  // namespace fathom::extrap
