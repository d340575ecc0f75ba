#include "formats/ovni/clock_offsets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"

namespace fathom::ovni {

namespace {

constexpr std::uint64_t kLargestGapNs = 3'600'000'000'000;
constexpr double kLargestOffset = 9223372036854775808.0;  // what 64 bits hold

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r\n", at), line.size());
    result.push_back(line.substr(at, end - at));
    at = end;
  }
  return result;
}

}  // namespace

std::string host_of(std::string_view loom) { return std::string(loom.substr(0, loom.find('.'))); }

Result<std::vector<HostOffset>> read_offsets(const Blob& table) {
  std::vector<HostOffset> offsets;
  std::set<std::string> hosts;
  LineCursor lines(table);
  if (!lines.next()) return Error("the table of clock offsets is empty", table.place());
  while (const auto line = lines.next()) {
    const auto fields = words(*line);
    if (fields.empty()) continue;
    if (fields.size() != 5) {
      return Error(fmt::format("expected 5 fields (rank hostname median mean std), found {}", fields.size()),
                   lines.place());
    }
    const auto rank = parse_integer<std::int64_t>(fields[0]);
    const auto median = parse_double(fields[2]);
    const auto mean = parse_double(fields[3]);
    const auto deviation = parse_double(fields[4]);
    if (!rank || !median || !mean || !deviation || !(std::abs(*median) < kLargestOffset)) {
      return Error("expected an integer, a host name and three numbers", lines.place());
    }
    HostOffset offset{*rank, std::string(fields[1]), *median, *mean, *deviation};
    if (!hosts.insert(offset.host).second) {
      return Error(fmt::format("host '{}' is listed twice", offset.host), lines.place());
    }
    offsets.push_back(std::move(offset));
  }
  if (offsets.empty()) return Error("the table of clock offsets has no entries", table.place());
  return offsets;
}

std::string offsets_text(const std::vector<HostOffset>& offsets) {
  std::string text = fmt::format("{:<10} {:<20} {:<20} {:<20} {:<20}\n", "rank", "hostname", "offset_median",
                                 "offset_mean", "offset_std");
  for (const HostOffset& offset : offsets) {
    text += fmt::format("{:<10} {:<20} {:<20} {:<20f} {:<20f}\n", offset.rank, offset.host,
                        static_cast<std::int64_t>(offset.median), offset.mean, offset.deviation);
  }
  return text;
}

Result<std::vector<HostOffset>> offsets_from_samples(const Blob& samples) {
  struct Rank {
    std::string host;
    std::vector<std::int64_t> clocks;
    std::uint64_t line = 0;
  };
  std::map<std::int64_t, Rank> ranks;
  LineCursor lines(samples);
  while (const auto line = lines.next()) {
    const auto fields = words(*line);
    if (fields.empty() || fields[0].starts_with('#')) continue;
    const auto rank = fields.size() == 3 ? parse_integer<std::int64_t>(fields[0]) : std::nullopt;
    const auto clock = fields.size() == 3 ? parse_integer<std::int64_t>(fields[2]) : std::nullopt;
    if (!rank || !clock || *rank < 0) {
      // One line of headings is allowed, as in the table itself.
      if (lines.number() == 1 && !rank) continue;
      return Error("expected: rank hostname clock_ns", lines.place());
    }
    Rank& entry = ranks[*rank];
    if (entry.clocks.empty()) {
      entry.host = std::string(fields[1]);
      entry.line = lines.number();
    } else if (entry.host != fields[1]) {
      return Error(fmt::format("rank {} was on host '{}' before", *rank, entry.host), lines.place());
    }
    entry.clocks.push_back(*clock);
  }
  if (ranks.empty()) return Error("there are no samples", samples.place());
  const std::vector<std::int64_t>& reference = ranks.begin()->second.clocks;
  std::vector<HostOffset> offsets;
  std::set<std::string> hosts;
  for (const auto& [number, rank] : ranks) {
    if (rank.clocks.size() != reference.size()) {
      return Error(fmt::format("rank {} has {} samples, rank {} has {}", number, rank.clocks.size(),
                               ranks.begin()->first, reference.size()),
                   Place::at_line(samples.name(), rank.line));
    }
    if (!hosts.insert(rank.host).second) continue;
    std::vector<double> deltas;
    double sum = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      deltas.push_back(static_cast<double>(static_cast<__int128>(reference[i]) - rank.clocks[i]));
      sum += deltas.back();
    }
    std::sort(deltas.begin(), deltas.end());
    const auto count = static_cast<double>(deltas.size());
    HostOffset offset{number, rank.host, deltas[deltas.size() / 2], sum / count, 0};
    double squares = 0;
    for (const double delta : deltas) squares += (delta - offset.mean) * (delta - offset.mean);
    if (deltas.size() > 1) offset.deviation = std::sqrt(squares / (count - 1));
    offsets.push_back(std::move(offset));
  }
  return offsets;
}

Result<std::vector<std::int64_t>> stream_offsets(const NativeTrace& trace, const std::vector<HostOffset>& offsets,
                                                 const Place& place) {
  std::vector<std::int64_t> result(trace.streams.size(), 0);
  for (const HostOffset& offset : offsets) {
    bool found = false;
    for (std::size_t i = 0; i < trace.streams.size(); ++i) {
      if (host_of(trace.streams[i].metadata.loom.value_or("")) != offset.host) continue;
      result[i] = static_cast<std::int64_t>(offset.median);
      found = true;
    }
    if (!found) return Error(fmt::format("no loom of the trace is on host '{}'", offset.host), place);
  }
  return result;
}

Result<std::vector<std::int64_t>> own_offsets(const NativeTrace& trace, const Work&) {
  const std::filesystem::path file = trace.root / "clock-offsets.txt";
  std::error_code status;
  if (!std::filesystem::exists(file, status)) return std::vector<std::int64_t>(trace.streams.size(), 0);
  FATHOM_TRY(const Blob blob, map_file(file));
  FATHOM_TRY(const auto offsets, read_offsets(blob));
  return stream_offsets(trace, offsets, blob.place());
}

std::optional<Error> find_clock_gap(const NativeTrace& trace, const std::vector<std::int64_t>& offsets) {
  std::optional<std::int64_t> reference;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    StreamCursor cursor(trace.streams[i]);
    Event event;
    if (!cursor.next(event)) continue;
    const auto clock = static_cast<std::int64_t>(event.clock() + static_cast<std::uint64_t>(offsets[i]));
    if (!reference) reference = clock;
    const auto high = static_cast<std::uint64_t>(std::max(clock, *reference));
    const std::uint64_t gap = high - static_cast<std::uint64_t>(std::min(clock, *reference));
    if (gap > kLargestGapNs) {
      return Error::refused(fmt::format("large clock gap: stream {} begins {} s away from the first one",
                                        trace.streams[i].path, gap / 1'000'000'000),
                            place_in(trace.streams[i], event.at))
          .hint("a table of clock offsets (fathom sync) brings the clocks of several nodes together");
    }
  }
  return std::nullopt;
}

}  // namespace fathom::ovni
