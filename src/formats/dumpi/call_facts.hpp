// What the events of a call tell about it besides its time: with whom it is made, and how.
#pragma once

#include "formats/dumpi/resolve.hpp"

namespace fathom::dumpi {

// The enter of a call: the communicator whose members all make it, for what is no collective event of its own (making
// communicators and windows, fences, files); an unknown peer where a receive takes a message from anybody.
void add_entry_facts(const Call& call, const Tables& tables, Event& event);
// The leave: what a probe found.
void add_exit_facts(const Call& call, const Tables& tables, Event& event);
// Counts of Alltoallv and Alltoallw that send nothing.
std::int32_t zero_counts(const Call& call);

}  // namespace fathom::dumpi
