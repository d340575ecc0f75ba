// What converts to what, and what is lost on the way.
#pragma once

#include <string>
#include <vector>

#include "formats/format.hpp"

namespace fathom {

struct Conversion {
  const Format* from = nullptr;
  const Format* to = nullptr;
  Level level = Level::profile;  // of what is written
  std::string_view state;        // "same": rewritten without loss; "works"; "reduced": a trace becomes a profile
  std::string loses;             // what the format has no place for; every conversion says how much it was
};

// Every pair that works, in the order of the registry.
std::vector<Conversion> all_conversions();

}  // namespace fathom
