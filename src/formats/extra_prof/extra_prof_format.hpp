// Extra-Prof profiles: one MessagePack file per rank, and directories of them.
#pragma once

#include "formats/format.hpp"

namespace fathom::extra_prof {

const Format& format();

}  // namespace fathom::extra_prof
