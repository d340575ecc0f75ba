#include "serve/wire.hpp"

#include <fmt/format.h>

namespace fathom::serve {

namespace {

void write_integer(JsonWriter& json, Int128 value) {
  constexpr Int128 kExact = Int128{1} << 53;
  if (value > kExact || value < -kExact) {
    json.value(std::string_view(exact_text(value)));
  } else {
    json.value(value);
  }
}

}  // namespace

void write_wire(JsonWriter& json, const Value& value) {
  if (value.type().is_integer()) {
    write_integer(json, value.integer());
  } else {
    json.value(value.scalar());
  }
}

void write_wire(JsonWriter& json, const Column& column, std::size_t row) {
  if (column.is_null(row)) {
    json.value(nullptr);
    return;
  }
  switch (column.type()) {
    case ColumnType::boolean:
      json.value(column.values<std::uint8_t>()[row] != 0);
      return;
    case ColumnType::int64:
      write_integer(json, column.values<std::int64_t>()[row]);
      return;
    case ColumnType::uint64:
      write_integer(json, column.values<std::uint64_t>()[row]);
      return;
    case ColumnType::int128:
      write_integer(json, column.values<Int128>()[row]);
      return;
    case ColumnType::float64:
    case ColumnType::seconds:
      json.value(column.real(row));
      return;
    case ColumnType::text:
    case ColumnType::free_text:
      write_text(json, column.text(row));
      return;
  }
}

std::string shown_text(std::string_view text) {
  if (text.size() <= kLongestName) return std::string(text);
  std::size_t cut = kLongestName;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside of a character
  return fmt::format("{}… ({} bytes)", text.substr(0, cut), text.size());
}

}  // namespace fathom::serve
