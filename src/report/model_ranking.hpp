// Which models will hurt at scale: growth classes, shares of the total, and scalability bugs in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/model.hpp"

namespace fathom {

// How something grows with one parameter: x^power * log2(x)^log.
struct Growth {
  Exponent power;
  Exponent log;
  [[nodiscard]] bool constant() const { return power.zero() && log.zero(); }
  [[nodiscard]] std::string text(const std::string& parameter) const;  // "p^(3/2) * log2(p)", "constant"
};
bool grows_faster(const Growth& a, const Growth& b);
// The fastest growing part with a coefficient above zero.
Growth growth_of(const Function& function, std::uint32_t parameter);
// "log2(p)", "p^(1/2) * log2(p)^2", "1": a product of powers and logarithms of known parameters.
Result<std::vector<Growth>> parse_expectation(std::string_view text, std::span<const std::string> parameters);

struct RankingOptions {
  std::optional<std::string> expect;               // default: log2 of every parameter
  std::vector<std::pair<std::string, double>> at;  // target scale; default: 16 times the largest of the first parameter
};

struct RankedModel {
  const Model* model = nullptr;
  std::vector<Growth> growth;  // per parameter
  double now = 0;              // the model's value at the largest measured scale
  double then = 0;             // and at the target
  double share_now = 0;        // of all call paths' sum for this metric
  double share_then = 0;
  bool bug = false;
  std::string explanation;  // of a bug, one sentence
};

struct Ranking {
  std::vector<double> largest;  // the largest measured value of every parameter
  std::vector<double> target;
  std::vector<RankedModel> models;  // worst first
};

Result<Ranking> rank_models(const Experiment& experiment, const ModelSet& set, const RankingOptions& options);

// "p=64, n=100"
std::string named_point(const Experiment& experiment, std::span<const double> point);
// "p=1024,n=4096" into one coordinate per parameter; those that are absent come from `otherwise`, or are an error.
Result<std::vector<double>> parse_point(std::string_view text, std::span<const std::string> parameters,
                                        std::span<const double> otherwise = {});

}  // namespace fathom
