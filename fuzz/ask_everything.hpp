// Everything that a command would ask of a dataset. Nothing may crash, hang or take memory beyond the budget.
#pragma once

#include <string>
#include <string_view>

#include "experiment/experiment.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "profile/expression/program.hpp"
#include "questions.hpp"
#include "trace/merge.hpp"

namespace fathom {

inline Work fuzz_work() {
  const Work work = make_work(false, std::uint64_t{256} << 20);
  work->options.set(expression::kMaxSteps, 20000);  // endless expressions must not eat the time
  return work;
}

inline void read_values(const Profile& profile) {
  const Definitions& defs = profile.defs();
  // Tables in proportion to contexts × locations are the caller's wish, not the file's; keep them small here.
  if (defs.contexts.size() * defs.system.location_count() > 100000 || defs.metrics.size() > 200) return;
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    for (const auto kind : {Flavour::Kind::stored, Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
      Selection selection;
      selection.flavour.kind = kind;
      selection.locations = all_locations(defs);
      selection.void_values = true;
      (void)compute(profile, MetricId(m), selection);
    }
  }
}

inline void read_events(const Trace& trace) {
  auto events = MergedEvents::over(trace);
  if (!events.ok()) return;
  std::string detail;
  while (const Event* event = events->next()) {
    detail.clear();
    (void)trace.detail(*event, detail);
  }
  (void)trace.messages({}, [](const Message&) { return true; });
}

// What commands ask, one by one.
inline void ask(Dataset& dataset, std::size_t question) {
  switch (question) {
    case 0:
      (void)dataset.describe(true);
      return;
    case 1:
      if (const auto profile = dataset.profile(); profile.ok()) read_values(**profile);
      return;
    case 2:
      if (const auto trace = dataset.trace(); trace.ok()) read_events(**trace);
      return;
    case 3:
      if (const auto trace = dataset.trace(); trace.ok()) (void)dataset.statistics({});
      return;
    case 4:
      if (const auto experiment = dataset.experiment(); experiment.ok()) (void)dataset.models();
      return;
    case 5:
      (void)dataset.check();
      return;
    default:
      (void)dataset.dump({}, [](std::string_view) { return true; });
  }
}
constexpr std::size_t kQuestions = 7;

inline void ask_everything(Dataset& dataset, std::string_view input) {
  const Questions questions(input, kQuestions);
  for (std::size_t question = 0; question < kQuestions; ++question) {
    if (questions.asks(question)) ask(dataset, question);
  }
}

}  // namespace fathom
