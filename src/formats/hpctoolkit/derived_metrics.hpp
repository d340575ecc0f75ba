// Derived metrics that a database defines itself: formulas of metrics/*.yaml and of experiment.xml, compiled to the
// profile level's expressions and added to the definitions. What cannot be compiled is reported and left out.
#pragma once

#include <vector>

#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/taxonomy.hpp"

namespace fathom::hpctoolkit {

Result<void> add_derived(const Taxonomy& taxonomy, const std::string& file, Mapping& mapping, const Work& work);
Result<void> add_derived(const ExperimentXml& xml, Mapping& mapping, const Work& work);

}  // namespace fathom::hpctoolkit
