// The calling contexts of experiment.xml, both generations.
#pragma once

#include "formats/hpctoolkit/mapping.hpp"

namespace fathom::hpctoolkit {

Result<void> map_xml_tree(const ExperimentXml& xml, Mapping& mapping, const Work& work);

// Of the XML's elements, the contexts they are; invalid for auxiliary ones. Same order as ExperimentXml::elements.
std::vector<ContextId> map_xml_elements(const ExperimentXml& xml, Mapping& mapping);

}  // namespace fathom::hpctoolkit
