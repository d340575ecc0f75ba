// Which call posted a receive: with several threads it may be another one's than the one that completes it.
#include <algorithm>

#include "trace/analysis/calls.hpp"
#include "trace/analysis/team_lists.hpp"

namespace fathom::analysis {

namespace {

CallPlace entered_at(const RunCalls& run, const Posted& posted) {
  for (const std::uint32_t location : run.processes[posted.process]) {
    const std::uint32_t call = run.locations[location].entered_at(posted.time);
    if (call != kNone) return {location, call};
  }
  return {};
}

}  // namespace

CallPlace RunCalls::posting_call(const Send& half) const {
  if (half.posting != kNone) return {half.receiver, half.posting};
  const Posted posted{locations[half.receiver].process, half.posted};
  if (!apart()) return entered_at(*this, posted);
  const auto found = std::lower_bound(posters.begin(), posters.end(), posted,
                                      [](const auto& entry, const Posted& wanted) { return entry.first < wanted; });
  return found == posters.end() || found->first != posted ? CallPlace{} : found->second;
}

Result<void> find_posters(RunCalls& run) {
  if (!run.apart()) return {};
  Lists<Posted> asked(team().size());
  std::int64_t many = 0;
  for (const LocationCalls& here : run.locations) {
    for (const Send& half : here.sends) {
      if (!half.matched() || half.posting != kNone) continue;
      const std::uint32_t process = run.locations[half.receiver].process;
      asked[run.owners[process]].push_back({process, half.posted});
      ++many;
    }
  }
  FATHOM_TRY(const auto all, team().sum({many}));
  if (all[0] == 0) return {};
  FATHOM_TRY(const auto questions, exchange_lists(std::move(asked)));
  Lists<std::pair<Posted, CallPlace>> answers(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const Posted& posted : questions[i]) {
      const CallPlace place = entered_at(run, posted);
      if (place.call != kNone) answers[i].emplace_back(posted, place);
    }
  }
  FATHOM_TRY(const auto told, exchange_lists(std::move(answers)));
  for (const auto& list : told) run.posters.insert(run.posters.end(), list.begin(), list.end());
  // Questions about one receive have one answer.
  std::sort(run.posters.begin(), run.posters.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return {};
}

}  // namespace fathom::analysis
