// Pieces of events of the Trace Event Format as text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::chrome {

// What a JSON token says, without the quotes of a text and blanks behind it.
std::string_view plain(std::string_view token);

// The text that a token without quotes stands for; as it is where an escape is malformed.
std::string unescaped(std::string_view raw);

// Microseconds with any number of decimals as nanoseconds, rounded; nothing when it is no number or out of range. No
// double is in between: times since 1970 keep their fractions.
std::optional<std::int64_t> nanoseconds(std::string_view token);

// The members of a JSON object that begins at the front of `text`: keys without quotes, values as they stand. Ends at
// the closing bracket, or where it makes no sense any more.
void each_member(std::string_view text, const std::function<void(std::string_view key, std::string_view value)>& take);

}  // namespace fathom::chrome
