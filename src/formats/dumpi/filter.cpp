#include "formats/dumpi/filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/time_text.hpp"

namespace fathom::dumpi {

namespace {

using List = Option<std::vector<std::string>>;
constexpr List kOnly{"functions", "NAMES", "only these calls: names or patterns, separated by commas"};
constexpr List kWithout{"without", "NAMES", "all but these calls"};
constexpr Option<std::string> kFrom{"from", "TIME", "only calls that begin then or later, on the trace's clock"};
constexpr Option<std::string> kTo{"to", "TIME", "only calls that begin before"};
constexpr Option<std::string> kKeep{
    "keep", "WHAT", "with from and to: also earlier calls that make what later ones name", "definitions"};
constexpr List kRanks{"ranks", "RANKS", "only these ranks: 0,4-7"};
constexpr List kDrop{"drop", "WHAT", "leave out wall, cpu, counters, statuses or user-functions"};

}  // namespace

std::vector<const OptionDeclaration*> filter_options() {
  return {&kOnly, &kWithout, &kFrom, &kTo, &kKeep, &kRanks, &kDrop};
}

bool Filter::everything() const {
  return std::all_of(functions.begin(), functions.end(), [](bool keep) { return keep; }) && window.everything() &&
         keep_mask == 0xFF;
}

bool Filter::wants_rank(std::uint32_t rank) const {
  return ranks.empty() || std::any_of(ranks.begin(), ranks.end(), [&](const RankRange& range) {
           return rank >= range.first && rank <= range.last;
         });
}

bool Filter::wants(const Call& call, bool use_cpu) const {
  if (!functions[call.id]) return false;
  if (use_cpu ? !call.has_cpu() : !call.has_wall()) return true;
  const std::int64_t begin = use_cpu ? call.cpu_start_ns : call.wall_start_ns;
  if (begin >= window.from_ns && begin < window.to_ns) return true;
  if (!keep_definitions) return false;
  return is_notable(call.id) || (keep_clocks && (call.id == ids::kInit || call.id == ids::kInitThread));
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
    if (key == kOnly.name) {
      filter.functions.fill(false);
      FATHOM_CHECK(select(value, true));
    } else if (key == kWithout.name) {
      FATHOM_CHECK(select(value, false));
    } else if (key == kFrom.name) {
      FATHOM_TRY(filter.window.from_ns, moment(value));
    } else if (key == kTo.name) {
      FATHOM_TRY(filter.window.to_ns, moment(value));
    } else if (key == kKeep.name) {
      if (value != "definitions") return Error::usage(fmt::format("'{}' cannot be kept; 'definitions' can", value));
      filter.keep_definitions = true;
    } else if (key == kRanks.name) {
      for (const std::string_view text : split(value, ',')) {
        const auto dash = text.find('-');
        const auto first = parse_integer<std::uint32_t>(trim(text.substr(0, dash)));
        const auto last =
            dash == std::string_view::npos ? first : parse_integer<std::uint32_t>(trim(text.substr(dash + 1)));
        if (!first || !last || *last < *first) {
          return Error::usage(fmt::format("'{}' is no rank or range of ranks", text));
        }
        filter.ranks.push_back({*first, *last});
      }
    } else if (key == kDrop.name) {
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
      return find_option(filter_options(), key, "DUMPI").error();
    }
  }
  return filter;
}

}  // namespace fathom::dumpi
