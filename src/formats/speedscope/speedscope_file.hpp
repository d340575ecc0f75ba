// The JSON of speedscope: frames that profiles share, and profiles, which stay text until they are needed.
#pragma once

#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::speedscope {

struct Frame {
  std::string name, file;
  std::int64_t line = -1;
};

struct StoredProfile {
  std::string name;
  std::string unit;  // none, nanoseconds, microseconds, milliseconds, seconds, bytes
  bool evented = false;
  double start = 0, end = 0;
  std::size_t first_frame = 0;  // of its own frames, which very old files have
  std::string_view text;
  std::string_view events, samples, weights;  // lists of the text, if they are there
};

struct SpeedscopeFile {
  std::vector<Frame> frames;
  std::vector<StoredProfile> profiles;
  std::string name, exporter;
};

Result<SpeedscopeFile> read_file(const Blob& blob, const Work& work);

// Memory for reading a part of it with simdjson, which keeps a few bytes per character.
Result<Budget::Reservation> room_to_parse(std::string_view text, const Work& work);

// Nanoseconds in one of a unit; 1 for those that are no times.
double nanoseconds_of(std::string_view unit);

}  // namespace fathom::speedscope
