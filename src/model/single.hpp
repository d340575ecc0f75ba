// Single-parameter modelers: one function with at most one term per series of values over the same coordinates.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/block_table.hpp"
#include "model/model.hpp"

namespace fathom {

// A constant or c0 + c1 * block, with its cost figures.
struct LineFit {
  double constant = 0;
  double coefficient = 0;
  Block block;
  bool has_term = false;
  Quality quality;
};

// numpy's mean: pairwise sum, so that equal values give exactly their value where they do there. NaN when some value
// is not finite.
double mean_of(std::span<const double> values);

LineFit constant_fit(std::span<const double> y);
// Fit of one block with all cost figures; `total` = residual sum of squares of the constant model.
LineFit block_fit(const BlockTable& table, std::size_t block, std::span<const double> y, const SingleOptions& options,
                  double total);
// max |c1*t(x_k)/y_k|; NaN when one of them is.
double contribution(const BlockTable& table, std::size_t block, double coefficient, std::span<const double> y);
// The search of the Basic modeler for one series.
LineFit basic_fit(const BlockTable& table, std::span<const double> y, const SingleOptions& options);
// In-sample figures of any function given by its values at the points; `free_terms` enter the adjusted R².
Quality in_sample_quality(std::span<const double> predicted, std::span<const double> y, std::size_t free_terms);

Function function_of(const LineFit& fit, std::uint32_t parameter);

class SingleModeler {
 public:
  virtual ~SingleModeler() = default;
  // Models for rows of values; `rows[i]` points to one value per coordinate. MT: safe (const).
  virtual void fit(std::span<const double* const> rows, std::span<Model> models) const = 0;
  // What the coordinates made it warn about (texts of the reference).
  [[nodiscard]] const std::vector<std::string_view>& warnings() const { return warnings_; }

 protected:
  std::vector<std::string_view> warnings_;
};

// `parameter` is the number that the factors of the functions get.
std::unique_ptr<SingleModeler> make_basic(const SingleOptions& options, std::span<const double> x,
                                          std::uint32_t parameter);
std::unique_ptr<SingleModeler> make_refining(const SingleOptions& options, std::span<const double> x,
                                             std::uint32_t parameter);
std::unique_ptr<SingleModeler> make_segmented(const SingleOptions& options, std::span<const double> x,
                                              std::uint32_t parameter);
std::unique_ptr<SingleModeler> make_single(Modeler modeler, const SingleOptions& options, std::span<const double> x,
                                           std::uint32_t parameter);

// The search of the Basic modeler for many series at once, in vectors: winning block per row, -1 = constant.
// Rows must be `vectorisable`.
void basic_search(const BlockTable& table, std::span<const double* const> rows, const SingleOptions& options,
                  std::span<std::int32_t> winners);
// Values are finite, not zero and of a size whose squares are finite.
bool vectorisable(std::span<const double> y);

// Basic's table for coordinates: the search space of the options without what the coordinates rule out.
struct BasicSpace {
  std::vector<Block> blocks;
  bool logs_dropped = false;
};
BasicSpace basic_space(const SingleOptions& options, std::span<const double> x);

inline constexpr std::string_view kTooFewForParameter =
    "Number of measurements for a parameter needs to be at least 5 in order to create a performance model.";
inline constexpr std::string_view kTooFew =
    "Number of measurements needs to be at least 5 in order to create a performance model.";
inline constexpr std::string_view kTooFewSegmented =
    "Number of measurements for a parameter needs to be at least 9 in order to create a segmented performance model.";
inline constexpr std::string_view kBelowOne =
    "Your measurements contained a point value below one, therefore, Extra-P does not use logarithmic terms for "
    "modeling.";

}  // namespace fathom
