// Questions about two datasets: what changed from the one to the other.
#pragma once

#include "experiment/experiment.hpp"
#include "profile/profile.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// metric (none: the likely one), match=name|path|line|file, flavour=exclusive|inclusive: `diff --json`. MT: safe.
Result<Answer> compare(const ProfilePtr& before, const ProfilePtr& after, const Request& request);
Result<Answer> compare(const Experiment& before, const Experiment& after, const Request& request);
// metric, limit: both call trees in one, contexts matched by all names from the root down, the largest first where not
// all fit; values as `diff --match path` has them. Null = it is not there on that side. MT: safe.
Result<Answer> compare_tree(const ProfilePtr& before, const ProfilePtr& after, const Request& request);

}  // namespace fathom::serve
