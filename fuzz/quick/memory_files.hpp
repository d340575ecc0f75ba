// A directory that only this process sees.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fathom {

// From now on there are these files (names below it and bytes) at `root` and no others. Nobody may have one open.
void hold_in_memory(const std::string& root, const std::map<std::string, std::string_view>& files);

}  // namespace fathom
