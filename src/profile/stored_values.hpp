// Stored values read into tables, as they are or combined over locations. What is combined is small, however much is
// read for it: there the processes of a team share the reading, and all of them have the table in the end.
#pragma once

#include "profile/compute.hpp"

namespace fathom {

// Row 0 is the first of the contexts. With `aggregate` one column with all locations combined.
Result<Cells> read_stored(const Profile& profile, StoredMetric metric, IndexRange contexts, IndexRange locations,
                          bool aggregate);

// Inclusive values of few subtrees, the contexts of the selection, from own ones that add up; rows of the contexts
// below them are not kept.
Result<Cells> read_subtrees(const Profile& profile, StoredMetric metric, const Selection& selection);

}  // namespace fathom
