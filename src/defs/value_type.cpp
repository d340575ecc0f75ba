#include "defs/value_type.hpp"

#include <fmt/format.h>

#include <array>

namespace fathom {

namespace {

struct KindRow {
  const char* name;
  std::size_t fixed;  // bytes whatever n is
  std::size_t per_n;  // bytes for each of n
};

// In the order of ValueKind.
constexpr std::array<KindRow, 17> kKinds = {{
    {"u8", 1, 0},
    {"i8", 1, 0},
    {"u16", 2, 0},
    {"i16", 2, 0},
    {"u32", 4, 0},
    {"i32", 4, 0},
    {"u64", 8, 0},
    {"i64", 8, 0},
    {"f64", 8, 0},
    {"min_f64", 8, 0},
    {"max_f64", 8, 0},
    {"complex", 16, 0},
    {"rate", 16, 0},
    {"atomic", 36, 0},
    {"doubles", 0, 8},
    {"histogram", 16, 8},
    {"scale_function", kScaleFunctionSize, 0},
}};

}  // namespace

std::size_t ValueType::size() const {
  const KindRow& row = kKinds[static_cast<std::size_t>(kind)];
  return row.fixed + row.per_n * n;
}

std::string ValueType::text() const {
  const KindRow& row = kKinds[static_cast<std::size_t>(kind)];
  return row.per_n == 0 ? row.name : fmt::format("{}({})", row.name, n);
}

}  // namespace fathom
