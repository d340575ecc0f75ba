// XML has no room for control characters and bytes that are no UTF-8, and readers take a line break in a name for a
// blank: whoever writes names into XML says which are not the same there.
#pragma once

#include "profile/profile.hpp"

namespace fathom {

Result<void> tell_names_altered_by_xml(const Profile& profile);

}  // namespace fathom
