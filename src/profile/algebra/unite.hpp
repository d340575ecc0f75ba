// One set of trees out of several, with the way from each of them into it.
#pragma once

#include "profile/algebra/algebra.hpp"
#include "profile/algebra/mapping.hpp"

namespace fathom::algebra {

struct United {
  Definitions definitions;
  std::vector<Mapping> mappings;
};

// `side_by_side`: locations and the system around them are never matched.
Result<United> unite(const Inputs& inputs, SystemMatch system, bool side_by_side = false);

}  // namespace fathom::algebra
