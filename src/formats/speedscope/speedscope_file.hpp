// The JSON of speedscope: frames that profiles share, and profiles, which stay text until they are needed.
#pragma once

#include <functional>
#include <span>
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
};

struct SpeedscopeFile {
  std::vector<Frame> frames;
  std::vector<StoredProfile> profiles;
  std::string name, exporter;
};

Result<SpeedscopeFile> read_file(const Blob& blob, const Work& work);

// The events of an evented profile: take(opens, frame, at). What is no event is counted.
Result<std::uint64_t> each_event(const StoredProfile& profile,
                                 const std::function<void(bool opens, std::size_t frame, double at)>& take);
// The samples of a sampled one, root first, with their weights.
Result<std::uint64_t> each_sample(const StoredProfile& profile,
                                  const std::function<void(std::span<const std::size_t> stack, double weight)>& take);

// Nanoseconds in one of a unit; 1 for those that are no times.
double nanoseconds_of(std::string_view unit);

}  // namespace fathom::speedscope
