// Hardware counters through PAPI, where it is installed when the program runs.
#pragma once

#include <cstdint>

namespace fathom::capture {
struct Settings;
}
namespace fathom::capture::counters {

inline constexpr unsigned kMost = 128;

// Starts those of the settings that there are; the others are named on stderr when `speak`.
void start(const Settings& settings, bool speak);
[[nodiscard]] unsigned number();
const char* name(unsigned i);
// Of the calling thread.
void read(std::int64_t* values);

}  // namespace fathom::capture::counters
