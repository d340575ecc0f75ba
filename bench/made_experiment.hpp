// An experiment for the benchmarks of modelling.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "model/search_space.hpp"

namespace fathom::bench {

inline constexpr int kRepetitions = 5;

inline std::vector<std::vector<double>> full_grid(std::size_t parameters) {
  const std::vector<std::vector<double>> axes{{4, 8, 16, 32, 64}, {10, 20, 30, 40, 50}, {100, 200, 300, 400, 500}};
  std::vector<std::vector<double>> points{{}};
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<std::vector<double>> longer;
    for (const auto& point : points) {
      for (const double x : axes[p]) {
        longer.push_back(point);
        longer.back().push_back(x);
      }
    }
    points = std::move(longer);
  }
  return points;
}

// Call paths with random functions of all parameters, five repetitions and 5 % noise, as JSON of Extra-P.
inline std::string made_experiment(std::size_t callpaths, std::size_t parameters) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_int_distribution<std::size_t> which(0, standard_blocks().size() - 1);
  std::normal_distribution<double> noise(0, 0.05);
  const auto points = full_grid(parameters);
  std::string json = R"({"parameters":[)";
  for (std::size_t p = 0; p < parameters; ++p) json += fmt::format("{}\"{}\"", p > 0 ? "," : "", "pnm"[p]);
  json += R"(],"measurements":{)";
  for (std::size_t c = 0; c < callpaths; ++c) {
    json += fmt::format("{}\"main->f{}\":{{\"time\":[", c > 0 ? "," : "", c);
    const double constant = std::pow(10, exponent(random));
    const double coefficient = std::pow(10, exponent(random));
    std::vector<Block> blocks;
    for (std::size_t p = 0; p < parameters; ++p) blocks.push_back(standard_blocks()[which(random)]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      double value = coefficient;
      for (std::size_t p = 0; p < parameters; ++p) value *= block_value(blocks[p], points[k][p]);
      json += fmt::format("{}{{\"point\":[{}],\"values\":[", k > 0 ? "," : "", fmt::join(points[k], ","));
      for (int r = 0; r < kRepetitions; ++r) {
        json += fmt::format("{}{}", r > 0 ? "," : "", (constant + value) * (1 + noise(random)));
      }
      json += "]}";
    }
    json += "]}";
  }
  return json + "}}";
}

}  // namespace fathom::bench
