// Puts an experiment together from what a file says, in the order in which it says it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/number_table.hpp"
#include "experiment/experiment.hpp"

namespace fathom {

struct ValueStatistics {
  double mean = 0;
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  double deviation = 0;
};
// Over all values; population standard deviation, median of an even count = mean of the two middle ones.
// `scratch` is overwritten; give the same one to many calls.
ValueStatistics statistics_of(std::span<const double> values, std::vector<double>& scratch);

class ExperimentBuilder {
 public:
  // How measurements of the same call path, metric and point go together.
  enum class Repeats : std::uint8_t {
    separate,  // each is a measurement of its own (text, JSON)
    collect,   // they are repetitions of one; points are numbered by series (TaLPas, JSON Lines, runs)
  };
  // What the experiment takes is counted against the budget of `work`.
  ExperimentBuilder(std::string name, Work work, Repeats repeats = Repeats::separate);

  // Points keep the numbers in which they were named, also those without measurements, although repeats are collected.
  void keep_point_numbers() { keep_points_ = true; }

  std::uint32_t parameter(std::string_view name);
  std::uint32_t point(std::span<const double> coordinates);
  std::uint32_t metric(std::string_view name);
  std::uint32_t callpath(std::string_view name);
  void set_scaling(Scaling scaling) { experiment_.scaling_ = scaling; }
  Tags& metric_tags(std::uint32_t metric) { return experiment_.metrics_[metric].tags; }
  Tags& callpath_tags(std::uint32_t callpath) { return experiment_.callpaths_[callpath].tags; }

  // False as soon as the budget is used up: measurements are not taken any more, and status() is the error.
  [[nodiscard]] bool ok() const { return exceeded_.ok(); }
  [[nodiscard]] const Result<void>& status() const { return exceeded_; }

  // One more measurement. `shape` as in Experiment::shape; `repetitions` counts the outermost dimension.
  void add(std::uint32_t callpath, std::uint32_t metric, std::uint32_t point, std::span<const double> values,
           std::uint32_t repetitions, std::span<const ShapeToken> shape = {});
  void add(std::uint32_t callpath, std::uint32_t metric, std::uint32_t point, std::span<const double> values) {
    add(callpath, metric, point, values, static_cast<std::uint32_t>(values.size()));
  }
  // One of which only the statistics are known; with `values` they are kept beside the statistics as given.
  void add_statistics(std::uint32_t callpath, std::uint32_t metric, std::uint32_t point,
                      const ValueStatistics& statistics, std::uint32_t repetitions, std::span<const double> values = {},
                      std::span<const ShapeToken> shape = {});

  // What another builder, of the same file and without parameters, took of what comes next in it.
  void append(ExperimentBuilder&& next);
  // Room for as many measurements as there will be when those so far are `share` of all.
  void make_room(double share);

  [[nodiscard]] std::size_t parameter_count() const { return experiment_.parameters_.size(); }
  [[nodiscard]] std::size_t point_count() const { return experiment_.point_count(); }
  [[nodiscard]] std::span<const double> coordinates(std::uint32_t point) const { return experiment_.point(point); }
  [[nodiscard]] std::size_t record_count() const { return records_.size(); }

  // Removes series that lack a point, with a warning that counts them; metrics and call paths that are left without any
  // go too. Called before finish() by formats that drop incomplete series. The last `own` parameters are the call
  // paths' own: a series is complete when it occurs in every run with each of the values that it has of them. Where
  // that is not every point, the call path is tagged so that validate() lets it off.
  Result<void> leave_out_incomplete(const Work& work, std::size_t own = 0);

  Result<std::shared_ptr<Experiment>> finish() &&;

 private:
  struct Record {
    std::uint32_t series = 0;
    std::uint32_t point = 0;
    std::uint64_t first = 0;  // of its values
    std::uint32_t count = 0;  // of its values
    std::uint32_t repetitions = 0;
    std::uint32_t statistics = 0;  // 1-based position of given ones; 0 = to be worked out
    std::uint32_t shape = 0;       // 1-based position of its shape; 0 = plain list
  };
  std::uint32_t series(std::uint32_t callpath, std::uint32_t metric);
  bool take(std::uint64_t bytes);
  [[nodiscard]] std::vector<std::size_t> points_to_have(std::size_t own) const;
  std::size_t keep_complete_series(std::size_t own);
  bool order_records();
  void number_points_by_series();
  Result<void> place_measurements();
  void find_point_sets();
  void build_call_tree();

  Experiment experiment_;
  Work work_;
  Repeats repeats_;
  bool keep_points_ = false;
  NumberTable parameter_names_, metric_names_, callpath_names_;
  std::unordered_map<std::string, std::uint32_t> points_;  // by the bytes of the coordinates
  NumberTable pairs_;
  GrowingArray<Record> records_;
  GrowingArray<double> values_;
  std::vector<ValueStatistics> statistics_;
  std::vector<std::vector<ShapeToken>> shapes_;
  std::uint32_t last_point_ = 0;
  std::uint64_t last_pair_ = ~std::uint64_t{0};
  std::uint32_t last_series_ = 0;
  std::uint64_t needed_ = 0;    // bytes
  std::uint64_t reserved_ = 0;  // bytes of experiment_.memory_
  std::uint64_t passing_ = 0;   // of needed_, given back by finish()
  Result<void> exceeded_;
};

}  // namespace fathom
