// How fast a function grows with one parameter.
#pragma once

#include "model/model.hpp"

namespace fathom {

struct LeadingPowers {
  double power = 0;
  double log = 0;
  friend bool operator==(const LeadingPowers&, const LeadingPowers&) = default;
  friend auto operator<=>(const LeadingPowers&, const LeadingPowers&) = default;
};

// Of the fastest term of a parameter; zero when the function does not depend on it. A piecewise function counts by its
// last piece.
LeadingPowers leading_growth(const Function& function, std::uint32_t parameter);

}  // namespace fathom
