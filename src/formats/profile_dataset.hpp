// A profile that was computed, as a dataset: what the writers of formats take.
#pragma once

#include "formats/dataset.hpp"
#include "profile/profile.hpp"

namespace fathom {

DatasetPtr make_profile_dataset(ProfilePtr profile);

}  // namespace fathom
