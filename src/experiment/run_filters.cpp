#include "experiment/run_filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/text.hpp"
#include "experiment/builder.hpp"

namespace fathom {
namespace {

using Pair = std::pair<std::string, std::string>;  // metric, call path

bool is_below(std::string_view path, std::string_view root) {
  return path == root ||
         (path.size() > root.size() + 2 && path.starts_with(root) && path.substr(root.size(), 2) == "->");
}

// Minima and maxima need not have a value everywhere.
std::size_t locations_of(const RunAtPoint& run) {
  std::size_t most = 0;
  for (const RunValues& values : run.values) most = std::max(most, values.values.size());
  return most;
}

void add_to(std::vector<double>& sum, const std::vector<double>& values) {
  if (sum.size() < values.size()) sum.resize(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

}  // namespace

Result<void> same_locations(const std::vector<RunAtPoint>& runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const RunAtPoint& run = runs[i];
    const RunAtPoint& before = runs[i - 1];
    if (run.point != before.point || run.values.empty() || before.values.empty()) continue;
    const std::size_t count = locations_of(run);
    const std::size_t expected = locations_of(before);
    if (count == expected) continue;
    return Error(fmt::format("has {} locations, but {}, a run at the same point, has {}", count, before.name, expected),
                 Place::in(run.name))
        .hint(
            "give runs of different size different names (app.p4.r1, app.p8.r1), or add the locations up with "
            "--scaling strong");
  }
  return {};
}

void add_values(RunValues& to, const RunValues& from) {
  if (to.values.size() != from.values.size()) {
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    return;
  }
  for (std::size_t l = 0; l < to.values.size(); ++l) {
    to.values[l] = to.combine == RunValues::Combine::minimum   ? std::min(to.values[l], from.values[l])
                   : to.combine == RunValues::Combine::maximum ? std::max(to.values[l], from.values[l])
                                                               : to.values[l] + from.values[l];
  }
}

void merge_missing(std::vector<RunAtPoint>& runs, const CollectOptions& options) {
  using Coordinates = std::vector<double>;
  struct Points {
    std::set<Coordinates> all;
    std::set<Coordinates> own;  // values of the parameters that are the call path's own
  };
  std::map<Pair, Points> points;
  std::set<Coordinates> made;  // where runs were made
  for (const RunAtPoint& run : runs) {
    const auto cut = run.point.end() - static_cast<std::ptrdiff_t>(options.parameters_from.size());
    made.emplace(run.point.begin(), cut);
    for (const RunValues& v : run.values) {
      Points& at = points[{v.metric, v.callpath}];
      at.all.insert(run.point);
      at.own.emplace(cut, run.point.end());
    }
  }
  const auto complete = [&](const std::string& metric, const std::string& callpath) {
    const auto found = points.find({metric, callpath});
    return found != points.end() && found->second.all.size() == made.size() * found->second.own.size();
  };
  // The nearest call path above that occurs at every point; empty when there is none or none is needed.
  const auto heir = [&](const RunValues& v) {
    if (complete(v.metric, v.callpath)) return std::string();
    std::string above = v.callpath;
    for (std::size_t arrow = above.rfind("->"); arrow != std::string::npos; arrow = above.rfind("->")) {
      above.resize(arrow);
      if (complete(v.metric, above)) return above;
    }
    return std::string();
  };
  for (RunAtPoint& run : runs) {
    std::vector<RunValues> kept;
    std::vector<RunValues> merged;
    for (RunValues& v : run.values) {
      std::string path = heir(v);
      const bool stays = path.empty();
      if (!stays) v.callpath = std::move(path);
      (stays ? kept : merged).push_back(std::move(v));
    }
    std::map<Pair, std::size_t> at;
    for (std::size_t i = 0; i < kept.size(); ++i) at.try_emplace({kept[i].metric, kept[i].callpath}, i);
    for (RunValues& v : merged) {
      const auto [entry, added] = at.try_emplace({v.metric, v.callpath}, kept.size());
      if (added) {
        kept.push_back(std::move(v));
      } else if (!options.inclusive) {
        add_values(kept[entry->second], v);
      }
    }
    run.values = std::move(kept);
  }
}

Result<void> drop_small(std::vector<RunAtPoint>& runs, const SmallKernels& small, const CollectOptions& options) {
  std::string root = small.root;
  std::vector<std::string> metrics;
  for (const RunAtPoint& run : runs) {
    for (const RunValues& v : run.values) {
      if (root.empty()) root = v.callpath.substr(0, v.callpath.find("->"));
      if (std::find(metrics.begin(), metrics.end(), v.metric) == metrics.end()) metrics.push_back(v.metric);
    }
  }
  if (std::find(metrics.begin(), metrics.end(), small.metric) == metrics.end()) {
    return Error::usage(fmt::format("there is no metric '{}' to tell small call paths by{}", small.metric,
                                    did_you_mean(small.metric, metrics)))
        .hint(fmt::format("the runs have {}", fmt::join(metrics, ", ")));
  }
  struct AtPoint {
    std::vector<double> total;                              // of the root, one per location and run
    std::map<std::string_view, std::vector<double>> paths;  // one per location and run
  };
  std::map<std::vector<double>, AtPoint> points;
  for (const RunAtPoint& run : runs) {
    AtPoint& at = points[run.point];
    std::vector<double> total;
    for (const RunValues& v : run.values) {
      if (v.metric != small.metric) continue;
      if (options.inclusive ? v.callpath == root : is_below(v.callpath, root)) add_to(total, v.values);
      std::vector<double>& own = at.paths[v.callpath];
      if (options.scaling == Scaling::strong) {
        own.push_back(std::accumulate(v.values.begin(), v.values.end(), 0.0));
      } else {
        own.insert(own.end(), v.values.begin(), v.values.end());
      }
    }
    if (options.scaling == Scaling::strong) total = {std::accumulate(total.begin(), total.end(), 0.0)};
    at.total.insert(at.total.end(), total.begin(), total.end());
  }
  std::vector<double> scratch;
  std::set<std::string, std::less<>> seen;
  std::set<std::string, std::less<>> large;
  for (const auto& [point, at] : points) {
    const double whole = statistics_of(at.total, scratch).median;
    for (const auto& [path, values] : at.paths) {
      seen.emplace(path);
      if (!(statistics_of(values, scratch).median < small.ratio * whole)) large.emplace(path);
    }
  }
  for (RunAtPoint& run : runs) {
    std::erase_if(run.values,
                  [&](const RunValues& v) { return seen.contains(v.callpath) && !large.contains(v.callpath); });
  }
  return {};
}

}  // namespace fathom
