// Which models will hurt at scale: growth classes, shares of the total, and scalability bugs in words.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/growth.hpp"
#include "model/model.hpp"

namespace fathom {

// "log2(p)", "p^(1/2) * log2(p)^2", "1": a product of powers and logarithms of known parameters.
Result<std::vector<Growth>> parse_expectation(std::string_view text, std::span<const std::string> parameters);

struct RankingOptions {
  // Default: log2 of every parameter; under strong scaling, where the costs of all locations are added up, a constant.
  std::optional<std::string> expect;
  std::vector<double> at;  // target scale; empty: kFarExtrapolation times the largest of the first parameter
};

struct RankedModel {
  const Model* model = nullptr;
  std::vector<Growth> growth;  // per parameter
  double now = 0;        // the model's value at the largest measured scale; where that is below zero what was measured
  double then = 0;       // and at the target, less what may be noise
  double share_now = 0;  // of all call paths' sum for this metric
  double share_then = 0;
  struct Suspect {
    std::uint32_t parameter;
    bool sure;  // beyond the noise
  };
  std::vector<Suspect> suspect;  // parameters with which it grows faster than expected
  std::optional<Function> tame;  // growth that may be noise taken as the expected one, where there is any
  // What it counts as at the target.
  [[nodiscard]] const Function& counted() const { return tame ? *tame : model->function; }
  [[nodiscard]] bool tamed() const {
    return std::any_of(suspect.begin(), suspect.end(), [](const Suspect& s) { return !s.sure; });
  }
  bool bug = false;
  bool unsure = false;      // would be one, but the noise does not allow to tell
  std::string explanation;  // of a bug or of why it is unsure, one sentence
};

struct Ranking {
  std::vector<double> largest;  // the largest measured value of every parameter
  std::vector<double> target;
  std::vector<RankedModel> models;  // worst first
};

// A bug grows faster than expected with a parameter that the target moves, beyond what the noise can feign, and makes
// up a share of the total there that is worth saying.
Result<Ranking> rank_models(const Experiment& experiment, const ModelSet& set, const RankingOptions& options);

// The largest measured value of every parameter.
std::vector<double> largest_point(const Experiment& experiment);
// "p=64, n=100"
std::string named_point(const Experiment& experiment, std::span<const double> point);
// "p=1024,n=4096" into one coordinate per parameter; those that are absent come from `otherwise`, or are an error.
Result<std::vector<double>> parse_point(std::string_view text, std::span<const std::string> parameters,
                                        std::span<const double> otherwise = {});

}  // namespace fathom
