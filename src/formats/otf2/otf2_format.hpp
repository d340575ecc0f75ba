// OTF2 archives: the traces of Score-P, TAU, APEX, EZTrace and lo2s, which Vampir and Scalasca read.
#pragma once

#include "formats/format.hpp"

namespace fathom::otf2 {

const Format& format();

}  // namespace fathom::otf2
