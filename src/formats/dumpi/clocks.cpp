#include "formats/dumpi/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/capped_sum.hpp"
#include "base/share_out.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWorldHandle = 2;
// Ranks leave MPI_Init within milliseconds of each other; clocks of different boots are further apart.
constexpr std::int64_t kAgreement = kSecond;

// When a rank left MPI_Init on its own clock; nothing where that is not recorded.
std::optional<std::int64_t> end_of_init(const File& file, const ScanResult& scan) {
  if (scan.per_function[ids::kInit] + scan.per_function[ids::kInitThread] == 0) return std::nullopt;
  std::optional<std::int64_t> found;
  for (const Chunk& chunk : scan.chunks) {
    for_each_call(file, chunk, [&](const Call& call) {
      if (call.id != ids::kInit && call.id != ids::kInitThread) return true;
      if (call.has_wall()) found = call.wall_stop_ns;
      return false;
    });
    if (found) break;
  }
  return found;
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string host_of(const RankFile& rank) {
  const Sections& sections = rank.file.sections();
  const bool known = sections.has(Section::header) && !sections.header.host.empty();
  return known ? sections.header.host : fmt::format("rank {}", rank.rank);
}

// Ranks of one run overlap in time. Where there is a gap between them that is longer than any of them took, some have
// another clock; without MPI_Init nothing says which.
Result<void> tell_of_times_apart(const std::vector<RankFile>& files, const std::vector<ScanResult>& scans,
                                 const std::vector<std::int64_t>& shifts, std::size_t without_init, const Work& work) {
  struct Span {
    CappedSum first, last;
  };
  std::vector<Span> spans;
  std::int64_t longest = kAgreement;
  for (std::size_t i = 0; i < files.size(); ++i) {
    TimeBounds wall;
    for (const Chunk& chunk : scans[i].chunks) {
      wall.first_ns = std::min(wall.first_ns, chunk.wall.first_ns);
      wall.last_ns = std::max(wall.last_ns, chunk.wall.last_ns);
    }
    if (wall.first_ns > wall.last_ns) continue;
    CappedSum zero = files[i].file.wall_zero_ns();
    zero += shifts[i];
    spans.push_back({zero, zero});
    spans.back().first += wall.first_ns;
    spans.back().last += wall.last_ns;
    longest = std::max(longest, passed(spans.back().first, spans.back().last));
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  std::size_t together = 0;  // since the last gap
  std::size_t most = 0;
  std::int64_t end = 0;
  std::int64_t furthest = 0;
  for (const Span& span : spans) {
    if (together > 0 && passed(end, span.first) > longest) {
      furthest = std::max(furthest, passed(end, span.first));
      together = 0;
    }
    end = together == 0 ? span.last.value() : std::max(end, span.last.value());
    most = std::max(most, ++together);
  }
  if (furthest == 0) return {};
  return work->diagnostics.warn(
      "dumpi.clock_unknown", Place::in(files.front().file.name()),
      fmt::format("the calls of {} of {} ranks are up to {:.6f} s away from those of the others, and {} ranks have no "
                  "record of MPI_Init to align their clocks by: times are as stored",
                  spans.size() - most, spans.size(), static_cast<double>(furthest) / 1e9, without_init));
}

// What a file says about who wrote it.
struct Identity {
  std::optional<std::int64_t> rank;  // as MPI_Comm_rank of the world gave it
  std::uint64_t rank_offset = 0;
  std::optional<std::int64_t> size;  // of the world
};

Identity identity_of(const File& file, const ScanResult& scan) {
  Identity identity;
  if (scan.notable.empty()) return identity;
  const auto held = file.hold();
  const std::byte* const base = held->bytes().data();
  for (const std::uint64_t offset : scan.notable) {
    const auto id = detail::load<std::uint16_t>(base + offset);
    if (id == ids::kCommRank ? identity.rank.has_value() : id != ids::kCommSize || identity.size) continue;
    Call call;
    if (file.decoder().decode(base + offset, base + scan.end, call) != Decoder::Outcome::ok) break;
    if (call.integer(0) != kWorldHandle) continue;
    if (id == ids::kCommSize) {
      identity.size = call.integer(1);
    } else {
      identity.rank = call.integer(1);
      identity.rank_offset = offset;
    }
  }
  return identity;
}

}  // namespace

Result<std::vector<std::int64_t>> clock_shifts(const std::vector<RankFile>& files, const std::vector<ScanResult>& scans,
                                               const Work& work) {
  std::vector<std::int64_t> shifts(files.size(), 0);
  if (files.size() < 2) return shifts;
  using Init = std::optional<std::int64_t>;
  const auto bytes = [&](std::size_t i) { return files[i].file.size(); };
  const auto look = [&](std::size_t i, Init& end) -> Result<void> {
    if (scans[i].any_wall) end = end_of_init(files[i].file, scans[i]);
    return {};
  };
  FATHOM_TRY(const std::vector<Init> init, share_out<Init>("comparing clocks", files.size(), bytes, Holder::all, look));
  // Ranks of one host share its clock, unless they disagree themselves: names may lie.
  std::map<std::string, std::vector<std::size_t>> hosts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (init[i]) hosts[host_of(files[i])].push_back(i);
  }
  std::vector<std::vector<std::size_t>> domains;
  for (const auto& [host, members] : hosts) {
    const auto [low, high] = std::minmax_element(members.begin(), members.end(),
                                                 [&](std::size_t a, std::size_t b) { return *init[a] < *init[b]; });
    if (*init[*high] - *init[*low] < kAgreement) {
      domains.push_back(members);
    } else {
      for (const std::size_t member : members) domains.push_back({member});
    }
  }
  const auto unknown = static_cast<std::size_t>(std::count(init.begin(), init.end(), std::nullopt));
  if (domains.empty()) {
    FATHOM_CHECK(tell_of_times_apart(files, scans, shifts, unknown, work));
    return shifts;
  }
  const auto when = [&](const std::vector<std::size_t>& domain) {
    std::vector<std::int64_t> ends;
    for (const std::size_t member : domain) ends.push_back(*init[member]);
    return median(std::move(ends));
  };
  const auto reference = std::min_element(domains.begin(), domains.end(),
                                          [](const auto& a, const auto& b) { return a.front() < b.front(); });
  const std::int64_t zero = when(*reference);
  std::size_t moved = 0;
  std::int64_t furthest = 0;
  for (const auto& domain : domains) {
    const std::int64_t shift = zero - when(domain);
    if (std::abs(shift) < kAgreement) continue;
    for (const std::size_t member : domain) shifts[member] = shift;
    moved += domain.size();
    if (std::abs(shift) > std::abs(furthest)) furthest = shift;
  }
  if (moved > 0) {
    work->diagnostics.info(
        "dumpi.clocks", Place::in(files.front().file.name()),
        fmt::format("the ranks have several clocks: {} of {} ranks are moved by up to {:.6f} s, so that all leave "
                    "MPI_Init together (--clock raw shows stored times)",
                    moved, files.size(), static_cast<double>(furthest) / 1e9));
  }
  if (moved > 0 && unknown > 0) {
    FATHOM_CHECK(work->diagnostics.warn(
        "dumpi.clock_unknown", Place::in(files.front().file.name()),
        fmt::format("{} ranks have no record of MPI_Init: their clocks are taken as they are", unknown)));
  } else if (unknown > 0) {
    FATHOM_CHECK(tell_of_times_apart(files, scans, shifts, unknown, work));
  }
  return shifts;
}

Result<void> check_identities(const std::vector<RankFile>& files, const std::vector<ScanResult>& scans,
                              std::optional<std::uint32_t> expected_size, const Work& work) {
  const auto bytes = [&](std::size_t i) { return files[i].file.size(); };
  const auto look = [&](std::size_t i, Identity& identity) -> Result<void> {
    identity = identity_of(files[i].file, scans[i]);
    return {};
  };
  FATHOM_TRY(const std::vector<Identity> identities,
             share_out<Identity>("comparing ranks", files.size(), bytes, Holder::all, look));
  std::vector<std::int64_t> starts;
  std::map<std::int64_t, std::vector<std::size_t>> sizes;  // that files tell
  for (std::size_t i = 0; i < files.size(); ++i) {
    const RankFile& rank = files[i];
    const File& file = rank.file;
    const Identity& said = identities[i];
    if (said.size) sizes[*said.size].push_back(i);
    if (said.rank && *said.rank != rank.rank) {
      FATHOM_CHECK(work->diagnostics.lost(
          "dumpi.wrong_rank", file.place(said.rank_offset),
          fmt::format("the file is named as rank {}, but MPI_Comm_rank of the world gave {} in it", rank.rank,
                      *said.rank)));
    }
    if (file.sections().has(Section::header)) {
      starts.push_back(static_cast<std::int64_t>(file.sections().header.start_time));
    }
  }
  // What most files say, unless the metafile says it.
  std::int64_t usual_size = 0;
  std::size_t most = 0;
  for (const auto& [size, members] : sizes) {
    if (members.size() > most) usual_size = size;
    most = std::max(most, members.size());
  }
  if (expected_size) usual_size = *expected_size;
  for (const auto& [size, members] : sizes) {
    if (size == usual_size) continue;
    const RankFile& first = files[members.front()];
    FATHOM_CHECK(work->diagnostics.lost(
        "dumpi.wrong_size", Place::in(first.file.name()),
        fmt::format("MPI_Comm_size of the world gave {} in {} file{}, {} is expected: of another run?", size,
                    members.size(), members.size() == 1 ? "" : "s", usual_size)));
  }
  if (starts.size() < 2) return {};
  // Ranks of a run start within seconds of each other.
  constexpr std::int64_t kOneRun = 3600;
  const std::int64_t usual = median(starts);
  for (const RankFile& rank : files) {
    if (!rank.file.sections().has(Section::header)) continue;
    const auto start = static_cast<std::int64_t>(rank.file.sections().header.start_time);
    if (std::abs(start - usual) <= kOneRun) continue;
    FATHOM_CHECK(
        work->diagnostics.warn("dumpi.other_run", rank.file.place(0),
                               fmt::format("rank {} was started {} s {} the others: a file of another run?", rank.rank,
                                           std::abs(start - usual), start > usual ? "after" : "before")));
  }
  return {};
}

}  // namespace fathom::dumpi
