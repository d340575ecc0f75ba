// Clocks of different hosts: put together where messages or collectives show that they disagree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/median.hpp"
#include "base/parallel.hpp"
#include "trace/analysis/instances.hpp"
#include "trace/analysis/team_lists.hpp"

namespace fathom::analysis {

namespace {

constexpr std::size_t kMostPoints = 150;

struct Point {
  double x;  // time on the clock that is corrected
  double y;  // what is to be added there
};

// t' = t + offset + slope * (t - origin)
struct Correction {
  double offset = 0;
  double slope = 0;
  std::int64_t origin = 0;
  bool known = false;

  [[nodiscard]] std::int64_t apply(std::int64_t t) const {
    return t + std::llround(offset + slope * static_cast<double>(t - origin));
  }
};

// The median of all slopes between two points, and of what is left: single points that are off do no harm.
Correction robust_line(std::vector<Point> points) {
  if (points.size() > kMostPoints) {
    std::vector<Point> thin;
    for (std::size_t i = 0; i < kMostPoints; ++i) thin.push_back(points[i * (points.size() - 1) / (kMostPoints - 1)]);
    points = std::move(thin);
  }
  Correction line;
  line.known = true;
  line.origin = static_cast<std::int64_t>(points[0].x);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      if (points[j].x != points[i].x) slopes.push_back((points[j].y - points[i].y) / (points[j].x - points[i].x));
    }
  }
  if (!slopes.empty()) line.slope = median_of(std::move(slopes));
  // No clock is that wrong: ranks that leave a collective at very different times are taken for it.
  constexpr double kLargestDrift = 1e-3;
  if (std::abs(line.slope) > kLargestDrift) line.slope = 0;
  std::vector<double> rest;
  for (const Point& p : points) rest.push_back(p.y - line.slope * (p.x - static_cast<double>(line.origin)));
  line.offset = median_of(std::move(rest));
  return line;
}

struct Violations {
  std::uint64_t receives = 0;
  std::uint64_t collectives = 0;
  [[nodiscard]] std::uint64_t all() const { return receives + collectives; }
};

// Orders that cannot be, between different clocks.
Result<Violations> violations(const RunCalls& run, const std::vector<GroupInstances>& instances) {
  Violations found;
  for (const LocationCalls& here : run.locations) {
    for (const Receive& half : here.receives) {
      if (!half.matched() || here.calls[half.call].exit >= half.sent) continue;
      found.receives += run.locations[half.sender].domain != here.domain ? 1 : 0;
    }
  }
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    for (const auto& calls : run.groups[g].calls) {
      for (std::size_t k = 0; k < calls.size(); ++k) {
        const Instance& instance = instances[g].instances[k];
        if (!instance.symmetric || run.at(calls[k]).exit >= instance.last_entry) continue;
        const bool other_clock =
            run.locations[calls[k].location].domain != run.locations[instance.last.location].domain;
        found.collectives += other_clock ? 1 : 0;
      }
    }
  }
  if (!run.apart()) return found;
  FATHOM_TRY(const auto all,
             team().sum({static_cast<std::int64_t>(found.receives), static_cast<std::int64_t>(found.collectives)}));
  return Violations{static_cast<std::uint64_t>(all[0]), static_cast<std::uint64_t>(all[1])};
}

// Where calls are kept apart the first process of the team puts together what all have seen, and tells them.
class Corrector {
 public:
  Corrector(const RunCalls& run, const std::vector<GroupInstances>& instances)
      : run_(run), instances_(instances), corrections_(run.domains.size()) {}

  Result<std::vector<Correction>> find() {
    FATHOM_CHECK(find_reference());
    FATHOM_CHECK(by_collectives());
    // Hosts without a collective in common: by messages with those that are known by now.
    for (std::size_t before = 0; before < known();) {
      before = known();
      FATHOM_CHECK(by_messages());
    }
    return corrections_;
  }
  [[nodiscard]] std::uint32_t reference() const { return reference_; }

 private:
  [[nodiscard]] std::size_t known() const {
    return static_cast<std::size_t>(std::count_if(corrections_.begin(), corrections_.end(),
                                                  [](const Correction& correction) { return correction.known; }));
  }

  // The clock of the first location.
  Result<void> find_reference() {
    std::vector<std::uint32_t> first;
    for (std::uint32_t l = 0; l < run_.locations.size() && first.empty(); ++l) {
      if (!run_.locations[l].calls.empty()) first.push_back(l);
    }
    if (run_.apart()) {
      FATHOM_TRY(first, lists_of_all(first));
    }
    if (!first.empty()) reference_ = run_.locations[*std::min_element(first.begin(), first.end())].domain;
    corrections_[reference_].known = true;
    return {};
  }

  Result<void> tell() {
    if (!run_.apart()) return {};
    FATHOM_TRY(const Parcel told, team().broadcast(packed(corrections_)));
    FATHOM_TRY(corrections_, unpacked<std::vector<Correction>>(told));
    return {};
  }

  // When somebody leaves a collective.
  struct Exit {
    std::uint32_t group;
    std::uint32_t instance;
    std::uint32_t domain;
    std::int64_t time;

    friend auto operator<=>(const Exit&, const Exit&) = default;
  };

  // Collectives of each group, as the member with most of them counts.
  Result<std::vector<std::size_t>> instances_of_groups() {
    std::vector<std::size_t> counts(run_.groups.size());
    for (std::size_t g = 0; g < counts.size(); ++g) counts[g] = run_.groups[g].instances;
    if (!run_.apart()) return counts;
    std::vector<std::pair<std::size_t, std::size_t>> used;
    for (std::size_t g = 0; g < counts.size(); ++g) {
      if (counts[g] > 0) used.emplace_back(g, counts[g]);
    }
    FATHOM_TRY(const auto of_all, lists_of_all(used));
    for (const auto& [g, count] : of_all) counts[g] = std::max(counts[g], count);
    return counts;
  }

  Result<void> by_collectives() {
    std::vector<Exit> exits;
    FATHOM_TRY(const auto counts, instances_of_groups());
    for (std::uint32_t g = 0; g < run_.groups.size(); ++g) {
      const auto step = static_cast<std::uint32_t>(std::max<std::size_t>(1, counts[g] / (2 * kMostPoints)));
      for (const auto& calls : run_.groups[g].calls) {
        for (std::uint32_t k = 0; k < calls.size(); k += step) {
          if (!instances_[g].instances[k].symmetric) continue;
          exits.push_back({g, k, run_.locations[calls[k].location].domain, run_.at(calls[k]).exit});
        }
      }
    }
    if (run_.apart()) {
      FATHOM_TRY(exits, lists_at_first(exits));
    }
    std::sort(exits.begin(), exits.end());
    std::vector<std::vector<Point>> points(run_.domains.size());
    for (std::size_t begin = 0; begin < exits.size();) {
      std::size_t end = begin;
      while (end < exits.size() && exits[end].group == exits[begin].group &&
             exits[end].instance == exits[begin].instance) {
        ++end;
      }
      add_points(std::span(exits).subspan(begin, end - begin), points);
      begin = end;
    }
    for (std::uint32_t d = 0; d < points.size(); ++d) {
      if (d == reference_ || points[d].empty()) continue;
      std::sort(points[d].begin(), points[d].end(), [](const Point& a, const Point& b) { return a.x < b.x; });
      corrections_[d] = robust_line(std::move(points[d]));
    }
    return tell();
  }

  // Of one instance, by clock.
  void add_points(std::span<const Exit> exits, std::vector<std::vector<Point>>& points) const {
    std::vector<std::pair<std::uint32_t, std::vector<double>>> by_domain;
    for (const Exit& exit : exits) {
      if (by_domain.empty() || by_domain.back().first != exit.domain)
        by_domain.emplace_back(exit.domain, std::vector<double>{});
      by_domain.back().second.push_back(static_cast<double>(exit.time));
    }
    const auto reference =
        std::find_if(by_domain.begin(), by_domain.end(), [&](const auto& entry) { return entry.first == reference_; });
    if (reference == by_domain.end()) return;
    const double there = median_of(reference->second);
    for (const auto& [domain, list] : by_domain) {
      if (domain == reference_) continue;
      const double x = median_of(list);
      points[domain].push_back({x, there - x});
    }
  }

  // The quickest message in either direction takes about as long: half of their difference is the clocks'. In pieces of
  // time, because clocks drift.
  struct Quickest {
    std::uint32_t domain = 0;
    std::uint32_t piece = 0;
    std::uint32_t location = 0;  // that has it from x
    double to_known = INFINITY;
    double from_known = INFINITY;
    double x = 0;
  };
  static constexpr std::uint32_t kPieces = 8;

  Result<void> by_messages() {
    std::vector<Quickest> pieces = quickest_here();
    if (run_.apart()) {
      FATHOM_TRY(pieces, lists_at_first(pieces));
    }
    // The last location's moment counts.
    std::sort(pieces.begin(), pieces.end(), [](const Quickest& a, const Quickest& b) {
      return std::tie(a.domain, a.piece, a.location) < std::tie(b.domain, b.piece, b.location);
    });
    for (std::size_t at = 0; at < pieces.size();) {
      const std::uint32_t domain = pieces[at].domain;
      std::vector<Point> points;
      while (at < pieces.size() && pieces[at].domain == domain) {
        Quickest all = pieces[at++];
        for (; at < pieces.size() && pieces[at].domain == domain && pieces[at].piece == all.piece; ++at) {
          all.to_known = std::min(all.to_known, pieces[at].to_known);
          all.from_known = std::min(all.from_known, pieces[at].from_known);
          all.x = pieces[at].x;
        }
        if (std::isfinite(all.to_known) && std::isfinite(all.from_known)) {
          points.push_back({all.x, (all.to_known - all.from_known) / 2});
        }
      }
      if (!points.empty()) corrections_[domain] = robust_line(std::move(points));
    }
    return tell();
  }

  // Of messages that are received here, by the clock that is not known and by piece.
  [[nodiscard]] std::vector<Quickest> quickest_here() const {
    std::vector<Quickest> pieces(run_.domains.size() * kPieces);
    std::vector<bool> any(pieces.size());
    const double begin = static_cast<double>(run_.t0);
    const double width = std::max(1.0, static_cast<double>(run_.runtime()) / kPieces);
    const auto piece_of = [&](std::int64_t t) {
      return static_cast<std::uint32_t>(std::clamp((static_cast<double>(t) - begin) / width, 0.0, kPieces - 1.0));
    };
    for (std::uint32_t l = 0; l < run_.locations.size(); ++l) {
      const LocationCalls& here = run_.locations[l];
      for (const Receive& half : here.receives) {
        if (!half.matched()) continue;
        const LocationCalls& from = run_.locations[half.sender];
        const bool known_here = corrections_[here.domain].known;
        if (known_here == corrections_[from.domain].known) continue;
        const std::int64_t received = here.calls[half.call].exit;
        const std::int64_t sent = half.sent;
        const std::uint32_t unknown = known_here ? from.domain : here.domain;
        const std::uint32_t piece = piece_of(known_here ? sent : received);
        any[unknown * kPieces + piece] = true;
        Quickest& quickest = pieces[unknown * kPieces + piece];
        quickest.domain = unknown;
        quickest.piece = piece;
        quickest.location = l;
        quickest.x = static_cast<double>(known_here ? sent : received);
        if (known_here) {
          quickest.to_known =
              std::min(quickest.to_known,
                       static_cast<double>(corrections_[here.domain].apply(received)) - static_cast<double>(sent));
        } else {
          quickest.from_known =
              std::min(quickest.from_known,
                       static_cast<double>(received) - static_cast<double>(corrections_[from.domain].apply(sent)));
        }
      }
    }
    std::vector<Quickest> found;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (any[i]) found.push_back(pieces[i]);
    }
    return found;
  }

  const RunCalls& run_;
  const std::vector<GroupInstances>& instances_;
  std::vector<Correction> corrections_;
  std::uint32_t reference_ = 0;
};

}  // namespace

Result<void> correct_clocks(RunCalls& run, std::vector<GroupInstances>& instances, const Work& work) {
  if (run.domains.size() < 2) return {};
  FATHOM_TRY(const Violations before, violations(run, instances));
  if (before.all() == 0) return {};
  Corrector corrector(run, instances);
  FATHOM_TRY(const std::vector<Correction> corrections, corrector.find());
  FATHOM_CHECK(parallel_for(run.locations.size(), [&](std::size_t i) -> Result<void> {
    LocationCalls& here = run.locations[i];
    const auto changes = [&](std::uint32_t domain) {
      return domain != corrector.reference() && corrections[domain].known;
    };
    for (Receive& half : here.receives) {
      if (!half.matched() || !changes(run.locations[half.sender].domain)) continue;
      half.sent = corrections[run.locations[half.sender].domain].apply(half.sent);
    }
    for (Send& half : here.sends) {
      if (!half.matched() || !changes(run.locations[half.receiver].domain)) continue;
      half.posted = corrections[run.locations[half.receiver].domain].apply(half.posted);
    }
    if (!changes(here.domain)) return {};
    const Correction& correction = corrections[here.domain];
    for (Call& call : here.calls) {
      call.entry = correction.apply(call.entry);
      call.exit = correction.apply(call.exit);
    }
    here.sum_up();
    for (Receive& half : here.receives) half.posted = correction.apply(half.posted);
    for (auto& [time, name] : here.markers) time = correction.apply(time);
    return {};
  }));
  FATHOM_CHECK(set_time_base(run));
  FATHOM_TRY(instances, find_instances(run));
  FATHOM_TRY(const Violations after, violations(run, instances));
  if (work == nullptr) return {};
  std::string hosts;
  std::size_t corrected = 0;
  constexpr std::size_t kShown = 4;
  for (std::size_t d = 0; d < corrections.size(); ++d) {
    if (d == corrector.reference() || !corrections[d].known || ++corrected > kShown) continue;
    hosts += fmt::format("{}{} by {:.6g} s and {:.3g} ppm", hosts.empty() ? "" : ", ", run.domains[d],
                         corrections[d].offset * 1e-9, corrections[d].slope * 1e6);
  }
  if (corrected > kShown) hosts += fmt::format(" and {} more", corrected - kShown);
  work->diagnostics.info(
      "analysis.clocks", Place{},
      fmt::format(
          "clocks of {} hosts disagree ({} receives before their send, {} collectives left too early): taken to "
          "that of {}: {}; {} such orders are left",
          corrections.size(), before.receives, before.collectives, run.domains[corrector.reference()],
          hosts.empty() ? "nothing to go by" : hosts, after.all()));
  return {};
}

}  // namespace fathom::analysis
