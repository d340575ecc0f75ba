// Specs of metric trees, as `remap` takes them: the metrics of an anchor, written by people.
#pragma once

#include <string>
#include <string_view>

namespace fathom::cube {

// The spec as an anchor that an XML parser takes.
std::string anchor_of_metrics_spec(std::string_view text);

}  // namespace fathom::cube
