#include "serve/wire.hpp"

namespace fathom::serve {

void write_wire(JsonWriter& json, const Value& value) {
  constexpr Int128 kExact = Int128{1} << 53;
  if (!value.type().is_integer()) {
    json.value(value.scalar());
  } else if (value.integer() > kExact || value.integer() < -kExact) {
    json.value(std::string_view(exact_text(value.integer())));
  } else {
    json.value(value.integer());
  }
}

}  // namespace fathom::serve
