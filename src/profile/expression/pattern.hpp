// Regular expressions as CubePL has them (ECMAScript's), searched for anywhere in a text. Bounded: a pattern that a
// file holds can neither hang the program nor eat its stack.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace fathom::expression {

// MT: safe (const).
struct Pattern;
using PatternPtr = std::shared_ptr<const Pattern>;

// `fault`: where in the text it is wrong.
Result<PatternPtr> make_pattern(std::string_view text, std::size_t* fault = nullptr);
// An error when the search takes too long.
Result<bool> search(const Pattern& pattern, std::string_view text);

}  // namespace fathom::expression
