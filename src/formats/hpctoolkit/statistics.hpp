// Statistics that the summary profile stores, with the ones that its writers got wrong worked out again.
#pragma once

#include <memory>

#include "formats/hpctoolkit/database_source.hpp"
#include "profile/profile.hpp"

namespace fathom::hpctoolkit {

// Writers since 2022 store the sum where the sum of squares belongs, and a minimum that depends on the order of
// processing. Those two come from the profiles; mean, standard deviation and coefficient of variation follow from them,
// over the profiles that have a value other than zero. Stored numbers that differ are reported.
Result<std::vector<StoredStatistic>> statistics(const ProfileDb& profiles, const DatabaseSource& source,
                                                const Mapping& mapping, const Work& work);

}  // namespace fathom::hpctoolkit
