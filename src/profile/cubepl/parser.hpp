// CubePL, the expression language of derived Cube metrics (dialect 1.1, and the names of 0.0): text to the profile
// level's expression trees.
//
//   expression := sums, products, unary minus, ^ (all left associative; -2^2 is -(2^2)), (...), |...|, functions,
//                 numbers, "texts", ${variable}[position], metric::name(flavours), { statements return expression; }
//   statement  := assignment, if/elseif/else, while, local(), global(), cube::metric::set::, definitions of metrics;
//                 each ends in ';'
//   condition  := only inside if and while: comparisons, eq, seq, =~ /regex/, and, or, xor, not(...), true, false
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "defs/metric.hpp"
#include "profile/expression/program.hpp"

namespace fathom::cubepl {

// A metric that an expression defines on the way.
struct Definition {
  std::string name;
  Derivation derivation = Derivation::none;  // none: only an operator or init of a metric defined elsewhere
  std::string value;
  std::string init;
  std::string plus;
  std::string minus;
  std::string aggregate;
};

struct Parsed {
  expression::Tree tree;
  std::vector<Definition> definitions;
};

// `statements`: the text may be a bare list of statements without a return (init expressions).
// Errors name the character.
Result<Parsed> parse(std::string_view text, bool statements = false);

}  // namespace fathom::cubepl
