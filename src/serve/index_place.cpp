#include "serve/index_place.hpp"

#include <fmt/format.h>

#include <limits>

#include "io/fingerprint.hpp"

namespace fathom::serve {

summary::IndexPlace index_place(const Trace& trace, const std::filesystem::path& path, ChannelId channel,
                                const IndexOptions& options) {
  constexpr unsigned kIndexVersion = 1;
  constexpr std::uint64_t kSmallTrace = 100000;
  const std::int64_t number = channel.valid() ? static_cast<std::int64_t>(channel.index()) : -1;
  summary::IndexPlace place;
  Fingerprint print;
  print.add(
      fmt::format("{} {} {} {} {}", FATHOM_VERSION, kIndexVersion, summary::kBlock, summary::kShares, summary::kFan));
  print.add(static_cast<std::uint64_t>(number));
  print.add_files(path, summary::kIndexExtension);
  // Numbers of regions stand in the index: they must mean the same.
  for (const Region& region : trace.definitions().regions) print.add(region.name);
  print.add(trace.location_count());
  place.key = print.text();
  if (!options.always && !options.beside) place.least_transitions = kSmallTrace;
  if (options.beside) {
    std::filesystem::path beside = path;
    if (!beside.has_filename()) beside = beside.parent_path();
    beside += channel.valid() ? fmt::format(".{}", number) : std::string();
    beside += summary::kIndexExtension;
    place.file = std::move(beside);
    place.most_bytes = std::numeric_limits<std::uint64_t>::max();
  } else if (!options.directory.empty()) {
    place.file = options.directory / (place.key + summary::kIndexExtension);
  }
  return place;
}

}  // namespace fathom::serve
