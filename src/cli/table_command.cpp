// fathom table: raw values, exact, as rows of (metric, context, path, location, value).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/experiment_table.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/reading_options.hpp"
#include "profile/compute.hpp"
#include "profile/expression/derive.hpp"
#include "profile/stored_flavour.hpp"
#include "profile/system_groups.hpp"
#include "profile/value_table.hpp"
#include "profile/views.hpp"

namespace fathom::cli {

namespace {

class TableCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options, false);
    arguments_.declare_metrics(options, "only metrics of this name; patterns with * and ?; may be repeated");
    options.flag("--inclusive", inclusive_, "values of whole subtrees")
        .flag("--exclusive", exclusive_, "values of contexts without what they call")
        .value("--scope", "NAME", &scope_, "a flavour as the format names it (HPCToolkit: point, function, …)")
        .flag("--metric-exclusive", metric_exclusive_, "values of metrics without those of the metrics below them")
        .values("--context", "ID", contexts_,
                "only these contexts, by the ids the file uses: 3, 0,5-10, roots, leaves, level<2; by region: "
                "name=/regular expression/; may be repeated")
        .values("-r,--region", "R", regions_, "only contexts of regions of this name; patterns")
        .values("-l,--location", "ID", locations_, "only this location, by the id the file uses; patterns")
        .choice("--by", by_, {"location", "thread", "process", "rank", "node"},
                "values of threads (the default), or together per process or node, whose name stands for the location")
        .flag("--total", total_, "one row per metric: the roots (or --context), all locations together")
        .flag("--zeros", zeros_, "also values that are zero or absent")
        .flag("--summary", summary_, "also the statistics that the file stores")
        .flag("--no-path", no_path_, "without the column of call paths, which is most of the text of a deep tree");
    arguments_.declare_derive(options);
    reading_.declare(options);
    arguments_.declare_hiding(options);
    options
        .about(
            "Values are as stored unless a flavour is asked for, and print so that they read back to the same value. "
            "Zero values are left out. Of an experiment these are the means of the repetitions; the point stands for "
            "the location.")
        .example("fathom table profile.cubex --csv --metric time --inclusive", "inclusive times as CSV")
        .example("fathom table profile.cubex --total --inclusive", "one number per metric")
        .example("fathom table profile.cubex --region 'MPI_*' --location 0 --json", "what location 0 did in MPI");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(check_flavour());
    FATHOM_CHECK(reading_.apply(*session.work()));
    FATHOM_TRY(DatasetPtr opened, session.open(arguments_.path));
    reading_.tell_unused(session, *opened);
    Dataset& dataset = session.keep(std::move(opened));
    const auto levels = dataset.levels();
    if (std::find(levels.begin(), levels.end(), Level::profile) == levels.end() &&
        std::find(levels.begin(), levels.end(), Level::experiment) != levels.end()) {
      if (inclusive_ || exclusive_ || !scope_.empty() || total_) {
        return Error::usage("an experiment has one value per call path and point: no flavours, no totals")
            .hint("--use-inclusive-measurements reads inclusive values from runs");
      }
      FATHOM_CHECK(first_alone(session, "a table of an experiment is"));
      FATHOM_TRY(const auto experiment, dataset.experiment());
      return write_experiment_table(session, *experiment,
                                    {arguments_.metrics, contexts_, regions_, locations_, zeros_, summary_, no_path_});
    }
    if (!session.csv() && !session.json() && !(total_ && reads_values_in_parts(dataset))) {
      FATHOM_CHECK(first_alone(session, "a table for people is"));
    }
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(dataset));
    const Definitions& defs = profile->defs();
    FATHOM_TRY(std::vector<MetricId> metrics, choose_metrics(defs, arguments_.metrics));
    if (arguments_.metrics.empty()) {
      for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
        if (!only_when_named(defs.metrics[i])) metrics.emplace_back(i);
      }
    }
    FATHOM_TRY(metrics, usable_only(*profile, metrics));
    FATHOM_TRY(auto chosen_contexts, contexts(defs));
    FATHOM_TRY(auto chosen_locations, choose_locations(defs, locations_));
    const bool statistics = profile->statistics_are_columns ? locations_.empty() : summary_;
    if (statistics && !profile->statistics) session.note("the file stores no statistics");
    std::vector<SystemGroup> groups;
    if (const SystemLevel level = *system_level(by_); level != SystemLevel::thread) {
      groups = system_groups(defs.system, level, chosen_locations);
    }
    const auto values = value_table(profile, {.metrics = std::move(metrics),
                                              .contexts = std::move(chosen_contexts),
                                              .locations = std::move(chosen_locations),
                                              .groups = std::move(groups),
                                              .flavour = flavour_,
                                              .metric_exclusive = metric_exclusive_,
                                              .total = total_,
                                              .zeros = zeros_,
                                              .statistics = statistics});
    FATHOM_CHECK(show_values(session, *values, no_path_));
    return kDone;
  }

 private:
  [[nodiscard]] Result<void> check_flavour() {
    if (int(inclusive_) + int(exclusive_) + int(!scope_.empty()) > 1) {
      return Error::usage("--inclusive, --exclusive and --scope exclude each other");
    }
    if (inclusive_) flavour_.kind = Flavour::Kind::inclusive;
    if (exclusive_) flavour_.kind = Flavour::Kind::exclusive;
    if (!scope_.empty()) flavour_ = {Flavour::Kind::named, scope_};
    return {};
  }

  // Metrics whose values cannot be had are left out with a warning; when nothing else was asked for that is an error.
  [[nodiscard]] Result<std::vector<MetricId>> usable_only(const Profile& profile,
                                                          const std::vector<MetricId>& metrics) const {
    std::vector<MetricId> usable;
    std::vector<std::pair<std::string, std::string>> left_out;  // name, why
    for (const MetricId id : metrics) {
      const std::string why = why_unavailable(profile, id, flavour_);
      if (why.empty()) {
        usable.push_back(id);
      } else {
        const std::string& name = profile.defs().metric(id).name;
        left_out.emplace_back(name, fmt::format("metric '{}' {}", name, why));
      }
    }
    // A scope that nothing has is a mistake in the command.
    const bool in_vain = metrics.size() == 1 || flavour_.kind == Flavour::Kind::named;
    if (in_vain && usable.empty() && !left_out.empty()) {
      return Error(left_out.front().second, Place::in(profile.name));
    }
    for (const auto& [name, why] : left_out) {
      FATHOM_CHECK(profile.work->diagnostics.warn(fmt::format("profile.metric_left_out.{}", name),
                                                  Place::in(profile.name), why));
    }
    return usable;
  }

  // Rows in order; all when nothing is asked for.
  [[nodiscard]] Result<std::optional<std::vector<ContextId>>> contexts(const Definitions& defs) const {
    if (contexts_.empty() && regions_.empty()) return std::optional<std::vector<ContextId>>();
    FATHOM_TRY(std::vector<ContextId> chosen, choose_contexts(defs, contexts_));
    if (regions_.empty()) return std::optional(std::move(chosen));
    FATHOM_CHECK(check_region_patterns(defs, regions_));
    const ContextFilter wanted = region_filter(defs, regions_);
    std::vector<ContextId> out;
    if (contexts_.empty()) {
      for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
        if (wanted(ContextId(i))) out.emplace_back(i);
      }
    } else {
      std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(out), wanted);
    }
    return std::optional(std::move(out));
  }

  ProfileArguments arguments_;
  std::vector<std::string> contexts_;
  std::vector<std::string> regions_;
  std::vector<std::string> locations_;
  std::string scope_;
  std::string by_ = "location";
  bool inclusive_ = false;
  bool exclusive_ = false;
  bool metric_exclusive_ = false;
  bool total_ = false;
  bool zeros_ = false;
  bool summary_ = false;
  bool no_path_ = false;
  ReadingOptions reading_;

  Flavour flavour_;
};

}  // namespace

std::unique_ptr<Command> make_table_command() { return std::make_unique<TableCommand>(); }

}  // namespace fathom::cli
