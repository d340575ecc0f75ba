#include "model/search_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace fathom {

namespace {

struct Row {
  int numerator, denominator, log;
};

constexpr std::array<Row, 42> kStandard{{
    {0, 1, 1}, {0, 1, 2}, {1, 4, 0}, {1, 3, 0},  {1, 4, 1}, {1, 3, 1}, {1, 4, 2}, {1, 3, 2}, {1, 2, 0},
    {1, 2, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 0},  {2, 3, 1}, {3, 4, 1}, {4, 5, 0}, {2, 3, 2}, {3, 4, 2},
    {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {5, 4, 0},  {5, 4, 1}, {4, 3, 0}, {4, 3, 1}, {3, 2, 0}, {3, 2, 1},
    {3, 2, 2}, {5, 3, 0}, {7, 4, 0}, {2, 1, 0},  {2, 1, 1}, {2, 1, 2}, {9, 4, 0}, {7, 3, 0}, {5, 2, 0},
    {5, 2, 1}, {5, 2, 2}, {8, 3, 0}, {11, 4, 0}, {3, 1, 0}, {3, 1, 1},
}};

// The logarithmic blocks with negated exponents, in the order in which they are appended.
constexpr std::array<Row, 23> kNegativeLogs{{
    {0, 1, -1},  {0, 1, -2},  {-1, 4, -1}, {-1, 3, -1}, {-1, 4, -2}, {-1, 3, -2}, {-1, 2, -1}, {-1, 2, -2},
    {-2, 3, -1}, {-3, 4, -1}, {-2, 3, -2}, {-3, 4, -2}, {-1, 1, -1}, {-1, 1, -2}, {-5, 4, -1}, {-4, 3, -1},
    {-3, 2, -1}, {-3, 2, -2}, {-2, 1, -1}, {-2, 1, -2}, {-5, 2, -1}, {-5, 2, -2}, {-3, 1, -1},
}};

Block block_of(const Row& row) {
  return {Exponent::fraction(row.numerator, row.denominator), Exponent::fraction(row.log)};
}

std::vector<Exponent> parse_exponents(const std::string& list) {
  std::vector<Exponent> exponents;
  for (const auto token : split(list, ',')) {
    const auto text = trim(token);
    if (text.find('.') != std::string_view::npos) {
      if (const auto value = parse_double(text)) exponents.push_back(Exponent::decimal(*value));
    } else if (const auto value = parse_integer<std::int64_t>(text)) {
      exponents.push_back(Exponent::fraction(*value));
    }
  }
  return exponents;
}

void append_defaults(const SingleOptions& options, std::vector<Block>& blocks) {
  for (const auto& row : kStandard) {
    if (options.allow_log_terms || row.log == 0) blocks.push_back(block_of(row));
  }
  if (!options.allow_negative_exponents) return;
  if (options.allow_log_terms) {
    for (const auto& row : kNegativeLogs) blocks.push_back(block_of(row));
  }
  for (const auto& row : kStandard) {
    if (row.log == 0) blocks.push_back(block_of({-row.numerator, row.denominator, 0}));
  }
}

}  // namespace

std::span<const Block> standard_blocks() {
  static const std::vector<Block> blocks = [] {
    std::vector<Block> list;
    for (const auto& row : kStandard) list.push_back(block_of(row));
    return list;
  }();
  return blocks;
}

std::vector<Block> negated_blocks(bool with_logs) {
  std::vector<Block> blocks;
  for (const auto& row : kStandard) {
    if (with_logs || row.log == 0) blocks.push_back(block_of({-row.numerator, row.denominator, -row.log}));
  }
  return blocks;
}

std::vector<Block> search_space(const SingleOptions& options) {
  std::vector<Block> blocks;
  const auto powers = parse_exponents(options.poly_exponents);
  const auto logs = parse_exponents(options.log_exponents);
  if (powers.empty() && logs.empty()) {
    append_defaults(options, blocks);
    return blocks;
  }
  const Exponent none = Exponent::fraction(0);
  if (!options.force_combination_exponents) {
    for (const auto& power : powers) blocks.push_back({power, none});
    for (const auto& log : logs) blocks.push_back({none, log});
  }
  for (const auto& power : powers) {
    for (const auto& log : logs) blocks.push_back({power, log});
  }
  std::erase_if(blocks, [](const Block& block) { return block.power.zero() && block.log.zero(); });
  if (options.retain_default_exponents) append_defaults(options, blocks);
  return blocks;
}

bool logs_possible(std::span<const double> x, bool negative_exponents) {
  return std::all_of(x.begin(), x.end(), [&](double value) { return negative_exponents ? value > 1 : value >= 1; });
}

double block_value(const Block& block, double x) {
  double value = 1;
  if (!block.power.zero()) value *= std::pow(x, block.power.value);
  if (!block.log.zero()) value *= std::pow(std::log2(x), block.log.value);
  return value;
}

}  // namespace fathom
