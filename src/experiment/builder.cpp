#include "experiment/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/median.hpp"
#include "base/parallel.hpp"

namespace fathom {

ValueStatistics statistics_of(std::span<const double> values, std::vector<double>& scratch) {
  ValueStatistics result;
  const std::size_t count = values.size();
  if (count == 0) return result;
  const double n = static_cast<double>(count);
  // Short lists are added up from the left, long ones in halves, so that the error stays small.
  const auto sum = [](auto&& self, const double* begin, std::size_t size, const auto& figure) -> double {
    if (size > 128) return self(self, begin, size / 2, figure) + self(self, begin + size / 2, size - size / 2, figure);
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += figure(begin[i]);
    return total;
  };
  result.mean = sum(sum, values.data(), count, [](double v) { return v; }) / n;
  bool has_nan = false;
  result.minimum = result.maximum = values[0];
  for (const double v : values) {
    has_nan |= std::isnan(v);
    result.minimum = std::min(result.minimum, v);
    result.maximum = std::max(result.maximum, v);
  }
  const auto square = [mean = result.mean](double v) { return (v - mean) * (v - mean); };
  result.deviation = std::sqrt(sum(sum, values.data(), count, square) / n);
  if (has_nan) {
    result.median = result.minimum = result.maximum = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  scratch.assign(values.begin(), values.end());
  result.median = median_in_place(scratch);
  return result;
}

ExperimentBuilder::ExperimentBuilder(std::string name, Work work, Repeats repeats)
    : work_(std::move(work)), repeats_(repeats) {
  experiment_.name_ = std::move(name);
}

namespace {

// What an entry takes beside its text: nodes of hash tables, the string objects, places in lists.
constexpr std::uint64_t kPerName = 160;
constexpr std::uint64_t kPerPoint = 120;
constexpr std::uint64_t kPerSeries = 100;
constexpr std::uint64_t kPerTreeNode = 120;
// Of a finished measurement: five statistics, its repetitions, where its values begin.
constexpr std::uint64_t kPerMeasurement = 5 * 8 + 4 + 8;
constexpr std::uint64_t kSmallestReservation = 1 << 16;
constexpr std::size_t kMeasurementsPerTask = 2048;
// Call paths that need not occur at every point, to Extra-P and to validate().
constexpr const char* kIncompleteTag = "validation__ignore__num_measurements";

std::string& name_of(std::string& name) { return name; }
std::string& name_of(Named& named) { return named.name; }

template <class Item>
std::uint32_t intern(NumberTable& table, std::vector<Item>& items, std::string_view name, std::uint64_t& needed) {
  const auto next = static_cast<std::uint32_t>(items.size());
  const auto number = table.find_or_add(std::hash<std::string_view>{}(name), next,
                                        [&](std::uint32_t i) { return name_of(items[i]) == name; });
  if (number == next) {
    needed += kPerName + 2 * name.size();
    name_of(items.emplace_back()) = name;
  }
  return number;
}

}  // namespace

// Counts what is about to be used. The budget is asked in larger and larger pieces, and at its end for what is needed.
bool ExperimentBuilder::take(std::uint64_t bytes) {
  needed_ += bytes;
  if (needed_ <= reserved_) return ok();
  if (!ok()) return false;
  const std::uint64_t least = needed_ - reserved_;
  std::uint64_t size = std::max({least, kSmallestReservation, reserved_ / 8});
  auto piece = work_->budget.reserve(size, "");
  if (!piece) {
    size = least;
    piece = work_->budget.reserve(
        size, fmt::format("the experiment, of which {} measurements are read, no longer fits: the next piece",
                          records_.size()));
  }
  if (!piece) {
    exceeded_ = std::move(piece).error();
    return false;
  }
  reserved_ += size;
  experiment_.memory_.push_back(std::move(*piece));
  return true;
}

std::uint32_t ExperimentBuilder::parameter(std::string_view name) {
  return intern(parameter_names_, experiment_.parameters_, name, needed_);
}

std::uint32_t ExperimentBuilder::metric(std::string_view name) {
  return intern(metric_names_, experiment_.metrics_, name, needed_);
}

std::uint32_t ExperimentBuilder::callpath(std::string_view name) {
  return intern(callpath_names_, experiment_.callpaths_, name, needed_);
}

std::uint32_t ExperimentBuilder::point(std::span<const double> coordinates) {
  // Mostly the points of a series come in the order of the one before.
  const std::uint32_t likely = last_point_ + 1 < point_count() ? last_point_ + 1 : 0;
  if (likely < point_count() && std::ranges::equal(experiment_.point(likely), coordinates)) return last_point_ = likely;
  std::string key;
  key.resize(coordinates.size_bytes());
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const double v = coordinates[i] == 0 ? 0.0 : coordinates[i];  // -0 is 0
    std::copy_n(reinterpret_cast<const char*>(&v), sizeof v, key.data() + i * sizeof v);
  }
  const auto [entry, added] = points_.try_emplace(std::move(key), static_cast<std::uint32_t>(points_.size()));
  if (added) {
    needed_ += kPerPoint + 2 * coordinates.size_bytes();
    experiment_.coordinates_.insert(experiment_.coordinates_.end(), coordinates.begin(), coordinates.end());
    experiment_.point_begin_.push_back(experiment_.coordinates_.size());
  }
  return last_point_ = entry->second;
}

std::uint32_t ExperimentBuilder::series(std::uint32_t callpath, std::uint32_t metric) {
  const std::uint64_t pair = std::uint64_t{callpath} << 32 | metric;
  if (pair == last_pair_) return last_series_;
  auto& all = experiment_.series_;
  const auto next = static_cast<std::uint32_t>(all.size());
  last_pair_ = pair;
  last_series_ = pairs_.find_or_add(
      pair, next, [&](std::uint32_t i) { return all[i].callpath == callpath && all[i].metric == metric; });
  if (last_series_ == next) {
    needed_ += kPerSeries;
    all.push_back({callpath, metric, 0, 0});
  }
  return last_series_;
}

void ExperimentBuilder::add(std::uint32_t callpath, std::uint32_t metric, std::uint32_t point,
                            std::span<const double> values, std::uint32_t repetitions,
                            std::span<const ShapeToken> shape) {
  if (!take(sizeof(Record) + values.size_bytes() + (shape.empty() ? 0 : shape.size_bytes() + sizeof shapes_[0])))
    return;
  Record record;
  record.series = series(callpath, metric);
  record.point = point;
  record.first = values_.size();
  record.count = static_cast<std::uint32_t>(values.size());
  record.repetitions = repetitions;
  values_.append(values);
  if (!shape.empty()) {
    shapes_.emplace_back(shape.begin(), shape.end());
    record.shape = static_cast<std::uint32_t>(shapes_.size());
  }
  records_.push_back(record);
}

void ExperimentBuilder::add_statistics(std::uint32_t callpath, std::uint32_t metric, std::uint32_t point,
                                       const ValueStatistics& statistics, std::uint32_t repetitions,
                                       std::span<const double> values, std::span<const ShapeToken> shape) {
  add(callpath, metric, point, values, repetitions, shape);
  if (!take(sizeof(ValueStatistics))) return;
  statistics_.push_back(statistics);
  records_.back().statistics = static_cast<std::uint32_t>(statistics_.size());
}

void ExperimentBuilder::make_room(double share) {
  const auto room = [share](const auto& part) {
    return static_cast<std::size_t>(static_cast<double>(part.size()) / std::clamp(share, 1e-3, 1.0) * 1.05);
  };
  records_.reserve(room(records_));
  values_.reserve(room(values_));
}

void ExperimentBuilder::append(ExperimentBuilder&& next) {
  std::vector<std::uint32_t> callpaths;
  std::vector<std::uint32_t> metrics;
  std::vector<std::uint32_t> points;
  std::vector<std::uint32_t> series;
  for (const Named& c : next.experiment_.callpaths_) callpaths.push_back(callpath(c.name));
  for (const Named& m : next.experiment_.metrics_) metrics.push_back(metric(m.name));
  for (std::uint32_t p = 0; p < next.point_count(); ++p) points.push_back(point(next.coordinates(p)));
  for (const Series& s : next.experiment_.series_) {
    series.push_back(this->series(callpaths[s.callpath], metrics[s.metric]));
  }
  if (!take(next.records_.size() * sizeof(Record) + next.values_.size() * sizeof(double))) return;
  for (Record record : next.records_) {
    record.series = series[record.series];
    record.point = points[record.point];
    record.first += values_.size();
    if (record.shape != 0) record.shape += static_cast<std::uint32_t>(shapes_.size());
    if (record.statistics != 0) record.statistics += static_cast<std::uint32_t>(statistics_.size());
    records_.push_back(record);
  }
  values_.append({next.values_.data(), next.values_.size()});
  for (auto& shape : next.shapes_) {
    if (!take(shape.size() * sizeof(ShapeToken) + sizeof shape)) return;
    shapes_.push_back(std::move(shape));
  }
  if (!take(next.statistics_.size() * sizeof(ValueStatistics))) return;
  statistics_.insert(statistics_.end(), next.statistics_.begin(), next.statistics_.end());
}

// Records by series, each series in reading order; when repeats are collected, equal points of a series next to each
// other, in the order of their first appearance.
bool ExperimentBuilder::order_records() {
  const auto by_series = [](const Record& a, const Record& b) { return a.series < b.series; };
  if (!std::is_sorted(records_.begin(), records_.end(), by_series)) {
    passing_ += records_.size() * sizeof(Record);
    if (!take(records_.size() * sizeof(Record))) return false;
    std::vector<std::uint64_t> begin(experiment_.series_.size() + 1, 0);
    for (const Record& r : records_) ++begin[r.series + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    GrowingArray<Record> ordered;
    ordered.reserve(records_.size());
    ordered.append({records_.data(), records_.size()});
    for (const Record& r : records_) ordered[begin[r.series]++] = r;
    records_ = std::move(ordered);
  }
  if (repeats_ == Repeats::separate) return true;
  std::vector<std::uint32_t> rank(experiment_.point_count(), 0);
  std::vector<std::uint32_t> used;
  for (std::size_t i = 0; i < records_.size();) {
    std::size_t end = i;
    used.clear();
    bool ordered = true;
    for (; end < records_.size() && records_[end].series == records_[i].series; ++end) {
      std::uint32_t& r = rank[records_[end].point];
      if (r == 0) {
        used.push_back(records_[end].point);
        r = static_cast<std::uint32_t>(used.size());
      } else if (r != used.size()) {
        ordered = false;
      }
    }
    if (!ordered) {
      std::stable_sort(records_.begin() + i, records_.begin() + end,
                       [&](const Record& a, const Record& b) { return rank[a.point] < rank[b.point]; });
    }
    for (const std::uint32_t p : used) rank[p] = 0;
    i = end;
  }
  return true;
}

// Points in the order in which the series, one after the other, need them.
void ExperimentBuilder::number_points_by_series() {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::uint32_t> number(experiment_.point_count(), kNone);
  std::uint32_t next = 0;
  std::vector<std::uint32_t> order;
  for (Record& r : records_) {
    if (number[r.point] == kNone) {
      number[r.point] = next++;
      order.push_back(r.point);
    }
    r.point = number[r.point];
  }
  std::vector<double> coordinates;
  std::vector<std::uint64_t> begin{0};
  for (const std::uint32_t p : order) {
    const auto at = experiment_.point(p);
    coordinates.insert(coordinates.end(), at.begin(), at.end());
    begin.push_back(coordinates.size());
  }
  experiment_.coordinates_ = std::move(coordinates);
  experiment_.point_begin_ = std::move(begin);
}

Result<void> ExperimentBuilder::leave_out_incomplete(const Work& work, std::size_t own) {
  const std::size_t removed = keep_complete_series(own);
  if (removed == 0) return {};
  const std::span<const std::string> parameters = experiment_.parameters_;
  const std::string where =
      own == 0 ? "at every point"
               : fmt::format("in every run with each of their values of {}", fmt::join(parameters.last(own), " and "));
  return work->diagnostics.warn(
      "runs.incomplete_removed", Place::in(experiment_.name_),
      fmt::format("{} pairs of call path and metric do not occur {} and are left out "
                  "(--merge-missing adds them to the call path above, --allow-incomplete keeps them)",
                  removed, where));
}

// How many points each series has when it is complete: those of all runs, times its own values of the last parameters.
std::vector<std::size_t> ExperimentBuilder::points_to_have(std::size_t own) const {
  std::set<std::vector<double>> runs;
  std::vector<std::set<std::vector<double>>> values(experiment_.series_.size());
  for (const Record& r : records_) {
    const std::span<const double> point = experiment_.point(r.point);
    const auto cut = point.end() - static_cast<std::ptrdiff_t>(std::min(own, point.size()));
    runs.emplace(point.begin(), cut);
    values[r.series].emplace(cut, point.end());
  }
  std::vector<std::size_t> counts;
  for (const auto& each : values) counts.push_back(runs.size() * each.size());
  return counts;
}

// Says how many series were removed.
std::size_t ExperimentBuilder::keep_complete_series(std::size_t own) {
  std::vector<std::uint32_t> points(experiment_.series_.size(), 0);
  std::unordered_map<std::uint64_t, bool> seen;
  std::vector<bool> used(experiment_.point_count(), false);
  std::size_t all = 0;
  for (const Record& r : records_) {
    if (seen.try_emplace(std::uint64_t{r.series} << 32 | r.point, true).second) ++points[r.series];
    if (!used[r.point]) ++all;
    used[r.point] = true;
  }
  const auto let_off = [&](const Series& s, std::size_t count) {
    return count >= 2 && find_tag(experiment_.callpaths_[s.callpath].tags, kIncompleteTag);
  };
  const std::vector<std::size_t> expected =
      own == 0 ? std::vector<std::size_t>(experiment_.series_.size(), all) : points_to_have(own);
  // Lists are made anew in the order of first appearance among the series that stay.
  std::vector<Series> kept;
  std::vector<std::uint32_t> number(experiment_.series_.size(), 0xFFFFFFFF);
  std::vector<std::uint32_t> metrics(experiment_.metrics_.size(), 0xFFFFFFFF);
  std::vector<std::uint32_t> callpaths(experiment_.callpaths_.size(), 0xFFFFFFFF);
  std::vector<Named> new_metrics;
  std::vector<Named> new_callpaths;
  for (std::size_t i = 0; i < experiment_.series_.size(); ++i) {
    Series s = experiment_.series_[i];
    if (points[i] != expected[i] && !let_off(s, points[i])) continue;
    if (metrics[s.metric] == 0xFFFFFFFF) {
      metrics[s.metric] = static_cast<std::uint32_t>(new_metrics.size());
      new_metrics.push_back(std::move(experiment_.metrics_[s.metric]));
    }
    if (callpaths[s.callpath] == 0xFFFFFFFF) {
      callpaths[s.callpath] = static_cast<std::uint32_t>(new_callpaths.size());
      new_callpaths.push_back(std::move(experiment_.callpaths_[s.callpath]));
    }
    number[i] = static_cast<std::uint32_t>(kept.size());
    s.metric = metrics[s.metric];
    s.callpath = callpaths[s.callpath];
    if (Tags& tags = new_callpaths[s.callpath].tags; points[i] != all && find_tag(tags, kIncompleteTag) == nullptr) {
      tags.emplace_back(kIncompleteTag, "true");
    }
    kept.push_back(s);
  }
  records_.resize_down(static_cast<std::size_t>(std::remove_if(records_.begin(), records_.end(),
                                                               [&](Record& r) {
                                                                 r.series = number[r.series];
                                                                 return r.series == 0xFFFFFFFF;
                                                               }) -
                                                records_.begin()));
  const std::size_t removed = experiment_.series_.size() - kept.size();
  experiment_.series_ = std::move(kept);
  experiment_.metrics_ = std::move(new_metrics);
  experiment_.callpaths_ = std::move(new_callpaths);
  metric_names_ = {};
  callpath_names_ = {};
  pairs_ = {};
  last_pair_ = ~std::uint64_t{0};
  return removed;
}

// Fills the flat arrays; records that belong to one measurement become one.
Result<void> ExperimentBuilder::place_measurements() {
  Experiment& e = experiment_;
  e.value_begin_.push_back(0);
  bool in_place = true;  // the values lie one record after the other already
  std::uint64_t expected = 0;
  for (const Record& r : records_) {
    in_place &= r.first == expected;
    expected = r.first + r.count;
  }
  GrowingArray<double> values;
  if (!in_place) {
    passing_ += values_.size() * sizeof(double);
    if (!take(values_.size() * sizeof(double))) return exceeded_;
    values.reserve(values_.size());
  }
  std::uint32_t series = 0xFFFFFFFF;
  std::vector<std::uint32_t> given(statistics_.empty() ? 0 : records_.size(), 0);  // as in Record, per measurement
  e.repetitions_.reserve(records_.size());
  e.value_begin_.reserve(records_.size() + 1);
  for (std::size_t i = 0; i < records_.size();) {
    const Record& first = records_[i];
    std::size_t end = i + 1;
    if (repeats_ == Repeats::collect) {
      while (end < records_.size() && records_[end].series == first.series && records_[end].point == first.point) ++end;
    }
    const std::uint64_t measurement = e.repetitions_.size();
    if (first.series != series) {
      series = first.series;
      e.series_[series].first = measurement;
    }
    const std::size_t begin = in_place ? first.first : values.size();
    std::uint32_t repetitions = 0;
    std::size_t count = 0;
    bool nested = false;
    for (std::size_t r = i; r < end; ++r) {
      nested |= records_[r].shape != 0;
      repetitions += records_[r].repetitions;
      count += records_[r].count;
      if (!in_place) {
        values.append({values_.data() + records_[r].first, records_[r].count});
      }
    }
    if (!given.empty()) given[measurement] = first.statistics;
    e.repetitions_.push_back(repetitions);
    e.value_begin_.push_back(begin + count);
    if (nested) {
      e.shape_of_.emplace_back(measurement, e.shapes_.size());
      if (end - i == 1) {
        e.shapes_.insert(e.shapes_.end(), shapes_[first.shape - 1].begin(), shapes_[first.shape - 1].end());
      } else {
        // The outermost lists are joined: each record's items become items of one list.
        e.shapes_.push_back(repetitions * 2 + 1);
        for (std::size_t r = i; r < end; ++r) {
          if (records_[r].shape == 0) {
            e.shapes_.insert(e.shapes_.end(), records_[r].count, kNumber);
            continue;
          }
          const auto& shape = shapes_[records_[r].shape - 1];
          if (shape[0] % 2 == 0) {
            e.shapes_.insert(e.shapes_.end(), shape[0] / 2, kNumber);
          } else {
            e.shapes_.insert(e.shapes_.end(), shape.begin() + 1, shape.end());
          }
        }
      }
    }
    i = end;
  }
  e.values_ = in_place ? std::move(values_) : std::move(values);
  const std::size_t count = e.repetitions_.size();
  for (auto* figure : {&e.mean_, &e.median_, &e.minimum_, &e.maximum_, &e.deviation_}) figure->resize(count);
  return parallel_blocks(count, kMeasurementsPerTask, [&](std::size_t begin, std::size_t end) -> Result<void> {
    std::vector<double> scratch;
    for (std::size_t m = begin; m < end; ++m) {
      const std::uint32_t known = given.empty() ? 0 : given[m];
      const ValueStatistics s = known != 0 ? statistics_[known - 1] : statistics_of(e.values(m), scratch);
      e.mean_[m] = s.mean;
      e.median_[m] = s.median;
      e.minimum_[m] = s.minimum;
      e.maximum_[m] = s.maximum;
      e.deviation_[m] = s.deviation;
    }
    return {};
  });
}

void ExperimentBuilder::find_point_sets() {
  Experiment& e = experiment_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> points;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < records_.size();) {
    const std::uint32_t series = records_[i].series;
    points.clear();
    for (; i < records_.size() && records_[i].series == series; ++i) {
      const bool repeat = repeats_ == Repeats::collect && !points.empty() && points.back() == records_[i].point;
      if (!repeat) points.push_back(records_[i].point);
    }
    if (last < e.point_sets_.size() && e.point_sets_[last] == points) {
      e.series_[series].point_set = last;
      continue;
    }
    const auto [entry, added] = known.try_emplace(points, static_cast<std::uint32_t>(e.point_sets_.size()));
    if (added) e.point_sets_.push_back(points);
    last = e.series_[series].point_set = entry->second;
  }
  for (std::size_t i = 0; i < e.series_.size(); ++i) {
    const Series& s = e.series_[i];
    e.by_pair_.emplace_back(std::uint64_t{s.callpath} << 32 | s.metric, static_cast<std::uint32_t>(i));
  }
  std::sort(e.by_pair_.begin(), e.by_pair_.end());
}

// Level by level: all names of the first level over all call paths, then the second, ...; so children stand in the
// order in which their level meets them.
void ExperimentBuilder::build_call_tree() {
  constexpr std::string_view kSeparator = "->";
  CallTree& tree = experiment_.call_tree_;
  tree.nodes.emplace_back();
  struct Walk {
    std::uint32_t callpath;
    std::uint32_t node;
    std::size_t at;
  };
  std::vector<Walk> walks;
  for (std::size_t i = 0; i < experiment_.callpaths_.size(); ++i)
    walks.push_back({static_cast<std::uint32_t>(i), 0, 0});
  NumberTable nodes;
  while (!walks.empty()) {
    std::vector<Walk> next;
    for (const Walk& walk : walks) {
      const std::string_view path = experiment_.callpaths_[walk.callpath].name;
      const auto end = path.find(kSeparator, walk.at);
      const std::string_view name = path.substr(walk.at, end == std::string_view::npos ? end : end - walk.at);
      const auto next_node = static_cast<std::uint32_t>(tree.nodes.size());
      const std::uint32_t node = nodes.find_or_add(
          std::hash<std::string_view>{}(name) + walk.node, next_node,
          [&](std::uint32_t i) { return tree.nodes[i].parent == walk.node && tree.nodes[i].name == name; });
      if (node == next_node) {
        tree.nodes.push_back({name, walk.node, CallTree::kNone, tree.nodes[walk.node].depth + 1, {}});
        tree.nodes[walk.node].children.push_back(node);
      }
      if (end == std::string_view::npos) {
        if (tree.nodes[node].callpath == CallTree::kNone) tree.nodes[node].callpath = walk.callpath;
      } else {
        next.push_back({walk.callpath, node, end + kSeparator.size()});
      }
    }
    walks = std::move(next);
  }
}

Result<std::shared_ptr<Experiment>> ExperimentBuilder::finish() && {
  if (!take(records_.size() * kPerMeasurement + experiment_.callpaths_.size() * kPerTreeNode)) return exceeded_.error();
  if (!order_records()) return exceeded_.error();
  if (repeats_ == Repeats::collect && !keep_points_) number_points_by_series();
  find_point_sets();
  FATHOM_CHECK(place_measurements());
  // What was needed on the way only is given back before the tree is made.
  const std::uint64_t spent = records_.size() * sizeof(Record) + passing_;
  records_ = {};
  values_ = {};
  statistics_ = {};
  shapes_ = {};
  points_ = {};
  pairs_ = {};
  parameter_names_ = metric_names_ = callpath_names_ = {};
  // The tree's names point into the call paths' texts, so these must be in their final place first.
  auto done = std::make_shared<Experiment>(std::move(experiment_));
  experiment_ = Experiment();
  std::swap(experiment_.callpaths_, done->callpaths_);
  build_call_tree();
  std::swap(experiment_.callpaths_, done->callpaths_);
  done->call_tree_ = std::move(experiment_.call_tree_);
  done->memory_.clear();
  FATHOM_TRY(auto kept, work_->budget.reserve(reserved_ - std::min(reserved_, spent), "the experiment"));
  done->memory_.push_back(std::move(kept));
  return done;
}

}  // namespace fathom
