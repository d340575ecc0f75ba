// Paraver configuration files: which window shows an event type as a timeline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::paraver {

// One window with the last value of the type in every row.
std::string cfg_text(std::string_view title, std::int64_t type, std::string_view type_label);

// A file's name for a title: small letters and digits, everything else as '-'.
std::string cfg_name(std::string_view title);

}  // namespace fathom::paraver
