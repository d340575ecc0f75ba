// Functions and annotations of the program, and what they are called.
#pragma once

#include <cstdarg>
#include <cstdint>

#include "dumpi/stream.hpp"

namespace fathom::capture::labels {

// A remark of the program at this moment; key 0: the next free one.
void annotate(std::uint64_t key, const char* format, std::va_list arguments);
// The record of all addresses and texts.
bool write(Stream& stream);

}  // namespace fathom::capture::labels
