// From level 1 to level 2: a trace as a profile. One pass over every location, in parallel; memory for the contexts
// that occur and one buffer of events per thread. The result does not depend on the number of threads.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom {

// What a call that moves data is told apart by, as contexts below it.
enum class MessageSplit : std::uint8_t { none, communicator, peer, size };

struct ReduceOptions {
  // Only this part of the trace. A region that is open where it begins counts with its time, not as a visit.
  TimeWindow window;
  // That many equal parts of the window, each a location of its own beside the others of the same thread.
  std::uint32_t parts = 1;
  // What a location does is told by these channels, outermost first, instead of regions and samples. Empty = by regions
  // and samples, or by Trace::activity_channels() where there are any.
  std::vector<ChannelId> channels;
  MessageSplit split = MessageSplit::none;
  // Wait states, delay costs and the critical path as further metrics; of the whole trace only.
  bool waits = false;
  std::string name;  // of the profile, for messages
};

// The metrics, where the trace tells them: time, visits, cpu_time, bytes_sent, bytes_received, messages_sent,
// messages_received, samples, and its counters under their own names (differences between readings). A location lasts
// from its first to its last event; its exclusive times sum to that span. Time outside of all regions is the root
// "compute", below which library calls stand that nothing else calls. A sample counts until the next one. With `waits`
// also what wait_metrics.hpp lists, as far as it occurs: critical_path, delay..., and below time mpi with its parts.
Result<ProfilePtr> reduce(const Trace& trace, const ReduceOptions& options, const Work& work);

// A channel by its name or title; an error with a suggestion otherwise.
Result<ChannelId> find_channel(const Trace& trace, std::string_view name);
// First and last time of the locations, by a pass over those that do not know theirs; nothing = no event has a time.
Result<std::vector<std::optional<TimeWindow>>> location_spans(const Trace& trace);

}  // namespace fathom
