// Folded stacks: one line per stack, frames from the root down joined with ';', then how often.
#pragma once

#include <optional>
#include <string_view>

#include "profile/profile.hpp"

namespace fathom::folded {

struct FoldedLine {
  std::string_view stack;
  std::string_view before;  // the first of two counts; empty = there is one
  std::string_view count;
};
// Nothing when the line does not end in a count.
std::optional<FoldedLine> parse_line(std::string_view line);

// A number at the end of a text, after a blank or at its start; "" when there is none.
std::string_view number_at_end(std::string_view text);

Result<ProfilePtr> read(const Blob& blob, const Work& work);

}  // namespace fathom::folded
