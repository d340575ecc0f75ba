#include "cli/company.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/budget.hpp"
#include "base/team.hpp"
#include "cli/session.hpp"
#include "formats/format.hpp"

namespace fathom::cli {

bool is_split(std::string_view command) {
  static constexpr std::array<std::string_view, 16> kSplit = {
      "check",  "convert", "critical-path", "diff",  "efficiency", "events", "index", "model",
      "reduce", "report",  "stats",         "table", "top",        "tree",   "waits", "what-if"};
  return std::find(kSplit.begin(), kSplit.end(), command) != kSplit.end();
}

bool reads_values_in_parts(const Dataset& dataset) { return dataset.format().shared.reads_values; }

Result<void> first_alone(Session& session, std::string_view what) {
  // The others may have gone already.
  FATHOM_CHECK(team().assemble("alone"));
  if (team().alone()) return {};
  if (team().first()) {
    session.note(fmt::format("{} not split between processes: the first of the {} does it alone", what, team().size()));
  }
  return first_goes_on();
}

unsigned default_threads() {
  if (team().alone()) return 0;
  const unsigned allowed = Execution().threads();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  // Launchers that bind processes to cores have dealt them out already.
  if (allowed < cores) return allowed;
  return std::max(1U, cores / team().on_this_machine());
}

std::uint64_t default_memory() { return Budget::default_limit() / team().on_this_machine(); }

}  // namespace fathom::cli
