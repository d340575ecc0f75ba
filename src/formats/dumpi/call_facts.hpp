// What the events of a call tell about it besides its time: with whom it is made, and how.
#pragma once

#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

// The enter of a call: the communicator whose members all make it, for what is no collective event of its own (making
// communicators and windows, fences, files); an unknown peer where a receive takes a message from anybody.
void add_facts_of_others(const Call& call, const Tables& tables, Event& event);
inline void add_entry_facts(const Call& call, const Tables& tables, Event& event) {
  if (call.id == ids::kRecv || call.id == ids::kIrecv) {
    constexpr std::int32_t kAnySource = -1;
    if (PointToPoint(call, false).peer == kAnySource) event.peer = kUnknownPeer;
  } else if (call.id >= ids::kSendInit) {
    add_facts_of_others(call, tables, event);
  }
}
// The leave: what a probe found.
void add_probed(const Call& call, const Tables& tables, Event& event);
inline void add_exit_facts(const Call& call, const Tables& tables, Event& event) {
  constexpr std::uint16_t kProbe = 23;
  if (call.id == kProbe) add_probed(call, tables, event);
}
// Counts of Alltoallv and Alltoallw that send nothing.
std::int32_t zero_counts(const Call& call);

}  // namespace fathom::dumpi
