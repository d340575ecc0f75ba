// The terms x^power * log2(x)^log that a single-parameter model may have, in the order that decides ties.
#pragma once

#include <span>
#include <vector>

#include "model/options.hpp"

namespace fathom {

struct Block {
  Exponent power;
  Exponent log;
};

// The 42 standard terms.
std::span<const Block> standard_blocks();
// The same with negated exponents, for quantities that shrink.
std::vector<Block> negated_blocks(bool with_logs);

// All terms that the options ask for.
std::vector<Block> search_space(const SingleOptions& options);

// Logarithms need coordinates of at least one (more than one when they may stand in a denominator).
bool logs_possible(std::span<const double> x, bool negative_exponents);

// x^power * log2(x)^log; an exponent of zero leaves its part out.
double block_value(const Block& block, double x);

}  // namespace fathom
