#include "formats/dumpi/bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <unordered_map>

#include "base/share_out.hpp"
#include "base/text.hpp"
#include "base/time_text.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::size_t kMaxBins = 1'000'000;

struct Anchors {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  std::int64_t init = std::numeric_limits<std::int64_t>::max();
  std::int64_t finalize = std::numeric_limits<std::int64_t>::min();
};

Result<Anchors> find_anchors(const RankSet& set, const std::vector<ScanResult>& scans) {
  const auto bytes = [&](std::size_t i) { return set.files()[i].file.size(); };
  const auto find = [&](std::size_t i, Anchors& anchors) -> Result<void> {
    const File& file = set.files()[i].file;
    const auto span = scans[i].any_wall ? exact_span(file, scans[i]) : std::nullopt;
    if (!span) return {};
    anchors.start = span->from_ns;
    anchors.end = span->to_ns;
    const auto look = [&](const Chunk& chunk) {
      for_each_call(file, chunk, [&](const Call& call) {
        if (!call.has_wall()) return true;
        if (call.id == ids::kInit || call.id == ids::kInitThread) {
          anchors.init = std::min(anchors.init, call.wall_start_ns);
        }
        if (call.id == ids::kFinalize) anchors.finalize = std::max(anchors.finalize, call.wall_stop_ns);
        return true;
      });
    };
    // Programs begin with the one and end with the other.
    look(scans[i].chunks.front());
    if (scans[i].chunks.size() > 1) look(scans[i].chunks.back());
    return {};
  };
  FATHOM_TRY(const std::vector<Anchors> found,
             share_out<Anchors>("looking for the ends", scans.size(), bytes, Holder::all, find));
  Anchors anchors;
  for (const Anchors& one : found) {
    anchors.start = std::min(anchors.start, one.start);
    anchors.end = std::max(anchors.end, one.end);
    anchors.init = std::min(anchors.init, one.init);
    anchors.finalize = std::max(anchors.finalize, one.finalize);
  }
  if (anchors.init == std::numeric_limits<std::int64_t>::max()) anchors.init = anchors.start;
  if (anchors.finalize == std::numeric_limits<std::int64_t>::min()) anchors.finalize = anchors.end;
  return anchors;
}

// [[hh:]mm:]ss[.fff]
std::optional<std::int64_t> parse_clock(std::string_view text) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t total = 0;
  const auto parts = split(trim(text), ':');
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = trim(parts[i]);
    if (part.empty() || part.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
    const auto value = parse_time_ns(part, kSecond);
    if (!value || __builtin_mul_overflow(total, std::int64_t{60}, &total) ||
        __builtin_add_overflow(total, *value, &total)) {
      return std::nullopt;
    }
  }
  constexpr std::int64_t kFarAway = 4'000'000'000 * kSecond;  // sums of two stay within 64 bits
  return total > kFarAway ? std::nullopt : std::optional(total);
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
    at = parse_clock(base);
  }
  if (!at || sign == std::string_view::npos) return at;
  const auto shift = parse_clock(text.substr(sign + 1));
  if (!shift) return std::nullopt;
  return text[sign] == '+' ? *at + *shift : *at - *shift;
}

}  // namespace

Result<Bins> parse_bins(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans) {
  FATHOM_TRY(const Anchors anchors, find_anchors(set, scans));
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
    step = parse_clock(range.substr(by + 4));
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
  std::vector<Interval> pieces;
  if (step) {
    if (static_cast<std::uint64_t>(to - from) / static_cast<std::uint64_t>(*step) >= kMaxBins) {
      return Error::usage(fmt::format("'{}' makes more than {} bins", text, kMaxBins));
    }
    for (std::int64_t at = from; at < to; at += *step) {
      pieces.push_back({at, std::min(to, at + *step), pieces.size()});
    }
  } else {
    const auto edge = [&](std::size_t n) {
      return from + static_cast<std::int64_t>(static_cast<long double>(to - from) * static_cast<long double>(n) /
                                              static_cast<long double>(equal));
    };
    for (std::size_t n = 0; n < equal; ++n) pieces.push_back({edge(n), edge(n + 1), n});
  }
  Bins bins;
  bins.ranks.push_back(std::move(pieces));
  return bins;
}

namespace {
// The text that the program gave.
std::string annotation(const std::string& label) {
  constexpr std::string_view kPrefix = "ANNOTATION: ";
  return label.starts_with(kPrefix) ? label.substr(kPrefix.size()) : label;
}
}  // namespace

const Interval* Bins::find(std::size_t file, std::int64_t time_ns) const {
  const auto& pieces = of(file);
  const auto behind = std::upper_bound(pieces.begin(), pieces.end(), time_ns,
                                       [](std::int64_t time, const Interval& piece) { return time < piece.from_ns; });
  if (behind == pieces.begin()) return nullptr;
  const Interval& piece = *(behind - 1);
  return time_ns < piece.to_ns ? &piece : nullptr;
}

Result<Bins> bins_of_marks(std::string_view text, bool gathered, const RankSet& set,
                           const std::vector<ScanResult>& scans) {
  const auto parts = split(text, '/');
  if (parts.size() != 4 || !parts[0].empty() || !parts[3].empty()) {
    return Error::usage(fmt::format("annotations must be given as /BEGIN/END/, found '{}'", text))
        .hint("BEGIN and END are regular expressions on the texts of annotations");
  }
  std::regex begin;
  std::regex end;
  try {
    begin = std::regex(std::string(parts[1]), std::regex::extended);
    end = std::regex(std::string(parts[2]), std::regex::extended);
  } catch (const std::regex_error&) {
    return Error::usage(fmt::format("'{}' holds no two regular expressions", text));
  }
  Bins bins;
  const auto bytes = [&](std::size_t i) { return set.files()[i].file.size(); };
  const auto read = [&](std::size_t i, std::vector<Interval>& pieces) -> Result<void> {
    const File& file = set.files()[i].file;
    // An address is looked at once: what its label matches.
    std::unordered_map<std::uint64_t, std::pair<bool, bool>> matches;
    for (const FunctionAddress& entry : file.sections().addresses) {
      const std::string label = annotation(entry.label);
      matches.try_emplace(entry.address, std::regex_search(label, begin), std::regex_search(label, end));
    }
    std::optional<std::int64_t> open;
    if (scans[i].per_function[kFunctionEnter] == 0) return {};
    for (const Chunk& chunk : scans[i].chunks) {
      for_each_call(file, chunk, [&](const Call& call) {
        if (call.id != kFunctionEnter || !call.has_wall()) return true;
        const auto it = matches.find(static_cast<std::uint64_t>(call.integer(0)));
        if (it == matches.end() || !(open ? it->second.second : it->second.first)) return true;
        if (!open) {
          open = call.wall_start_ns;
        } else {
          pieces.push_back({*open, call.wall_start_ns, gathered ? 0 : pieces.size()});
          open.reset();
        }
        return true;
      });
    }
    return {};
  };
  FATHOM_TRY(bins.ranks,
             share_out<std::vector<Interval>>("reading annotations", scans.size(), bytes, Holder::all, read));
  if (std::all_of(bins.ranks.begin(), bins.ranks.end(), [](const auto& pieces) { return pieces.empty(); })) {
    return Error::usage(fmt::format("no annotations match '{}'", text))
        .hint("'fathom events PATH --kind marker' lists them");
  }
  return bins;
}

}  // namespace fathom::dumpi
