#include "findings/call_costs.hpp"

#include "base/parallel.hpp"

namespace fathom {

using namespace analysis;

namespace {

// Which calls have to do with messages: with tiny ones alone, or with others, too.
enum : std::uint8_t { kNoMessage = 0, kTiny = 1, kOther = 2 };

void mark(std::vector<std::uint8_t>& marks, std::uint32_t call, std::int64_t bytes) {
  if (call < marks.size())
    marks[call] = std::max(marks[call], static_cast<std::uint8_t>(bytes <= kTinyBytes ? kTiny : kOther));
}

}  // namespace

Result<CallCosts> find_call_costs(const Analysis& analysis) {
  const RunCalls& run = analysis.run;
  CallCosts out;
  for (CallCost* cost : {&out.all, &out.tiny, &out.counts}) {
    cost->locations.resize(run.locations.size());
    cost->names.resize(run.names.size());
  }
  std::uint64_t counts = 0;
  std::uint64_t zero = 0;
  for (const LocationCalls& here : run.locations) {
    counts += here.counts;
    zero += here.zero_counts;
    for (const Send& half : here.sends) {
      ++out.messages;
      if (half.bytes > kTinyBytes) continue;
      ++out.tiny_messages;
      out.tiny_bytes += static_cast<double>(half.bytes);
    }
  }
  out.zero_share = counts > 0 ? static_cast<double>(zero) / static_cast<double>(counts) : 0;
  const bool look_for_tiny = out.messages > 0 && 2 * out.tiny_messages >= out.messages;
  std::vector<std::array<std::vector<double>, 3>> names(run.locations.size());
  FATHOM_CHECK(parallel_for(run.locations.size(), [&](std::size_t l) -> Result<void> {
    const LocationCalls& here = run.locations[l];
    std::vector<std::uint8_t> marks;
    if (look_for_tiny) {
      marks.resize(here.calls.size());
      for (const Send& half : here.sends) mark(marks, half.call, half.bytes);
      for (const SendDone& done : here.sends_done) {
        mark(marks, done.call, run.locations[done.location].sends[done.send].bytes);
      }
      for (const Receive& half : here.receives) {
        mark(marks, half.call, half.bytes);
        if (!is_wait(here.calls[half.call].kind) && here.calls[half.call].kind != CallKind::test) continue;
        mark(marks, half.posting, half.bytes);
      }
    }
    for (auto& list : names[l]) list.resize(run.names.size());
    const auto& waits = analysis.waits.locations[l].waits;
    for (std::uint32_t i = 0; i < here.calls.size(); ++i) {
      const Call& call = here.calls[i];
      if (is_io(call.kind) || call.kind == CallKind::init || call.entry >= run.t1) continue;
      const bool waited = call.first_wait < waits.size() && waits[call.first_wait].call == i;
      const auto ns =
          static_cast<double>(std::min(call.exit, run.t1) - call.entry - (waited ? waits[call.first_wait].length : 0));
      out.all.locations[l] += ns;
      names[l][0][call.name] += ns;
      if (look_for_tiny && marks[i] == kTiny && is_point_to_point(call.kind)) {
        out.tiny.locations[l] += ns;
        names[l][1][call.name] += ns;
      }
      if (run.names[call.name].facts.counts) {
        out.counts.locations[l] += ns;
        names[l][2][call.name] += ns;
      }
    }
    return {};
  }));
  std::array<CallCost*, 3> costs = {&out.all, &out.tiny, &out.counts};
  for (std::size_t c = 0; c < costs.size(); ++c) {
    for (std::size_t l = 0; l < run.locations.size(); ++l) {
      costs[c]->ns += costs[c]->locations[l];
      for (std::size_t n = 0; n < run.names.size(); ++n) costs[c]->names[n] += names[l][c][n];
    }
  }
  return out;
}

}  // namespace fathom
