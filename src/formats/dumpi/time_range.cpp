#include "formats/dumpi/time_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <regex>

#include "base/text.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::size_t kMaxBins = 1'000'000;

struct Anchors {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  std::int64_t init = std::numeric_limits<std::int64_t>::max();
  std::int64_t finalize = std::numeric_limits<std::int64_t>::min();
};

// First and last chunk are enough: records are in order of time.
Anchors find_anchors(const RankSet& set, const std::vector<ScanResult>& scans) {
  Anchors anchors;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const auto look = [&](const Chunk& chunk) {
      for_each_call(set.files()[i].file, chunk, [&](const Call& call) {
        if (!call.has_wall()) return true;
        anchors.start = std::min(anchors.start, call.wall_start_ns);
        anchors.end = std::max(anchors.end, call.wall_stop_ns);
        if (call.name().starts_with("MPI_Init") && call.name() != "MPI_Initialized") {
          anchors.init = std::min(anchors.init, call.wall_start_ns);
        }
        if (call.id == ids::kFinalize) anchors.finalize = std::max(anchors.finalize, call.wall_stop_ns);
        return true;
      });
    };
    if (scans[i].chunks.empty()) continue;
    look(scans[i].chunks.front());
    if (scans[i].chunks.size() > 1) look(scans[i].chunks.back());
  }
  anchors.init =
      std::max(anchors.init == std::numeric_limits<std::int64_t>::max() ? anchors.start : anchors.init, anchors.start);
  if (anchors.finalize == std::numeric_limits<std::int64_t>::min()) anchors.finalize = anchors.end;
  return anchors;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  double total = 0;
  const auto parts = split(trim(text), ':');
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto value = parse_double(trim(part));
    if (!value || !(*value >= 0) || *value > 1e9) return std::nullopt;
    total = total * 60 + *value;
  }
  return static_cast<std::int64_t>(total * 1e9 + 0.5);
}

std::optional<std::int64_t> parse_moment(std::string_view text, const Anchors& anchors) {
  text = trim(text);
  const auto sign = text.find_first_of("+-");
  const std::string_view base = trim(text.substr(0, sign));
  std::optional<std::int64_t> at;
  if (base == "start") {
    at = anchors.start;
  } else if (base == "end") {
    at = anchors.end;
  } else if (base == "init") {
    at = anchors.init;
  } else if (base == "finalize") {
    at = anchors.finalize;
  } else {
    at = parse_time(base);
  }
  if (!at || sign == std::string_view::npos) return at;
  const auto shift = parse_time(text.substr(sign + 1));
  if (!shift) return std::nullopt;
  return text[sign] == '+' ? *at + *shift : *at - *shift;
}

}  // namespace

Result<Bins> parse_bins(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans) {
  const Anchors anchors = find_anchors(set, scans);
  if (anchors.start > anchors.end) return Error::usage("the trace has no wall times to make bins of");
  const auto bad = [&] {
    return Error::usage(fmt::format("'{}' is no range of time", text))
        .hint("bins=N, all, mpi, or 'A to B by T'; A and B: start, end, init, finalize or [[hh:]mm:]ss, +/- a time");
  };
  std::int64_t from = anchors.start;
  std::int64_t to = anchors.end;
  std::optional<std::int64_t> step;
  std::string_view range = trim(text);
  if (const auto by = range.find(" by "); by != std::string_view::npos) {
    step = parse_time(range.substr(by + 4));
    if (!step || *step <= 0) return bad();
    range = trim(range.substr(0, by));
  }
  std::size_t equal = 1;
  if (const auto number = parse_integer<std::uint32_t>(range); number && !step) {
    if (*number == 0 || *number > kMaxBins) return bad();
    equal = *number;
  } else if (range == "mpi") {
    from = anchors.init;
    to = anchors.finalize;
  } else if (range != "all") {
    const auto middle = range.find(" to ");
    if (middle == std::string_view::npos) return bad();
    const auto a = parse_moment(range.substr(0, middle), anchors);
    const auto b = parse_moment(range.substr(middle + 4), anchors);
    if (!a || !b) return bad();
    from = *a;
    to = *b;
  }
  if (to < from) return Error::usage(fmt::format("the range '{}' ends before it begins", text));
  // The last moment belongs to the last bin.
  to += 1;
  Bins bins;
  if (step) {
    if (static_cast<std::uint64_t>(to - from) / static_cast<std::uint64_t>(*step) > kMaxBins) {
      return Error::usage(fmt::format("'{}' makes more than {} bins", text, kMaxBins));
    }
    for (std::int64_t at = from; at < to; at += *step) bins.edges_ns.push_back(at);
    bins.edges_ns.push_back(to);
  } else {
    for (std::size_t n = 0; n <= equal; ++n) {
      bins.edges_ns.push_back(from +
                              static_cast<std::int64_t>(static_cast<long double>(to - from) *
                                                        static_cast<long double>(n) / static_cast<long double>(equal)));
    }
  }
  return bins;
}

Result<Bins> bins_of_marks(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans) {
  const auto parts = split(text, '/');
  if (parts.size() != 4 || !parts[0].empty() || !parts[3].empty()) {
    return Error::usage(fmt::format("mark must be /BEGIN/END/ with two regular expressions, found '{}'", text));
  }
  std::regex begin;
  std::regex end;
  try {
    begin = std::regex(std::string(parts[1]), std::regex::extended);
    end = std::regex(std::string(parts[2]), std::regex::extended);
  } catch (const std::regex_error&) {
    return Error::usage(fmt::format("'{}' holds no two regular expressions", text));
  }
  // The annotations of the first rank that has any: all ranks pass the same places.
  Bins bins;
  for (std::size_t i = 0; i < scans.size() && bins.edges_ns.empty(); ++i) {
    const Sections& sections = set.files()[i].file.sections();
    bool open = false;
    for (const Chunk& chunk : scans[i].chunks) {
      for_each_call(set.files()[i].file, chunk, [&](const Call& call) {
        if (call.id != kFunctionEnter || !call.has_wall()) return true;
        const std::string* label = sections.label(static_cast<std::uint64_t>(call.integer(0)));
        if (label == nullptr || bins.edges_ns.size() > kMaxBins) return true;
        const std::regex& wanted = open ? end : begin;
        if (!std::regex_search(*label, wanted)) return true;
        if (bins.edges_ns.empty() || call.wall_start_ns > bins.edges_ns.back()) {
          bins.edges_ns.push_back(call.wall_start_ns);
        }
        open = !open;
        return true;
      });
    }
  }
  if (bins.size() == 0) return Error::usage(fmt::format("no annotations match '{}'", text));
  return bins;
}

}  // namespace fathom::dumpi
