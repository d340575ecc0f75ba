// Questions about source files: which ones there are, and their lines with values.
#pragma once

#include "profile/profile.hpp"
#include "serve/request.hpp"
#include "serve/source_files.hpp"

namespace fathom::serve {

// metric (none: the likely one): files in the order of what was measured in them, each with its number.
Result<Answer> source_list(const Profile& profile, const SourceFiles& files, const Request& request);
// metric, file=NUMBER of that list: lines with values, and the text where it is at hand; `source --json -f`.
Result<Answer> source_text(const Profile& profile, const SourceFiles& files, const Request& request);

}  // namespace fathom::serve
