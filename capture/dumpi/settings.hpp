// What the user wants: dumpi.conf, the environment, calls of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::capture {

inline constexpr std::size_t kFunctions = 290;
inline constexpr std::size_t kMaxCounters = 128;
inline constexpr std::size_t kTextLength = 1024;

// Values as in the traces' masks and in the reference's interface.
enum Setting : std::uint8_t { kDisable = 0, kSuccess = 1, kEnable = 3 };

struct Settings {
  char root[kTextLength] = "dumpi";
  bool root_is_set = false;  // by the program: wins over the file
  bool cpu_time = true;
  bool wall_time = true;
  Setting statuses = kEnable;
  bool trace_enter = true;
  bool trace_exit = true;
  bool messages = false;
  bool handle_signals = true;
  bool added_calls = false;  // calls that the format has no place for go to a file of their own
  std::size_t buffer_bytes = std::size_t{1} << 20;
  unsigned flush_seconds = 1;
  Setting function[kFunctions];
  char counter[kMaxCounters][80] = {};
  std::size_t counters = 0;

  Settings();
  // The file that DUMPI_CONF names, or dumpi.conf in the working directory, and the environment.
  // Remarks go to stderr when `speak`.
  void read(bool speak);

 private:
  void read_file(const char* path, bool speak);
};

// Names of the functions by id, from the same table as everything else; generated.
extern const char* const kFunctionNames[kFunctions];

}  // namespace fathom::capture
