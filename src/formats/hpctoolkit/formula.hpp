// The formula language of experiment.xml and, written down as text, of metrics/*.yaml: infix with the functions of the
// reference viewer; $n a metric at the context, @n at the roots, #n by its order number. x/0 is 0, as in the viewer.
// log is to base 10 (log(x, b): to base b), lg to base 2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "profile/expression/program.hpp"

namespace fathom::hpctoolkit {

// What a variable stands for, by its sign ($, @, #) and number.
using VariableLookup = std::function<Result<expression::MetricReference>(char sign, std::int64_t number)>;

// Errors point at the character.
Result<expression::Tree> compile_formula(std::string_view text, const VariableLookup& variables);

// How a tree is written.
enum class FormulaStyle : std::uint8_t {
  infix,  // ($1/$2), sqrt($3)
  yaml,   // {/: [a, b]}, {sqrt: [c]}
};
using MetricSpeller = std::function<std::string(const expression::MetricReference&)>;
// An error for what the formula language cannot say (texts, variables, loops).
Result<std::string> formula_text(const expression::Tree& tree, FormulaStyle style, const MetricSpeller& spell);

}  // namespace fathom::hpctoolkit
