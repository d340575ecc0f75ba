#include "findings/trace_texts.hpp"

#include <fmt/format.h>

#include <map>

#include "base/number.hpp"
#include "base/text.hpp"

namespace fathom {

namespace {

std::string seconds(double s) { return readable(s, "sec"); }
std::string share(double part) { return fmt::format("{:.3g} %", part * 100); }

struct Sentences {
  std::string text;
  std::string advice;
};

std::string in_region(const Finding& finding) {
  return finding.where.region.empty() ? std::string() : fmt::format(" in {}", finding.where.region);
}
// The call that waits for the culprits themselves: who waits for the victims in turn may do so elsewhere.
std::string in_root(const TextNumbers& n) { return n.region.empty() ? std::string() : fmt::format(" in {}", n.region); }

// The region in which culprits compute most of what makes others wait; empty where there is none.
std::string computed_in(const Finding& finding, const TextNumbers& n) {
  constexpr double kMost = 0.5;
  if (finding.where.callpath.empty() || n.callpath_share < kMost) return {};
  const auto last = finding.where.callpath.rfind("->");
  return shorten_name(last == std::string::npos ? finding.where.callpath : finding.where.callpath.substr(last + 2), 60);
}
// " in solve"
std::string in_computed(const Finding& finding, const TextNumbers& n) {
  const std::string region = computed_in(finding, n);
  return region.empty() ? region : " in " + region;
}
// ", most of that in solve"
std::string in_callpath(const Finding& finding, const TextNumbers& n) {
  const std::string in = in_computed(finding, n);
  return in.empty() ? in : ", most of that" + in;
}

// What the culprits do meanwhile: "computes in solve", "are in other MPI calls".
std::string doing(const Finding& finding, const TextNumbers& n) {
  const bool several = finding.culprits.list.size() + finding.culprits.more != 1;
  if (finding.where.activity == "io") return several ? "read or write files" : "reads or writes files";
  if (finding.where.activity == "mpi") return several ? "are in other MPI calls" : "is in other MPI calls";
  return (several ? "compute" : "computes") + in_computed(finding, n);
}
// ", which computes in solve"; empty where that is not known.
std::string which_computes(const Finding& finding, const TextNumbers& n) {
  return computed_in(finding, n).empty() ? std::string() : ", which " + doing(finding, n);
}

Sentences load_imbalance(const Finding& f, const TextNumbers& n, const std::string& who, const std::string& lost) {
  return {fmt::format("{} computes {} longer than the average rank{}, and the others wait{} for it: {} lost.", who,
                      share(n.excess), in_callpath(f, n), in_region(f), lost),
          n.node.empty()
              ? fmt::format("Move work away from {}: {} has {} more than its share.", who,
                            f.culprits.list.size() == 1 ? "it" : "the first one", seconds(n.excess_s))
              : fmt::format("Move work away from {}, or look at node {}, which they share: the first one has "
                            "{} more than its share.",
                            who, n.node, seconds(n.excess_s))};
}

Sentences tiny_messages(const Finding&, const TextNumbers& n, const std::string& lost) {
  const std::string what = n.per_step > 1 ? fmt::format("about {:.0f} per rank and step", n.per_step)
                                          : fmt::format("{} of them", grouped(n.messages));
  return {fmt::format("Most messages are tiny ({:.3g} bytes on average, {}), and sending them one by one costs {}.",
                      n.mean_bytes, what, lost),
          "Combine what goes to the same rank in the same step into one message."};
}

Sentences slow_iteration(const Finding& f, const TextNumbers& n, const std::string& who, const std::string& lost) {
  const std::size_t count = f.where.iterations.size();
  const std::string steps = count == 1
                                ? fmt::format("Step {}", f.where.iterations[0])
                                : fmt::format("{} steps, the first of them step {},", count, f.where.iterations[0]);
  const std::string take = count == 1 ? "takes" : "take up to";
  if (f.culprits.list.empty()) {
    return {
        fmt::format("{} {} {} instead of {} on all ranks alike: {} lost.", steps, take, seconds(n.slow_s),
                    seconds(n.median_s), lost),
        "Find out what happened to all ranks at this time: a checkpoint, the file system, the network, another job."};
  }
  return {fmt::format("{} {} {} instead of {} because {} {} late{}: {} lost.", steps, take, seconds(n.slow_s),
                      seconds(n.median_s), who, f.culprits.list.size() == 1 ? "is" : "are", in_callpath(f, n), lost),
          fmt::format("Find out what happened on {} at this time: input or output, the node, memory, another program.",
                      who)};
}

}  // namespace

void write_trace_texts(Finding& f, const TextNumbers& n) {
  const std::string who = ranks_text(f.culprits);
  std::string Who = who;
  if (!Who.empty()) Who[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(Who[0])));
  const bool several = f.culprits.list.size() + f.culprits.more != 1;
  const std::string lost = fmt::format("{} ({} of all time)", seconds(f.lost_s), share(f.severity));
  const std::string waiting = n.region.empty() ? f.where.region : n.region;
  const std::string region = waiting.empty() ? std::string("calls") : waiting;
  Sentences s;
  if (f.kind == "load_imbalance") {
    s = load_imbalance(f, n, Who, lost);
    s.advice = s.advice.replace(s.advice.find(Who), Who.size(), who);
    if (several) {
      s.text = fmt::format(
          "{} compute longer than the average rank, the first by {}{}, and the others wait{} for them: {} lost.", Who,
          share(n.excess), in_callpath(f, n), in_region(f), lost);
    }
  } else if (f.kind == "alternating_imbalance" && n.region == "MPI_Finalize") {
    s = {fmt::format("At the end of the run ranks wait in MPI_Finalize for {}, which {} last though {} no more "
                     "than the average: {} lost.",
                     who, several ? "come" : "comes", several ? "they compute" : "it computes", lost),
         fmt::format("Look at what {} still {} when the others are done.", who, several ? "do" : "does")};
  } else if (f.kind == "alternating_imbalance") {
    s = {fmt::format("In each step another rank is late{} and the others wait for it{}, though none of these computes "
                     "more than the average in total: {} lost.",
                     in_callpath(f, n).empty() ? "" : fmt::format(" because it computes longer{}", in_computed(f, n)),
                     in_region(f), lost),
         "Balance each step rather than the sum, or let ranks meet less often, so that lucky and unlucky steps even "
         "out."};
  } else if (f.kind == "late_sender") {
    s = {fmt::format("Ranks wait{} for messages of {}, which {} before sending them: {} lost.", in_root(n), who,
                     doing(f, n), lost),
         f.where.activity == "mpi"
             ? std::string(
                   "Look at the calls before these messages are sent: fewer of them, or nonblocking ones, let them "
                   "leave earlier.")
             : fmt::format("Send first and compute then: let {} call MPI_Isend as soon as the data are there.", who)};
  } else if (f.kind == "late_receiver") {
    const std::string which = which_computes(f, n);
    s = {fmt::format("Senders of large or synchronous messages wait{} until {}{}{} {} to receive them: {} lost.",
                     in_root(n), who, which, which.empty() ? "" : ",", several ? "are ready" : "is ready", lost),
         fmt::format("Post the receives (MPI_Irecv) on {} before computing.", who)};
  } else if (f.kind == "wrong_order") {
    s = {fmt::format("{} {} messages in a fixed order and {} for one that is not there while others are, and all that "
                     "follows waits as well: {} lost.",
                     Who, several ? "take" : "takes", several ? "wait" : "waits", lost),
         "Receive in the order of arrival: MPI_Waitany over all receives, or MPI_ANY_SOURCE."};
  } else if (f.kind == "serialisation") {
    s = {fmt::format(
             "Ranks work{} one after the other, each waiting{} for a message of the one before: {} lost, {:.3g} ranks "
             "work at a time.",
             in_computed(f, n), in_root(n), lost, n.concurrency),
         "Cut the sweep into more and smaller pieces, so that the next rank can begin while this one goes on."};
  } else if (f.kind == "master_worker") {
    s = {fmt::format("All ranks wait{} for {}, which serves them one after the other: {} lost.", in_region(f), who,
                     lost),
         fmt::format("Hand out larger tasks or several at once, or use several masters: serving one request takes {}.",
                     seconds(n.service_s))};
  } else if (f.kind == "io_serialisation") {
    s = {fmt::format("The others wait{} while {} {} files: {} lost.", in_region(f), who,
                     several ? "read or write" : "reads or writes", lost),
         "Let all ranks read or write their part (MPI_File_*_all), overlap it with computation, or do it less often."};
  } else if (f.kind == "early_reduce") {
    s = {fmt::format("The root of {} waits for {}{}: {} lost.", region, who, which_computes(f, n), lost),
         fmt::format(
             "Let {} come to the call earlier and do work behind it, or use the nonblocking form and let the root "
             "compute meanwhile.",
             who)};
  } else if (f.kind == "late_broadcast") {
    s = {fmt::format("All ranks wait in {} for the root, {}, which {} before it: {} lost.", region, who, doing(f, n),
                     lost),
         "Move work of the root behind the call, or use the nonblocking form and compute meanwhile."};
  } else if (f.kind == "early_scan") {
    s = {fmt::format("Ranks wait in {} for {}, which {} before the call and {} before them in the scan: {} lost.",
                     region, who, doing(f, n), several ? "come" : "comes", lost),
         fmt::format("Move work of {} behind the call, or use the nonblocking form and compute meanwhile.", who)};
  } else if (f.kind == "slow_iteration") {
    s = slow_iteration(f, n, who, lost);
  } else if (f.kind == "tiny_messages") {
    s = tiny_messages(f, n, lost);
  } else if (f.kind == "no_overlap") {
    s = {fmt::format("Large messages move only inside of {} although both sides were ready before: {} lost.", region,
                     lost),
         "Let the library work during computation: a progress thread, MPI_Test now and then, or smaller pieces."};
  } else if (f.kind == "sparse_alltoall") {
    s = {fmt::format("{} of the parts that {} exchanges are empty, and handling them costs {}.", share(n.zero_share),
                     region, lost),
         "Exchange with those that have data only: point-to-point messages or a neighbourhood collective."};
  } else if (f.kind == "communication") {
    s = {fmt::format("Moving data, without any waiting, costs {}, most of it{}.", lost, in_region(f)),
         "Send less or less often, combine messages, or place ranks that talk much on the same node."};
  } else if (f.kind == "wait_io") {
    s = {fmt::format("Before they use a file together, ranks wait in {} for {}, which still {}: {} lost.", region, who,
                     doing(f, n), lost),
         "Let ranks come to the call together, or use independent or nonblocking file operations."};
  } else if (f.kind == "wait_fence") {
    s = {fmt::format("Ranks wait in {} for {}, which still {}: {} lost.", region, who, doing(f, n), lost),
         "Use fences less often, or synchronise only those that exchange data (post, start, complete, wait)."};
  } else if (f.kind == "lock_contention") {
    s = {fmt::format("Ranks wait in {} for the lock of a window that {} {}: {} lost.", region, who,
                     several ? "hold" : "holds", lost),
         "Do less between MPI_Win_lock and MPI_Win_unlock, or use shared locks where ranks only read."};
  } else if (f.kind == "late_post") {
    s = {fmt::format("Ranks that want to put or get data wait in {} until {}, which still {}, {} the window "
                     "(MPI_Win_post): {} lost.",
                     region, who, doing(f, n), several ? "open" : "opens", lost),
         fmt::format("Let {} call MPI_Win_post before computing.", who)};
  } else if (f.kind == "early_wait") {
    s = {fmt::format("Ranks wait in {} until {}, which still {}, {} the access to their windows (MPI_Win_complete): {} "
                     "lost.",
                     region, who, doing(f, n), several ? "end" : "ends", lost),
         fmt::format("Let {} call MPI_Win_complete as soon as the data are moved, and compute then.", who)};
  } else {
    s = {fmt::format("Ranks wait in {} for {}: {} lost.", region, who, lost),
         "Let both sides come to the call together."};
  }
  f.text = std::move(s.text);
  f.advice = std::move(s.advice);
}

}  // namespace fathom
