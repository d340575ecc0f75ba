// What a path holds when it is no dataset itself: the directory in which a tool left its files, an archive around one,
// or something that another program must turn into a dataset first.
#pragma once

#include <optional>
#include <string_view>

#include "formats/format.hpp"

namespace fathom {

// The dataset inside that is meant; nothing when the path is to be opened as it is. Says which one where there are
// several.
Result<std::optional<Source>> dataset_inside(const Source& source, const Work& work);

// True for an archive of files that is no dataset itself.
bool is_archive_of_files(const Source& source, const Work& work);

// Why nothing recognises a path, and what to do about it.
Error unrecognised(const Source& source, const Work& work);

// What to do with a file of this name before it can be read; "" when nothing is known.
std::string_view conversion_hint(std::string_view file_name);

}  // namespace fathom
