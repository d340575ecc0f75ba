#include "formats/dumpi/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/share_out.hpp"
#include "formats/dumpi/dumpi_trace.hpp"

namespace fathom::dumpi {

namespace {

Result<void> check_footer(const File& file, const ScanResult& scan, const Work& work) {
  if (!file.sections().has(Section::footer)) return {};
  const Footer& footer = file.sections().footer;
  for (std::size_t id = 0; id < kFunctions; ++id) {
    const std::uint32_t expected = footer.called[id] - footer.ignored[id];
    if (expected == scan.per_function[id]) continue;
    FATHOM_CHECK(work->diagnostics.warn(
        "dumpi.footer_count", file.place(scan.end),
        fmt::format("the footer counts {} recorded calls of {} ({} called, {} ignored), the stream holds {}", expected,
                    functions()[id].name, footer.called[id], footer.ignored[id], scan.per_function[id])));
  }
  return {};
}

Result<void> check_calls(const File& file, const ScanResult& scan, const Work& work) {
  std::unordered_map<std::uint16_t, std::int64_t> last_stop;
  Result<void> outcome;
  const std::size_t labels = file.sections().counters.size();
  for (const Chunk& chunk : scan.chunks) {
    for_each_call(file, chunk, [&](const Call& call) {
      const auto note = [&](std::string_view id, std::string text) {
        outcome = work->diagnostics.warn(id, file.place(call.offset), std::move(text));
      };
      if (call.has_wall()) {
        if (call.wall_stop_ns < call.wall_start_ns) {
          note("dumpi.negative_time", fmt::format("{} returns before it was entered", call.name()));
        }
        const auto [it, is_new] = last_stop.try_emplace(call.thread, call.wall_stop_ns);
        if (!is_new && outcome.ok()) {
          if (call.wall_start_ns < it->second) {
            note("dumpi.overlap", fmt::format("{} is entered before the call before it has returned (thread {})",
                                              call.name(), call.thread));
          }
          it->second = call.wall_stop_ns;
        }
      }
      if (outcome.ok() && (call.mask & 0x30) != 0) {
        note("dumpi.mask", fmt::format("the mask {:#04x} has bits that mean nothing", call.mask));
      }
      if (outcome.ok() && (call.mask & kMaskCounters) != 0 && call.counter_count != labels && !file.cut_off()) {
        note("dumpi.counter_count",
             fmt::format("a record has {} counters, the file names {}", call.counter_count, labels));
      }
      const Function& function = call.function();
      for (std::size_t i = 0; i < function.argument_count && outcome.ok(); ++i) {
        const Argument& argument = function.argument[i];
        if (argument.shape != Shape::array || argument.length < 0 || argument.type == Type::status) continue;
        if (!call.present(i)) continue;
        const std::int64_t said = call.integer(static_cast<std::size_t>(argument.length));
        const std::int64_t is = call.values(i).size();
        // Nothing active: the count is MPI_UNDEFINED and the list is empty.
        if (said == is || (is == 0 && said < 0)) continue;
        note("dumpi.array_count",
             fmt::format("{}: {} is {}, but {} has {} entries", call.name(),
                         function.argument[static_cast<std::size_t>(argument.length)].name, said, argument.name, is));
      }
      return outcome.ok();
    });
    if (!outcome.ok()) return outcome;
  }
  return outcome;
}

}  // namespace

Result<void> check_set(const std::shared_ptr<const RankSet>& set) {
  FATHOM_TRY(const auto* scans, set->scans());
  const auto check_rank = [&](std::size_t i) -> Result<void> {
    FATHOM_CHECK(check_footer(set->files()[i].file, (*scans)[i], set->work()));
    return check_calls(set->files()[i].file, (*scans)[i], set->work());
  };
  const auto bytes = [&](std::size_t i) { return set->files()[i].file.size(); };
  FATHOM_CHECK(share_each("checking", set->files().size(), bytes, check_rank));
  const auto version = set->files().front().file.sections().header.version;
  for (const RankFile& rank : set->files()) {
    if (!rank.file.sections().has(Section::header) || rank.file.sections().header.version == version) continue;
    FATHOM_CHECK(set->work()->diagnostics.warn("dumpi.mixed_versions", rank.file.place(0),
                                               "the ranks were written by tracers of different versions"));
    break;
  }
  // Communicators that do not resolve and messages without a partner are noticed on the way.
  FATHOM_TRY(const auto trace, DumpiTrace::make(set));
  // CPU times are nobody else's.
  const bool timed = std::all_of(scans->begin(), scans->end(), [](const ScanResult& scan) { return scan.any_wall; });
  std::uint64_t impossible = 0;
  FATHOM_CHECK(trace->messages({}, [&](const Message& message) {
    impossible += message.sent_ns && message.received_ns && *message.received_ns < *message.sent_ns ? 1 : 0;
    return true;
  }));
  if (impossible == 0 || !timed) return {};
  return set->work()->diagnostics.add(
      "dumpi.impossible_order", Severity::warning, Place::in(set->files().front().file.name()),
      "a message is received before it is sent: the clocks of the ranks do not agree", impossible);
}

}  // namespace fathom::dumpi
