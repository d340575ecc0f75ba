#include "cli/time_argument.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace fathom::cli {

Result<std::optional<std::int64_t>> time_argument(const std::optional<std::string>& text) {
  if (!text) return std::optional<std::int64_t>();
  // A fraction of a nanosecond is none: a unit was forgotten.
  const bool bare = text->find_first_not_of("+-0123456789.") == std::string::npos;
  const auto time = bare && text->find('.') != std::string::npos ? std::nullopt : parse_time_ns(*text, 1);
  if (!time) {
    return Error::usage(fmt::format("'{}' is no time", *text))
        .hint("a time is a number of ns, or has a unit: 12us, 3.5ms, 1.25s");
  }
  return std::optional<std::int64_t>(*time);
}

}  // namespace fathom::cli
