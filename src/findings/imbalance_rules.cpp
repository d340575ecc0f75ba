// Locations that spend different times in the same call path.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "findings/profile_rules.hpp"
#include "profile/algebra/idle_threads.hpp"

namespace fathom {

namespace {

constexpr double kImbalance = 0.02;  // of all time, to be told
constexpr double kCovered = 0.80;    // of a call path's imbalance, by one below it

struct Spread {
  double highest = 0;
  double sum = 0;
  std::size_t executing = 0;
  [[nodiscard]] double lost() const { return highest * static_cast<double>(executing) - sum; }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(executing); }
};

// Where one thread of a team works alone the others are idle, which is another finding.
std::vector<bool> alone(const Definitions& defs) {
  std::vector<bool> out(defs.contexts.size());
  if (algebra::thread_teams(defs.system).empty()) return out;
  const std::vector<algebra::Parallelism> where = algebra::parallelism(defs);
  for (std::size_t c = 0; c < where.size(); ++c) out[c] = where[c] == algebra::Parallelism::serial;
  return out;
}

// Times of contexts with all they call, but for the library and serial parts: rows of contexts.
std::vector<double> own_work(const ProfileRules& rules, const std::vector<bool>& serial, const Cells& cells) {
  const std::size_t width = cells.columns();
  std::vector<double> out(rules.defs.contexts.size() * width);
  for (std::size_t c = rules.defs.contexts.size(); c-- > 0;) {
    const Context& context = rules.defs.contexts[ContextId(c)];
    if (context.region.valid() && rules.is_library(context.region)) continue;
    for (std::size_t l = 0; l < width; ++l) {
      if (!serial[c]) out[c * width + l] += cells.scalar(c, l);
      if (context.parent.valid()) out[context.parent.index() * width + l] += out[c * width + l];
    }
  }
  return out;
}

}  // namespace

// Contexts in which locations spend different times. Waiting in calls is the consequence of it and not counted.
Result<void> find_imbalances(ProfileRules& rules) {
  const auto locations = static_cast<std::uint32_t>(rules.defs.system.location_count());
  const std::size_t contexts = rules.defs.contexts.size();
  if (locations < 2 || contexts == 0) return {};
  std::vector<Spread> spread(contexts);
  const std::vector<bool> serial = alone(rules.defs);
  FATHOM_CHECK(each_part(*rules.profile, rules.time, [&](std::uint32_t, const Cells& cells) {
    const std::vector<double> values = own_work(rules, serial, cells);
    const std::size_t count = cells.columns();
    for (std::size_t c = 0; c < contexts; ++c) {
      for (std::size_t l = 0; l < count; ++l) {
        const double value = values[c * count + l];
        if (!(value > 0)) continue;
        ++spread[c].executing;
        spread[c].sum += value;
        spread[c].highest = std::max(spread[c].highest, value);
      }
    }
  }));
  // The innermost context that has most of it is named: parents come before their children.
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < contexts; ++c) {
    if (spread[c].executing < 2 || spread[c].lost() < kImbalance * rules.total) continue;
    bool below_has_it = false;
    for (std::size_t d = c + 1; d < rules.defs.contexts[ContextId(c)].end && !below_has_it; ++d) {
      below_has_it = spread[d].executing >= 2 && spread[d].lost() >= kCovered * spread[c].lost();
    }
    if (!below_has_it) found.push_back(c);
  }
  std::vector<std::vector<double>> excess(found.size(), std::vector<double>(locations));
  if (!found.empty()) {
    FATHOM_CHECK(each_part(*rules.profile, rules.time, [&](std::uint32_t begin, const Cells& cells) {
      const std::vector<double> values = own_work(rules, serial, cells);
      const std::size_t count = cells.columns();
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::size_t l = 0; l < count; ++l) {
          excess[i][begin + l] = std::max(0.0, values[found[i] * count + l] - 1.02 * spread[found[i]].mean());
        }
      }
    }));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ContextId context(found[i]);
    const Spread& one = spread[found[i]];
    Finding& finding = rules.add("imbalance", one.lost());
    // Locations that ran shorter than others have no part in the total while they waited.
    finding.severity = one.lost() / std::max(rules.total, one.highest * static_cast<double>(one.executing));
    finding.level = level_of(finding.severity);
    const std::string& name = rules.defs.region_of(context).name;
    finding.where.region = name;
    finding.where.callpath = rules.defs.path(context);
    finding.where.activity = "compute";
    finding.culprits = rules.largest(excess[i]);
    const double over = one.highest / one.mean();
    finding.add_evidence("max_over_mean", over);
    finding.add_evidence("locations", std::uint64_t{one.executing});
    finding.text = fmt::format(
        "{} takes {} longer than on average on the slowest of {} locations: as far as others wait for "
        "it, {} is lost.",
        shorten_name(name, 60), percent_text(over - 1), one.executing, rules.lost_text(finding));
    finding.advice = fmt::format("Give {} less to do here, the others more.", ranks_text(finding.culprits));
    rules.uneven.push_back(name);
  }
  return {};
}

}  // namespace fathom
