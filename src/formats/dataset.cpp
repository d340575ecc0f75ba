#include "formats/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/format.hpp"
#include "formats/reading_options.hpp"
#include "model/model.hpp"
#include "profile/reduce/reduce.hpp"
#include "trace/aggregate.hpp"
#include "trace/trace.hpp"

namespace fathom {

std::string_view to_string(Level level) {
  switch (level) {
    case Level::trace:
      return "trace";
    case Level::profile:
      return "profile";
    case Level::experiment:
      return "experiment";
    case Level::model:
      return "model";
  }
  return "?";
}

void describe_span(std::int64_t first_ns, std::int64_t last_ns, std::vector<InfoEntry>& entries) {
  entries.push_back({"first_ns", first_ns});
  entries.push_back({"last_ns", last_ns});
  entries.push_back({"span_ns", static_cast<std::uint64_t>(last_ns) - static_cast<std::uint64_t>(first_ns)});
}

namespace {

// Where somebody who asked for the wrong thing should look instead.
std::string_view commands_for(Level level) {
  switch (level) {
    case Level::trace:
      return "a trace is shown by 'fathom stats' and 'fathom events'";
    case Level::profile:
      return "a profile is shown by 'fathom top', 'fathom tree' and 'fathom table'";
    case Level::experiment:
    case Level::model:
      return "an experiment is shown by 'fathom model' and 'fathom table'";
  }
  return {};
}

}  // namespace

Error Dataset::no_level(Level level) const {
  std::vector<std::string_view> has;
  for (const Level l : levels()) has.push_back(to_string(l));
  auto error = Error::usage(fmt::format("{}: {} data hold no {}, only: {}", path_.string(), format_.name,
                                        to_string(level), fmt::join(has, ", ")));
  return levels().empty() ? error : std::move(error).hint(std::string(commands_for(levels().front())));
}

std::vector<Level> Dataset::offered_levels() const {
  std::vector<Level> offered = levels();
  const auto has = [&](Level level) { return std::find(offered.begin(), offered.end(), level) != offered.end(); };
  if (has(Level::trace) && !has(Level::profile)) offered.push_back(Level::profile);
  return offered;
}

Result<std::shared_ptr<const Profile>> Dataset::profile() {
  const std::vector<Level> stored = levels();
  if (std::find(stored.begin(), stored.end(), Level::trace) == stored.end()) return no_level(Level::profile);
  if (reduced_ == nullptr) {
    FATHOM_TRY(const auto events, trace());
    ReduceOptions options;
    options.name = path_.string();
    options.waits = work_->options.flag(kWaits);
    FATHOM_TRY(reduced_, reduce(*events, options, work_));
  }
  return reduced_;
}

Result<std::shared_ptr<const Trace>> Dataset::trace() { return no_level(Level::trace); }
Result<std::shared_ptr<const Experiment>> Dataset::experiment() { return no_level(Level::experiment); }
Result<std::shared_ptr<const std::vector<ModelSet>>> Dataset::models() { return no_level(Level::model); }

Result<void> Dataset::dump(const DumpOptions&, const TextSink&) {
  return Error::usage(fmt::format("{} has no text form of its native records", format_.name));
}

Result<TraceStatistics> Dataset::statistics(const StatisticsOptions& options) {
  FATHOM_TRY(const auto events, trace());
  return trace_statistics(*events, options);
}

Result<bool> Dataset::statistics_text(const StatisticsOptions&, const TextSink&) { return false; }

Result<void> Dataset::check() { return {}; }

Result<bool> Dataset::rewrite(const std::filesystem::path&, const WriteOptions&) { return false; }

}  // namespace fathom
