#pragma once

#include <cstddef>
#include <string_view>

namespace fathom {

// Length of the valid UTF-8 sequence at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace fathom
