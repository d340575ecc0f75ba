// Level 3: measurements over (parameter point, call path, metric).
//
// Everything that is per measurement lies in flat arrays, ordered by series and inside a series by reading order, so
// that a fit walks them without indirection. A series is one (call path, metric) pair; series that were measured at the
// same points in the same order share a point set and can be modelled together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/work.hpp"
#include "experiment/growing_array.hpp"

namespace fathom {

enum class Scaling : std::uint8_t { none, weak, weak_threaded, strong };
std::string_view to_string(Scaling scaling);  // "" for none

// Which figure of a measurement is modelled.
enum class Measure : std::uint8_t { mean, median, minimum, maximum };
std::string_view to_string(Measure measure);

// Free properties of a call path or metric: key and the value as JSON text.
using Tags = std::vector<std::pair<std::string, std::string>>;
const std::string* find_tag(const Tags& tags, std::string_view key);

struct Named {
  std::string name;
  Tags tags;
};

// One (call path, metric) pair and where its measurements lie.
struct Series {
  std::uint32_t callpath = 0;
  std::uint32_t metric = 0;
  std::uint32_t point_set = 0;
  std::uint64_t first = 0;  // of its measurements in the flat arrays; their number is that of the point set
};

// The call tree made from the call path names, split at "->". Node 0 is the root and has no name. A node that is only
// a prefix of others has no call path.
struct CallTree {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Node {
    std::string_view name;  // into the experiment's call path names
    std::uint32_t parent = kNone;
    std::uint32_t callpath = kNone;
    std::uint32_t depth = 0;
    std::vector<std::uint32_t> children;
  };
  std::vector<Node> nodes;
};

// The nesting of a measurement's values: lists in pre-order. An even token 2n is a list of n numbers, an odd token
// 2n+1 a list of n items that follow as tokens of their own, kNumber a number among lists.
using ShapeToken = std::uint32_t;
inline constexpr ShapeToken kNumber = 0xFFFFFFFF;

// MT: safe (const).
class Experiment {
 public:
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Named>& metrics() const { return metrics_; }
  [[nodiscard]] const std::vector<Named>& callpaths() const { return callpaths_; }
  [[nodiscard]] Scaling scaling() const { return scaling_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // the file it came from

  // Coordinates of a measurement point, one per parameter (a file may give more or fewer; validate() tells).
  [[nodiscard]] std::size_t point_count() const { return point_begin_.size() - 1; }
  [[nodiscard]] std::span<const double> point(std::size_t index) const {
    return {coordinates_.data() + point_begin_[index], coordinates_.data() + point_begin_[index + 1]};
  }

  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  // Point numbers of a point set, in the order of the measurements.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& point_sets() const { return point_sets_; }
  [[nodiscard]] std::span<const std::uint32_t> points_of(const Series& series) const {
    return point_sets_[series.point_set];
  }
  // Position in series(), or -1.
  [[nodiscard]] std::int64_t find_series(std::uint32_t callpath, std::uint32_t metric) const;

  // Flat arrays over all measurements; series.first + k is the k-th measurement of a series.
  [[nodiscard]] std::size_t measurement_count() const { return mean_.size(); }
  [[nodiscard]] std::span<const double> means() const { return mean_; }
  [[nodiscard]] std::span<const double> medians() const { return median_; }
  [[nodiscard]] std::span<const double> minima() const { return minimum_; }
  [[nodiscard]] std::span<const double> maxima() const { return maximum_; }
  [[nodiscard]] std::span<const double> deviations() const { return deviation_; }  // population standard deviation
  [[nodiscard]] std::span<const double> measure(Measure measure) const;
  // Number of repetitions; 0 = the file does not say.
  [[nodiscard]] std::span<const std::uint32_t> repetitions() const { return repetitions_; }

  // Every single value of a measurement, flattened; empty when only statistics are known.
  [[nodiscard]] std::span<const double> values(std::size_t measurement) const {
    if (value_begin_.empty()) return {};
    return {values_.data() + value_begin_[measurement], values_.data() + value_begin_[measurement + 1]};
  }
  [[nodiscard]] bool has_values() const { return !values_.empty(); }
  // The same for forms that hold nothing else: empty where the measurement is another figure than these values give,
  // because those of threads, say, were added up.
  [[nodiscard]] std::span<const double> values_that_tell_all(std::size_t measurement) const;
  // How they are nested; empty = a plain list of repetitions.
  [[nodiscard]] std::span<const ShapeToken> shape(std::size_t measurement) const;
  // The mean of each repetition: what a model of the scatter between runs looks at. Empty when not known.
  [[nodiscard]] std::vector<double> repetition_means(std::size_t measurement) const;

  [[nodiscard]] const CallTree& call_tree() const { return call_tree_; }

 private:
  friend class ExperimentBuilder;
  std::string name_;
  std::vector<std::string> parameters_;
  std::vector<Named> metrics_;
  std::vector<Named> callpaths_;
  std::vector<double> coordinates_;
  std::vector<std::uint64_t> point_begin_{0};
  std::vector<Series> series_;
  std::vector<std::vector<std::uint32_t>> point_sets_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_pair_;  // (call path, metric) -> series, sorted
  GrowingArray<double> mean_, median_, minimum_, maximum_, deviation_;
  GrowingArray<std::uint32_t> repetitions_;
  GrowingArray<double> values_;
  GrowingArray<std::uint64_t> value_begin_;
  std::vector<ShapeToken> shapes_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shape_of_;  // measurement, position in shapes_; sorted
  CallTree call_tree_;
  Scaling scaling_ = Scaling::none;
  std::vector<Budget::Reservation> memory_;  // what all this takes of the budget
};

using ExperimentPtr = std::shared_ptr<const Experiment>;

// The rules that every experiment but a stored one must keep (no parameters, no points, no metrics, no call paths,
// points of the wrong length, series that lack points). `allow_incomplete` accepts series with fewer points than there
// are; a metric or call path tagged validation__ignore__num_measurements is let off anyway.
Result<void> validate(const Experiment& experiment, bool allow_incomplete);

// "(4.0,)", "(20.0, 1.0)": how messages name a point.
std::string point_text(std::span<const double> coordinates);
// Shortest text that reads back, as Python writes it: "1.0", "1e-05", "nan".
std::string python_number(double value);

}  // namespace fathom
