#include "profile/cubepl/type_names.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace fathom::cubepl {

namespace {

struct Name {
  std::string_view text;
  ValueKind kind;
};

// The first name of each kind is the one that is written. FLOAT has 64 bits, whatever it sounds like.
constexpr std::array<Name, 24> kNames = {{
    {"UINT8", ValueKind::u8},
    {"CHAR", ValueKind::u8},
    {"INT8", ValueKind::i8},
    {"UINT16", ValueKind::u16},
    {"UNSIGNED SHORT INT", ValueKind::u16},
    {"INT16", ValueKind::i16},
    {"SHORT INT", ValueKind::i16},
    {"SIGNED SHORT INT", ValueKind::i16},
    {"UINT32", ValueKind::u32},
    {"UNSIGNED INT", ValueKind::u32},
    {"INT32", ValueKind::i32},
    {"INT", ValueKind::i32},
    {"SIGNED INT", ValueKind::i32},
    {"UINT64", ValueKind::u64},
    {"UNSIGNED INTEGER", ValueKind::u64},
    {"INT64", ValueKind::i64},
    {"INTEGER", ValueKind::i64},
    {"SIGNED INTEGER", ValueKind::i64},
    {"DOUBLE", ValueKind::f64},
    {"FLOAT", ValueKind::f64},
    {"MINDOUBLE", ValueKind::min_f64},
    {"MAXDOUBLE", ValueKind::max_f64},
    {"COMPLEX", ValueKind::complex},
    {"RATE", ValueKind::rate},
}};
constexpr std::array<Name, 4> kLongNames = {{
    {"TAU_ATOMIC", ValueKind::atomic},
    {"SCALE_FUNC", ValueKind::scale_function},
    {"NDOUBLES", ValueKind::doubles},
    {"HISTOGRAM", ValueKind::histogram},
}};

// More parts than any real tuple or histogram has; keeps a typing error from asking for gigabytes per value.
constexpr std::uint32_t kMostParts = 1U << 20;

}  // namespace

std::optional<ValueType> parse_dtype(std::string_view text) {
  text = trim(text);
  for (const Name& name : kNames) {
    if (name.text == text) return ValueType{name.kind, 0};
  }
  const auto bracket = text.find('(');
  const std::string_view base = trim(text.substr(0, bracket));
  for (const Name& name : kLongNames) {
    if (name.text != base) continue;
    const bool counted = name.kind == ValueKind::doubles || name.kind == ValueKind::histogram;
    if (!counted) return bracket == std::string_view::npos ? std::optional(ValueType{name.kind, 0}) : std::nullopt;
    if (bracket == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
    const auto n = parse_integer<std::uint32_t>(trim(text.substr(bracket + 1, text.size() - bracket - 2)));
    if (!n || *n == 0 || *n > kMostParts) return std::nullopt;
    return ValueType{name.kind, *n};
  }
  return std::nullopt;
}

std::string dtype_name(ValueType type) {
  for (const Name& name : kNames) {
    if (name.kind == type.kind) return std::string(name.text);
  }
  for (const Name& name : kLongNames) {
    if (name.kind != type.kind) continue;
    return type.n > 0 ? fmt::format("{}({})", name.text, type.n) : std::string(name.text);
  }
  return "DOUBLE";
}

}  // namespace fathom::cubepl
