#include "trace/analysis/analysis.hpp"

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/self_profile.hpp"
#include "base/team.hpp"

namespace fathom::analysis {

namespace {

Result<void> report_gaps(const RunCalls& run, const Work& work) {
  std::uint64_t in_files = run.pool->in_files();
  if (run.apart()) {
    FATHOM_TRY(const auto all, team().sum({static_cast<std::int64_t>(in_files)}));
    in_files = static_cast<std::uint64_t>(all[0]);
  }
  if (work == nullptr) return {};
  if (!run.missing.empty()) {
    std::string ranks;
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < run.missing.size() && i < kShown; ++i) {
      ranks += fmt::format("{}{}", i > 0 ? ", " : "", run.missing[i]);
    }
    if (run.missing.size() > kShown) ranks += fmt::format(" and {} more", run.missing.size() - kShown);
    FATHOM_CHECK(work->diagnostics.add(
        "analysis.missing_ranks", Severity::warning, Place{},
        fmt::format("ranks are missing ({}): waiting for them is not seen, all waiting times are lower bounds",
                    ranks)));
  }
  if (run.cut) {
    FATHOM_CHECK(work->diagnostics.add(
        "analysis.cut", Severity::warning, Place{},
        fmt::format("the trace is cut off: only the {:.6g} s until the first stream ends are looked at",
                    static_cast<double>(run.runtime()) * 1e-9)));
  }
  if (in_files > 0) {
    constexpr double kMiB = 1048576;
    work->diagnostics.info("analysis.spilled", Place{},
                           fmt::format("{:.0f} MiB of the analysis are in temporary files, to stay within the memory",
                                       static_cast<double>(in_files) / kMiB));
  }
  return {};
}

template <class Body>
auto in_phase(std::string_view name, const Body& body) {
  const fathom::Phase phase(name);
  return body();
}

}  // namespace

std::array<double, kActivities> Analysis::mean_activity() const {
  std::array<double, kActivities> sums{};
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    const LocationCalls& here = run.locations[l];
    if (here.calls.empty()) continue;
    double io = 0;
    for (const Call& call : here.calls) {
      if (is_io(call.kind) && run.counts(call)) io += static_cast<double>(call.exit - call.entry);
    }
    const double useful = useful_time(run, l, run.t0, run.t1);
    const double waited_io = static_cast<double>(waits.locations[l].ns[static_cast<std::size_t>(WaitKind::wait_io)]);
    const double waited = static_cast<double>(waits.locations[l].total());
    sums[0] += useful;
    sums[1] += static_cast<double>(run.t1 - here.calls[0].entry) - useful - io - (waited - waited_io);
    sums[2] += io - waited_io;
  }
  for (double& sum : sums) sum /= static_cast<double>(std::max<std::size_t>(run.present(), 1));
  return sums;
}

Result<std::unique_ptr<Analysis>> analyse(const Trace& trace, const Work& work, Depth depth) {
  const fathom::Phase phase("analyse");
  // What waits for whom, ends of messages and parts in collectives tell; the chain of causes is in the calls of all.
  const bool causes = depth != Depth::waits;
  FATHOM_TRY(RunCalls calls,
             in_phase("read calls", [&] { return read_calls(trace, work, causes ? Kept::by_first : Kept::apart); }));
  if (calls.present() == 0) {
    return Error::usage(
        "this trace has no calls of a message-passing library with times: there are no wait states in it");
  }
  auto out = std::make_unique<Analysis>(std::move(calls));
  RunCalls& run = out->run;
  FATHOM_CHECK(set_time_base(run));
  FATHOM_CHECK(in_phase("match messages", [&] { return match_messages(run); }));
  FATHOM_TRY(out->instances, in_phase("find collectives", [&] { return find_instances(run); }));
  FATHOM_CHECK(in_phase("compare clocks", [&] { return correct_clocks(run, out->instances, work); }));
  FATHOM_CHECK(in_phase("find eager limit", [&] { return find_eager_limit(run); }));
  FATHOM_CHECK(find_posters(run));
  FATHOM_CHECK(find_window_needs(run));
  FATHOM_TRY(out->waits, in_phase("find waits", [&] { return find_waits(run, out->instances, causes); }));
  if (causes) {
    out->intervals = std::make_unique<Intervals>(run, out->waits);
    // Independent of each other, each one after the other inside.
    FATHOM_CHECK(parallel_for(4, [&](std::size_t i) -> Result<void> {
      if (i == 0) {
        FATHOM_TRY(out->delays, in_phase("find delays", [&] { return find_delays(run, out->waits, *out->intervals); }));
      } else if (i == 1) {
        out->path = in_phase("find critical path", [&] { return find_critical_path(run, out->waits); });
      } else if (depth == Depth::causes) {
        return {};
      } else if (i == 2) {
        FATHOM_TRY(const auto ideal, in_phase("replay", [&] { return replay(run, out->waits, out->instances, {}); }));
        out->efficiencies = run_efficiencies(run, ideal);
        out->iterations = in_phase("find iterations", [&] { return find_iterations(run); });
      } else {
        out->pattern = in_phase("find pattern", [&] { return find_pattern(run); });
      }
      return {};
    }));
  }
  FATHOM_CHECK(report_gaps(run, work));
  return out;
}

}  // namespace fathom::analysis
