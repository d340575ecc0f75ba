// Clocks of different hosts: put together where messages or collectives show that they disagree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.hpp"
#include "trace/analysis/calls.hpp"

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

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

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
  if (!slopes.empty()) line.slope = median(std::move(slopes));
  // No clock is that wrong: ranks that leave a collective at very different times are taken for it.
  constexpr double kLargestDrift = 1e-3;
  if (std::abs(line.slope) > kLargestDrift) line.slope = 0;
  std::vector<double> rest;
  for (const Point& p : points) rest.push_back(p.y - line.slope * (p.x - static_cast<double>(line.origin)));
  line.offset = median(std::move(rest));
  return line;
}

struct Violations {
  std::uint64_t receives = 0;
  std::uint64_t collectives = 0;
  [[nodiscard]] std::uint64_t all() const { return receives + collectives; }
};

// Orders that cannot be, between different clocks.
Violations violations(const RunCalls& run) {
  Violations found;
  for (const LocationCalls& here : run.locations) {
    for (const Receive& half : here.receives) {
      if (!half.matched() || here.calls[half.call].exit >= half.sent) continue;
      found.receives += run.locations[half.sender].domain != here.domain ? 1 : 0;
    }
  }
  for (const Group& group : run.groups) {
    for (std::size_t k = 0; k < group.instances; ++k) {
      CallPlace last;
      bool symmetric = true;
      for (const auto& calls : group.calls) {
        if (k >= calls.size()) continue;
        symmetric = symmetric && is_symmetric(run.at(calls[k]).kind);
        if (last.call == kNone || run.at(calls[k]).entry > run.at(last).entry) last = calls[k];
      }
      if (!symmetric || last.call == kNone) continue;
      for (const auto& calls : group.calls) {
        if (k >= calls.size()) continue;
        const bool other_clock = run.locations[calls[k].location].domain != run.locations[last.location].domain;
        found.collectives += other_clock && run.at(calls[k]).exit < run.at(last).entry ? 1 : 0;
      }
    }
  }
  return found;
}

class Corrector {
 public:
  explicit Corrector(const RunCalls& run) : run_(run), corrections_(run.domains.size()) {
    for (const LocationCalls& here : run.locations) {
      if (here.calls.empty()) continue;
      reference_ = here.domain;
      break;
    }
    corrections_[reference_].known = true;
  }

  std::vector<Correction> find() {
    by_collectives();
    // Hosts without a collective in common: by messages with those that are known by now.
    for (bool more = true; more;) more = by_messages();
    return corrections_;
  }
  [[nodiscard]] std::uint32_t reference() const { return reference_; }

 private:
  void by_collectives() {
    std::vector<std::vector<Point>> points(run_.domains.size());
    for (const Group& group : run_.groups) {
      const std::size_t step = std::max<std::size_t>(1, group.instances / (2 * kMostPoints));
      for (std::size_t k = 0; k < group.instances; k += step) {
        std::map<std::uint32_t, std::vector<double>> exits;
        bool symmetric = true;
        for (const auto& calls : group.calls) {
          if (k >= calls.size()) continue;
          symmetric = symmetric && is_symmetric(run_.at(calls[k]).kind);
          exits[run_.locations[calls[k].location].domain].push_back(static_cast<double>(run_.at(calls[k]).exit));
        }
        const auto reference = exits.find(reference_);
        if (!symmetric || reference == exits.end()) continue;
        const double there = median(reference->second);
        for (const auto& [domain, list] : exits) {
          if (domain == reference_) continue;
          const double x = median(list);
          points[domain].push_back({x, there - x});
        }
      }
    }
    for (std::uint32_t d = 0; d < points.size(); ++d) {
      if (d == reference_ || points[d].empty()) continue;
      std::sort(points[d].begin(), points[d].end(), [](const Point& a, const Point& b) { return a.x < b.x; });
      corrections_[d] = robust_line(std::move(points[d]));
    }
  }

  // The quickest message in either direction takes about as long: half of their difference is the clocks'. In pieces of
  // time, because clocks drift.
  bool by_messages() {
    constexpr std::size_t kPieces = 8;
    struct Quickest {
      double to_known = INFINITY, from_known = INFINITY;
      double x = 0;
    };
    std::vector<std::vector<Quickest>> pieces(run_.domains.size(), std::vector<Quickest>(kPieces));
    const double begin = static_cast<double>(run_.t0);
    const double width = std::max(1.0, static_cast<double>(run_.runtime()) / kPieces);
    const auto piece_of = [&](std::int64_t t) {
      return static_cast<std::size_t>(std::clamp((static_cast<double>(t) - begin) / width, 0.0, kPieces - 1.0));
    };
    for (const LocationCalls& here : run_.locations) {
      for (const Receive& half : here.receives) {
        if (!half.matched()) continue;
        const LocationCalls& from = run_.locations[half.sender];
        const bool known_here = corrections_[here.domain].known;
        if (known_here == corrections_[from.domain].known) continue;
        const std::int64_t received = here.calls[half.call].exit;
        const std::int64_t sent = half.sent;
        const std::uint32_t unknown = known_here ? from.domain : here.domain;
        Quickest& quickest = pieces[unknown][piece_of(known_here ? sent : received)];
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
    bool found = false;
    for (std::uint32_t d = 0; d < pieces.size(); ++d) {
      std::vector<Point> points;
      for (const Quickest& quickest : pieces[d]) {
        if (std::isfinite(quickest.to_known) && std::isfinite(quickest.from_known)) {
          points.push_back({quickest.x, (quickest.to_known - quickest.from_known) / 2});
        }
      }
      if (corrections_[d].known || points.empty()) continue;
      corrections_[d] = robust_line(std::move(points));
      found = true;
    }
    return found;
  }

  const RunCalls& run_;
  std::vector<Correction> corrections_;
  std::uint32_t reference_ = 0;
};

}  // namespace

Result<void> correct_clocks(RunCalls& run, const Work& work) {
  const Violations before = violations(run);
  if (before.all() == 0) return {};
  Corrector corrector(run);
  const std::vector<Correction> corrections = corrector.find();
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
  set_time_base(run);
  const Violations after = violations(run);
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
