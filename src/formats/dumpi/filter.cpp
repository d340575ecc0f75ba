#include "formats/dumpi/filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/time_text.hpp"

namespace fathom::dumpi {

bool Filter::everything() const {
  return std::all_of(functions.begin(), functions.end(), [](bool keep) { return keep; }) && window.everything() &&
         keep_mask == 0xFF;
}

bool Filter::wants_rank(std::uint32_t rank) const {
  return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool Filter::wants(const Call& call, bool use_cpu) const {
  if (!functions[call.id]) return false;
  if (use_cpu ? !call.has_cpu() : !call.has_wall()) return true;
  const std::int64_t begin = use_cpu ? call.cpu_start_ns : call.wall_start_ns;
  if (begin >= window.from_ns && begin < window.to_ns) return true;
  return keep_definitions && is_notable(call.id);
}

Result<Filter> Filter::from_options(const WriteOptions& options) {
  Filter filter;
  const auto select = [&](std::string_view patterns, bool keep) -> Result<void> {
    for (const std::string_view raw : split(patterns, ',')) {
      const std::string_view pattern = trim(raw);
      bool any = false;
      for (const Function& function : dumpi::functions()) {
        if (function.id == kAllFunctions || !matches_pattern(pattern, function.name)) continue;
        filter.functions[function.id] = keep;
        any = true;
      }
      if (!any) return Error::usage(fmt::format("no DUMPI call is named '{}'", pattern));
    }
    return {};
  };
  const auto moment = [](std::string_view text) -> Result<std::int64_t> {
    const auto time = parse_time_ns(text, 1'000'000'000);
    if (!time) {
      return Error::usage(fmt::format("'{}' is no time", text))
          .hint("seconds on the trace's clock, or with a unit: 12ms");
    }
    return *time;
  };
  for (const auto& [key, value] : options.options) {
    if (key == "functions") {
      filter.functions.fill(false);
      FATHOM_CHECK(select(value, true));
    } else if (key == "without") {
      FATHOM_CHECK(select(value, false));
    } else if (key == "from") {
      FATHOM_TRY(filter.window.from_ns, moment(value));
    } else if (key == "to") {
      FATHOM_TRY(filter.window.to_ns, moment(value));
    } else if (key == "keep") {
      if (value != "definitions") return Error::usage(fmt::format("'{}' cannot be kept; 'definitions' can", value));
      filter.keep_definitions = true;
    } else if (key == "ranks") {
      for (const std::string_view text : split(value, ',')) {
        const auto dash = text.find('-');
        const auto first = parse_integer<std::uint32_t>(trim(text.substr(0, dash)));
        const auto last =
            dash == std::string_view::npos ? first : parse_integer<std::uint32_t>(trim(text.substr(dash + 1)));
        if (!first || !last || *last < *first || *last - *first > 10'000'000) {
          return Error::usage(fmt::format("'{}' is no rank or range of ranks", text));
        }
        for (std::uint32_t rank = *first; rank <= *last; ++rank) filter.ranks.push_back(rank);
      }
    } else if (key == "drop") {
      for (const std::string_view text : split(value, ',')) {
        const std::string_view what = trim(text);
        if (what == "wall") {
          filter.keep_mask &= static_cast<std::uint8_t>(~kMaskWall);
        } else if (what == "cpu") {
          filter.keep_mask &= static_cast<std::uint8_t>(~kMaskCpu);
        } else if (what == "counters") {
          filter.keep_mask &= static_cast<std::uint8_t>(~kMaskCounters);
        } else if (what == "statuses") {
          filter.keep_mask &= static_cast<std::uint8_t>(~kMaskStatus);
        } else if (what == "user-functions") {
          filter.functions[kFunctionEnter] = filter.functions[kFunctionExit] = false;
        } else {
          return Error::usage(fmt::format("cannot drop '{}'", what))
              .hint("drop takes wall, cpu, counters, statuses, user-functions");
        }
      }
    } else {
      return Error::usage(fmt::format("DUMPI knows no option '{}'", key))
          .hint("options: functions, without, from, to, keep, ranks, drop");
    }
  }
  return filter;
}

}  // namespace fathom::dumpi
