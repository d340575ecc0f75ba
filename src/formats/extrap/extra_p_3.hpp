// Extra-P 3 experiments: binary records, one after the other.
#pragma once

#include "formats/extrap/extra_p_reader.hpp"

namespace fathom::extrap {

bool is_extra_p_3(std::string_view head);
Result<StoredExperiment> read_extra_p_3(const Blob& blob, const Work& work);

}  // namespace fathom::extrap
