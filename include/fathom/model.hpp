// Levels 3 and 4: scaling models of an experiment, or of a directory of runs.
//
//   auto models = fathom::fit(*dataset, {.modeler = "robust"});
//   auto value = models->predict(0, {4096});
#pragma once

#include <fathom/dataset.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fathom::api {

struct ModelOptions {
  std::string modeler = "default";  // basic, refining, segmented, multi-parameter, robust
  std::string measure = "mean";     // median, minimum, maximum
  // As `fathom model --option` takes them: {"allow_log_terms", "false"}.
  std::vector<std::pair<std::string, std::string>> options = {};
};

struct ModelInfo {
  std::string callpath;
  std::string metric;
  std::string function;  // "1.5 + 2.0 * p^(3/2)"
  double rss = 0, rrss = 0, smape = 0, ar2 = 0, re = 0;
};

struct Forecast {
  double value = 0;
  double low = 0, high = 0;  // of one new run, at the level asked for; NaN where not known
};

// It keeps the dataset alive. MT: safe (const).
class FATHOM_API Models {
 public:
  struct State;
  explicit Models(std::shared_ptr<const State> state);
  Models(const Models&);
  Models(Models&&) noexcept;
  Models& operator=(const Models&);
  Models& operator=(Models&&) noexcept;
  ~Models();

  [[nodiscard]] std::vector<std::string> parameters() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] ModelInfo model(std::size_t position) const;
  // At a point with one coordinate per parameter.
  [[nodiscard]] Result<Forecast> predict(std::size_t position, std::span<const double> point,
                                         double level = 0.95) const;
  // The same as a table: `model` of dataset.hpp, with these models.
  [[nodiscard]] Table table() const;

 private:
  std::shared_ptr<const State> state_;
};

// One model for every call path and metric.
FATHOM_API Result<Models> fit(const Dataset& dataset, const ModelOptions& options = {});

}  // namespace fathom::api

namespace fathom {
using api::fit;
}
