// HPCToolkit databases: three formats, one per generation.
#pragma once

#include "formats/format.hpp"

namespace fathom::hpctoolkit {

const Format& meta_format();     // hpctoolkit: meta.db
const Format& classic_format();  // hpctoolkit-classic: experiment.xml 2.x, 3.x
const Format& xml_format();      // hpctoolkit-xml: experiment.xml 4.0 with sparse files

}  // namespace fathom::hpctoolkit
