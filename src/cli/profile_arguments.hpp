// What commands on profiles have in common: PATH, --derive, --metric with patterns, names for people.
#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "defs/definitions.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/expression/derive.hpp"
#include "profile/profile.hpp"
#include "profile/selection.hpp"

namespace fathom::cli {

struct ProfileArguments {
  std::string path;
  std::vector<std::string> metrics;
  std::vector<std::string> derive;
  std::vector<std::string> cubepl;
  algebra::CutOptions hiding;
  bool full_names = false;
  bool waits = false;

  void declare_path(Options& options, bool with_waits = true);
  static void declare_waits(Options& options, bool& target);
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

// A region as people read it: demangled, template arguments shortened unless `full`.
std::string shown_name(const std::string& name, bool full);
std::string shown_metric(const Metric& metric);
void write_value(JsonWriter& json, const Value& value);
// A column of a metric's values, and one of them as its cell; a composite's text is kept in `text` until it is added.
ColumnSpec metric_column(const Metric& metric);
TableBuilder::Cell metric_cell(const Value& value, std::string& text);

}  // namespace fathom::cli
