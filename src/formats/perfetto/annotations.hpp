// Arguments of events: debug annotations as names and texts.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "formats/perfetto/sequence.hpp"

namespace fathom::perfetto {

// Calls take(name, value as text) for each; interned names and texts are those of the sequence, where there is one.
void each_annotation(std::string_view message, const Sequence* sequence,
                     const std::function<void(std::string_view, const std::string&)>& take);

}  // namespace fathom::perfetto
