// The profile that a question is about: the dataset's own, with contexts hidden and metrics added as the question says.
#pragma once

#include "profile/profile.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// What tells one such profile from another; empty = as it is.
std::string shape_of(const Request& request);

// hide: lines "elide PATTERN" (the function goes, what it calls hangs below its caller), "prune PATTERN" (with all
// below), "fold PATTERN" (what is below), "root PATTERN" (only such subtrees); derive: lines "NAME = EXPRESSION";
// cubepl: lines "NAME = TEXT" in CubePL. As the options of the same names of `fathom tree`.
Result<ProfilePtr> reshaped(ProfilePtr profile, const Request& request);

}  // namespace fathom::serve
