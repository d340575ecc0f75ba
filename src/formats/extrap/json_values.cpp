#include "formats/extrap/json_values.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/text.hpp"

namespace fathom::extrap {

namespace od = simdjson::ondemand;

namespace {

constexpr int kDeepest = 16;  // repetition, rank, thread, ...: real files use three levels

const char* kind_name(od::json_type type) {
  switch (type) {
    case od::json_type::array:
      return "a list";
    case od::json_type::object:
      return "an object";
    case od::json_type::number:
      return "a number";
    case od::json_type::string:
      return "a text";
    case od::json_type::boolean:
      return "true or false";
    case od::json_type::null:
      return "null";
  }
  return "something else";
}

// Python writes NaN and infinities as bare words, and Extra-P reads them.
std::optional<double> not_finite(od::value& value) {
  const std::string_view token = trim(value.raw_json_token());
  if (token == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (token == "Infinity") return std::numeric_limits<double>::infinity();
  if (token == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Result<void> read_list(od::array list, ValueList& out, std::uint32_t& items, int depth) {
  if (depth > kDeepest) return Error(fmt::format("values are nested more than {} deep", kDeepest));
  const std::size_t token = out.shape.size();
  out.shape.push_back(0);
  std::uint32_t numbers = 0;
  bool nested = false;
  items = 0;
  for (auto item : list) {
    od::value value;
    if (const auto code = item.get(value)) return json_error(code);
    ++items;
    od::json_type type = od::json_type::null;
    if (value.type().get(type) == simdjson::SUCCESS && type == od::json_type::array) {
      if (!nested) out.shape.insert(out.shape.end(), numbers, kNumber);
      nested = true;
      od::array inner;
      if (const auto code = value.get_array().get(inner)) return json_error(code);
      std::uint32_t inner_items = 0;
      FATHOM_CHECK(read_list(inner, out, inner_items, depth + 1));
      continue;
    }
    double number = 0;
    if (type != od::json_type::number || value.get_double().get(number) != simdjson::SUCCESS) {
      FATHOM_TRY(number, read_number(value));
    }
    out.values.push_back(number);
    if (nested) out.shape.push_back(kNumber);
    ++numbers;
  }
  out.shape[token] = items * 2 + (nested ? 1 : 0);
  return {};
}

}  // namespace

Error json_error(simdjson::error_code code) {
  switch (code) {
    case simdjson::INCORRECT_TYPE:
      return Error("a value of another kind stands here than the format asks for");
    case simdjson::NUMBER_ERROR:
      return Error("malformed number");
    default:
      return Error(fmt::format("malformed JSON: {}", simdjson::error_message(code)));
  }
}

simdjson::error_code PieceParser::iterate(std::string_view piece, od::document& document, bool padded) {
  const std::string_view whole = blob_.text();
  if (!padded) {
    const auto end = static_cast<std::size_t>(piece.data() + piece.size() - whole.data());
    padded = end + simdjson::SIMDJSON_PADDING <= whole.size();
  }
  if (!padded) {
    copy_.assign(piece);
    copy_.append(simdjson::SIMDJSON_PADDING, '\0');
    piece = std::string_view(copy_).substr(0, piece.size());
  }
  return parser_
      .iterate(simdjson::padded_string_view(piece.data(), piece.size(), piece.size() + simdjson::SIMDJSON_PADDING))
      .get(document);
}

Result<double> read_number(od::value value) {
  od::json_type type = od::json_type::null;
  double number = 0;
  auto code = value.type().get(type);
  if (code == simdjson::SUCCESS && type == od::json_type::number) {
    code = value.get_double().get(number);
    if (code == simdjson::SUCCESS) return number;
  }
  if (code != simdjson::SUCCESS) {
    if (const auto special = not_finite(value)) return *special;
    return json_error(code);
  }
  if (type == od::json_type::string) {
    std::string_view text;
    code = value.get_string().get(text);
    if (code != simdjson::SUCCESS) return json_error(code);
    if (const auto parsed = parse_double(to_lower(trim(text)))) return *parsed;
    return Error(fmt::format("'{}' is not a number", fit(text, 40)));
  }
  return Error(fmt::format("expected a number, found {}", kind_name(type)));
}

Result<void> read_values(od::value value, ValueList& out) {
  out.clear();
  od::json_type type = od::json_type::null;
  if (value.type().get(type) != simdjson::SUCCESS || type != od::json_type::array) {
    FATHOM_TRY(const double number, read_number(value));
    out.values.push_back(number);
    out.repetitions = 1;
    return {};
  }
  od::array list;
  if (const auto code = value.get_array().get(list)) return json_error(code);
  FATHOM_CHECK(read_list(list, out, out.repetitions, 1));
  if (out.values.empty()) return Error("an empty list of values").hint("leave the point out, or give its value");
  if (out.shape.size() == 1) out.shape.clear();
  return {};
}

Result<std::string> read_string(od::value value) {
  std::string_view text;
  if (const auto code = value.get_string().get(text)) {
    if (code != simdjson::INCORRECT_TYPE) return json_error(code);
    od::json_type type;
    if (value.type().get(type) == simdjson::SUCCESS) {
      return Error(fmt::format("expected a text, found {}", kind_name(type)));
    }
    return json_error(code);
  }
  return std::string(text);
}

}  // namespace fathom::extrap
