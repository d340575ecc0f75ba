// Paraver traces as a format of the registry.
#pragma once

#include "formats/format.hpp"

namespace fathom::paraver {

const Format& format();

}  // namespace fathom::paraver
