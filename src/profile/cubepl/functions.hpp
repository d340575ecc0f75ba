// The functions of one number that CubePL knows: the one table for reading and writing.
#pragma once

#include <string_view>

#include "profile/expression/program.hpp"

namespace fathom::cubepl {

struct NamedFunction {
  std::string_view name;
  expression::Function function;
  bool written = true;  // false: documented, though the reference refuses it
};

inline constexpr NamedFunction kFunctions[] = {
    {"sqrt", expression::Function::sqrt},        {"sin", expression::Function::sin},
    {"cos", expression::Function::cos},          {"tan", expression::Function::tan},
    {"asin", expression::Function::asin},        {"acos", expression::Function::acos},
    {"atan", expression::Function::atan},        {"exp", expression::Function::exp},
    {"log", expression::Function::log},          {"abs", expression::Function::abs},
    {"floor", expression::Function::floor},      {"ceil", expression::Function::ceil},
    {"sgn", expression::Function::sign},         {"pos", expression::Function::positive},
    {"neg", expression::Function::negative},     {"random", expression::Function::random},
    {"ln", expression::Function::log, false},    {"cot", expression::Function::cot, false},
    {"acot", expression::Function::acot, false},
};

}  // namespace fathom::cubepl
