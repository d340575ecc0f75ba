// How fast a function grows with one parameter.
#pragma once

#include "model/model.hpp"

namespace fathom {

struct Growth {
  double power = 0;
  double log = 0;
  friend bool operator==(const Growth&, const Growth&) = default;
  friend auto operator<=>(const Growth&, const Growth&) = default;
};

// Of the fastest term of a parameter; zero when the function does not depend on it. A piecewise function counts by its
// last piece.
Growth leading_growth(const Function& function, std::uint32_t parameter);

}  // namespace fathom
