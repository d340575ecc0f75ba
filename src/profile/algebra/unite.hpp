// One set of trees out of several, with the way from each of them into it.
#pragma once

#include "profile/algebra/algebra.hpp"
#include "profile/algebra/mapping.hpp"

namespace fathom::algebra {

struct United {
  Definitions definitions;
  std::vector<Mapping> mappings;
};

// Whether values of one type can be put into a metric of another: composites only into their own.
bool can_become(ValueType from, ValueType to);

// What of an input cannot become what its metric is in the others is reported as lost. `side_by_side`: locations and
// the system around them are never matched.
Result<United> unite(const Inputs& inputs, SystemMatch system, bool side_by_side = false);

}  // namespace fathom::algebra
