// The multi-parameter modeler: a single-parameter model along each parameter, then the best way to combine their terms.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/candidates.hpp"
#include "model/single.hpp"

namespace fathom {

// The points of one parameter's series, as lists of rows of the point set whose values are averaged.
struct ParameterSeries {
  std::vector<double> x;
  std::vector<std::vector<std::uint32_t>> rows;
  bool incomplete = false;  // not all lines had the same length
};
// `coordinates`: one row of `parameters` numbers per point.
ParameterSeries select_series(std::span<const double> coordinates, std::size_t parameters, std::size_t parameter,
                              PointSelection selection);

class MultiModeler {
 public:
  MultiModeler(const FitOptions& options, std::span<const double> coordinates, std::size_t parameters);

  // MT: safe (const).
  void fit(std::span<const double* const> rows, std::span<Model> models) const;
  [[nodiscard]] const std::vector<std::string_view>& warnings() const { return warnings_; }

 private:
  struct Axis {
    ParameterSeries series;
    std::unique_ptr<SingleModeler> modeler;
    std::vector<double> distinct;         // all values of the coordinate
    std::vector<std::uint32_t> position;  // of each point's value in `distinct`
  };
  void combine(std::span<const double> y, std::span<const Model> lines, Candidates& candidates, Model& model) const;

  FitOptions options_;
  std::size_t parameters_;
  std::size_t points_;
  std::vector<Axis> axes_;
  std::vector<std::string_view> warnings_;
};

// The candidate functions for `active` terms, in the order that decides ties.
std::span<const Summands> combinations(std::size_t active, bool all);

}  // namespace fathom
