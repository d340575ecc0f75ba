// The table of clock offsets: what has to be added to the clocks of each host.
#pragma once

#include <optional>

#include "base/work.hpp"
#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

struct HostOffset {
  std::int64_t rank = 0;
  std::string host;
  double median = 0;
  double mean = 0;
  double deviation = 0;
};

// A header line (skipped whatever it says), then: rank host median mean deviation. Errors: wrong fields, a host twice,
// no entry at all.
Result<std::vector<HostOffset>> read_offsets(const Blob& table);
std::string offsets_text(const std::vector<HostOffset>& offsets);

// Samples taken at the same moments on all ranks, one per line: rank host clock_ns. Offsets against the lowest rank;
// only the first rank of every host is listed.
Result<std::vector<HostOffset>> offsets_from_samples(const Blob& samples);

// The part of a loom's name before the first dot.
std::string host_of(std::string_view loom);

// What is added to every stream's clock. Hosts that the trace does not know are an error.
Result<std::vector<std::int64_t>> stream_offsets(const NativeTrace& trace, const std::vector<HostOffset>& offsets,
                                                 const Place& place);

// Of the trace itself: its clock-offsets.txt when there is one, otherwise none.
Result<std::vector<std::int64_t>> own_offsets(const NativeTrace& trace, const Work& work);

// First events more than an hour apart, with offsets applied, mean that the clocks of two nodes were never brought
// together: an error that says so, or nothing.
std::optional<Error> find_clock_gap(const NativeTrace& trace, const std::vector<std::int64_t>& offsets);

}  // namespace fathom::ovni
