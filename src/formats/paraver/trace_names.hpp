// What the numbers in a trace written for Paraver mean: types and values of events, and which of them were used.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace fathom::paraver {

inline constexpr std::int64_t kCounterTypes = 42000000;      // + metric; where the community has hardware counters
inline constexpr std::int64_t kRegionTypes = 90000001;       // + paradigm; value: the innermost region, 0 = none
inline constexpr std::int64_t kChannelTypes = 91000001;      // + channel; value 0 = empty
inline constexpr std::int64_t kMarkerType = 92000001;        // value: which
inline constexpr std::int64_t kMarkerValueTypes = 93000001;  // + marker; its value
inline constexpr std::int64_t kCollectiveTypes = 94000001;   // operation, bytes sent, received, communicator, root
inline constexpr std::int64_t kCompletionType = 95000001;    // value: what was begun earlier and is over
inline constexpr std::int64_t kSampleType = 96000001;        // value: the function, 0 = none

// Parts of a collective, as offsets of its types.
enum Collective : std::int64_t { kOperation, kSent, kReceived, kCommunicator, kRoot };

// Names of types that the reader takes for what they are, when their numbers are the ones above too.
inline constexpr std::string_view kMarkerLabel = "Marker";
inline constexpr std::string_view kMarkerValueLabel = "Value of ";
inline constexpr std::string_view kCompletionLabel = "Operation that is over";
inline constexpr std::array<std::string_view, 5> kCollectiveLabels = {
    "Collective operation", "Bytes sent to a collective", "Bytes received from a collective", "Communicator",
    "Root of a collective (rank + 1)"};

class TraceNames {
 public:
  enum Kind : std::uint8_t {
    kRegion,
    kSampled,
    kCompleted,
    kCollective,
    kChannel,
    kMetric,
    kMarker,
    kValuedMarker,
    kKinds,
  };

  explicit TraceNames(const Trace& trace);

  // Notes that a name occurs; its value: 0 is nothing, so they count from 1.
  std::int64_t use(Kind kind, std::uint32_t name) {
    if (name >= used_[kind].size()) return 0;
    used_[kind][name] = true;
    return std::int64_t{name} + 1;
  }
  // One type of events per paradigm.
  [[nodiscard]] std::int64_t region_type(std::uint32_t region) const {
    return kRegionTypes + paradigm_of_region_[region];
  }
  // Channels that have a value 0 or lower are shown higher by this.
  [[nodiscard]] std::int64_t channel_shift(std::uint32_t channel) const {
    return channel < shifts_.size() ? shifts_[channel] : 0;
  }

  [[nodiscard]] std::string pcf_text() const;

 private:
  void append_regions(std::string& text, Kind kind, std::int64_t type, std::string label) const;
  void append_collectives(std::string& text) const;
  void append_channels(std::string& text) const;
  void append_markers(std::string& text) const;

  const Trace& trace_;
  std::vector<std::string> paradigms_;
  std::vector<std::uint32_t> paradigm_of_region_;
  std::vector<std::int64_t> shifts_;  // by channel
  std::vector<bool> used_[kKinds];
};

}  // namespace fathom::paraver
