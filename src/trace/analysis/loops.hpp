// What a location does again and again: the period in the sequence of its calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace fathom::analysis {

// The smallest period of at most a quarter of the tokens, such that at least 97 % of them equal the one that many
// later.
std::uint32_t find_period(std::span<const std::uint32_t> tokens);

// Where the first whole turn begins that is followed by an equal one; nothing = there is none.
std::optional<std::size_t> first_turn(std::span<const std::uint32_t> tokens, std::uint32_t period);

}  // namespace fathom::analysis
