// The pieces of a .pcf file: what the numbers of types, values and states mean.
#pragma once

#include <string>
#include <string_view>

#include "trace/views.hpp"

namespace fathom::paraver {

// Names stand on one line each, in .row files too: control characters become blanks.
std::string one_line(std::string_view name);

// Options, and the colours of values 0 to 22; a list of states may stand between them.
std::string_view pcf_options();
std::string pcf_colours();
// "EVENT_TYPE …" with its values, two empty lines before it.
void append_type(std::string& text, const ViewType& type);

}  // namespace fathom::paraver
