// What commands on profiles have in common: PATH, --derive, --metric with patterns, names for people.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/session.hpp"
#include "defs/definitions.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/expression/derive.hpp"
#include "profile/profile.hpp"

namespace fathom::cli {

struct ProfileArguments {
  std::string path;
  std::vector<std::string> metrics;
  std::vector<std::string> derive;
  std::vector<std::string> cubepl;
  algebra::CutOptions hiding;
  bool full_names = false;

  void declare_path(Options& options);
  void declare_metrics(Options& options, std::string help);
  void declare_derive(Options& options);
  // --elide, --prune, --fold: contexts hidden before anything is worked out.
  void declare_hiding(Options& options);
  void declare_names(Options& options);

  // The profile of a dataset that is open already, with the metrics of --derive and --cubepl.
  [[nodiscard]] Result<ProfilePtr> open(Dataset& dataset) const;
  // The profile at `path` with these metrics.
  Result<ProfilePtr> open(Session& session) const;
  [[nodiscard]] Result<ProfilePtr> with_derived_metrics(ProfilePtr profile) const;

 private:
  [[nodiscard]] Result<ProfilePtr> without_hidden(ProfilePtr profile) const;
};

// 'NAME = TEXT' in CubePL, one after the other.
Result<ProfilePtr> with_all_cubepl(ProfilePtr profile, const std::vector<std::string>& definitions,
                                   const DerivedMetric& pattern = {});
Result<ProfilePtr> with_all_derived(ProfilePtr profile, const std::vector<std::string>& definitions);

// Metrics whose unique or display name fits one of the patterns, in the order of the patterns; none = an empty list.
// A pattern that fits nothing is an error with a suggestion.
Result<std::vector<MetricId>> choose_metrics(const Definitions& defs, const std::vector<std::string>& patterns);
// The same; without patterns the one metric that a person most likely wants: time, or else the first usable one.
Result<std::vector<MetricId>> choose_or_guess_metrics(const Profile& profile, const std::vector<std::string>& patterns);
// Contexts by the ids the file uses, ranges of them, or what they are (roots, leaves, level<N); ascending.
Result<std::vector<ContextId>> choose_contexts(const Definitions& defs, const std::vector<std::string>& wishes);
// Locations by label or pattern, ascending; without patterns all.
Result<std::vector<LocationId>> choose_locations(const Definitions& defs, const std::vector<std::string>& patterns);
// Neighbouring locations as ranges.
std::vector<IndexRange> as_ranges(const std::vector<LocationId>& locations);
// Checks that every region pattern fits at least one region.
Result<void> check_region_patterns(const Definitions& defs, const std::vector<std::string>& patterns);

// A region as people read it: demangled, template arguments shortened unless `full`.
std::string shown_name(const std::string& name, bool full);
std::string shown_metric(const Metric& metric);
void write_value(JsonWriter& json, const Value& value);

}  // namespace fathom::cli
