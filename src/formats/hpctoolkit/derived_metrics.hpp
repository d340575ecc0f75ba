// Derived metrics that a database defines itself: formulas of metrics/*.yaml and of experiment.xml, compiled to the
// profile level's expressions and added to the definitions. What cannot be compiled is reported and left out.
#pragma once

#include <vector>

#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/taxonomy.hpp"

namespace fathom::hpctoolkit {

Result<void> add_derived(const Taxonomy& taxonomy, const std::string& file, Mapping& mapping, const Work& work);
Result<void> add_derived(const ExperimentXml& xml, Mapping& mapping, const Work& work);

// The metric in which a column of a classic database without files per thread is found, after the column's name.
inline constexpr std::string_view kAllThreads = " (all threads)";
// Classic: columns of the XML that are shown through a formula (mean, deviation, and whatever was defined).
Result<void> add_classic_derived(const ExperimentXml& xml, bool per_thread, Mapping& mapping, const Work& work);

}  // namespace fathom::hpctoolkit
