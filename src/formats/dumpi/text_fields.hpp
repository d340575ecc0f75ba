// Arguments of calls as the text dump shows them.
#pragma once

#include <vector>

#include "fathom/dumpi.hpp"
#include "formats/dumpi/text_cursor.hpp"
#include "formats/dumpi/writer.hpp"

namespace fathom::dumpi {

// One argument as the text shows it.
struct Field {
  bool ignored = false;  // <IGNORED> or (null)
  std::int64_t number = 0;
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<std::string_view>> lists;
  std::vector<Status> statuses;
};

// Reads the argument that stands `order`th in the text of a call.
Result<void> read_field(TextCursor& in, const Function& function, std::size_t order, Field& out);

// The arguments of a call (by position) as its record holds them.
void encode_fields(const Function& function, const std::vector<Field>& fields, const Rules& rules, ByteText& bytes);

}  // namespace fathom::dumpi
