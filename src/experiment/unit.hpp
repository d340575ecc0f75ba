// The unit of a metric: a tag, so that it is kept wherever tags are.
#pragma once

#include <string>
#include <string_view>

#include "experiment/experiment.hpp"

namespace fathom {

// Nothing happens when the unit is empty or one is there already.
void set_unit(Tags& metric, std::string_view unit);
// "" when it is not known.
std::string unit_of(const Named& metric);
// The same for what a metric means.
void set_description(Tags& metric, std::string_view description);
std::string description_of(const Named& metric);

}  // namespace fathom
