// fathom groups: values by kind of region.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>

#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "io/file.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"
#include "profile/absent.hpp"
#include "profile/aggregate.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/views.hpp"

namespace fathom::cli {

namespace {

using Values = std::vector<std::optional<double>>;  // by metric; nothing: no value
using RegionChoice = std::function<bool(RegionId)>;

std::optional<double> value_at(const Cells& cells, std::size_t row) {
  return has_value(cells, row, 0) ? std::optional(cells.scalar(row, 0)) : std::nullopt;
}

// What the chosen regions have together: amounts add up; extremes and what is derived are worked out for all of them.
Result<Values> values_of(const Profile& profile, const std::vector<MetricId>& metrics,
                         const std::vector<FlatProfile>& flats, const RegionChoice& chosen) {
  const Definitions& defs = profile.defs();
  Values out;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const Metric& metric = defs.metric(metrics[m]);
    if (metric.type.is_plain_number() && !metric.derived()) {
      double sum = 0;
      for (std::size_t i = 0; i < flats[m].rows.size(); ++i) {
        if (chosen(flats[m].rows[i].region)) sum += flats[m].exclusive.scalar(i, 0);
      }
      out.emplace_back(sum);
      continue;
    }
    Grouping grouping = Grouping::over_whole_system(defs);
    grouping.rows.emplace_back();
    for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
      const Context& context = defs.contexts[ContextId(i)];
      // Loops and lines belong to their function, as exclusive values have them already.
      if (context.edge == Edge::lexical || !context.region.valid() || !chosen(context.region)) continue;
      grouping.rows.back().emplace_back(i);
    }
    FATHOM_TRY(const Cells cells, compute_groups(profile, metrics[m], {Flavour::Kind::exclusive, {}}, grouping));
    out.push_back(value_at(cells, 0));
  }
  return out;
}

class GroupsCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "metrics to show; patterns; repeatable; default: time");
    options.flag("--regions", regions_, "every region, then the groups")
        .was("-r")
        .value("--filter", "FILE", &filter_, "write a measurement filter for regions that cost more than they tell")
        .value("--excluded", "FILE", &excluded_,
               "read a measurement filter: how much do the regions take that it leaves out?");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    arguments_.declare_names(options);
    options
        .about(
            "Exclusive values by kind of region: MPI, OMP (OpenMP, threads), SCOREP (the measurement itself), COM "
            "(user "
            "code above communication), USR (other user code), or another paradigm's name.")
        .example("fathom groups app.cubex -m time -m visits", "how much of the time is MPI")
        .example("fathom groups app.cubex --filter app.filt", "a filter file that Score-P reads");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(session));
    const Definitions& defs = profile->defs();
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    const std::vector<std::string> groups = inspect::region_groups(defs);
    Schema schema{"groups", {{"group", ColumnType::text}, {"region", ColumnType::text}}};
    TableLook look{{{"group"}}};
    if (regions_) look.columns.push_back({"region", Show::automatic, "", true});
    std::vector<FlatProfile> flats;
    std::vector<bool> shares;  // by metric: whether there are any
    for (const MetricId id : metrics) {
      shares.push_back(adds_up(*profile, id));
      const Metric& metric = defs.metric(id);
      schema.columns.push_back({metric.name, ColumnType::float64, metric.unit, metric.name});
      schema.columns.push_back({metric.name + " %", ColumnType::float64});
      look.columns.push_back({metric.name});
      look.columns.push_back({metric.name + " %", Show::percent, "%"});
      look.columns.push_back({metric.name + " %", Show::percent_bar});
      FATHOM_TRY(FlatProfile flat, flat_profile(*profile, {id, {}, {}}, GroupBy::region));
      flats.push_back(std::move(flat));
    }
    TableBuilder table(std::move(schema));
    const std::size_t rows = flats.empty() ? 0 : flats[0].rows.size();
    const auto together = [&](const RegionChoice& chosen) { return values_of(*profile, metrics, flats, chosen); };
    FATHOM_TRY(const Values all, together([](RegionId) { return true; }));
    std::map<std::string, Values> sums;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string& group = groups[flats[0].rows[i].region.index()];
      if (sums.contains(group)) continue;
      FATHOM_TRY(sums[group], together([&](RegionId region) { return groups[region.index()] == group; }));
    }
    const auto line = [&](const std::string& group, const std::string& region, const Values& values) {
      std::vector<TableBuilder::Cell> row{std::string_view(group), std::string_view(region)};
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        if (!values[m]) {
          row.insert(row.end(), 2, kMissing);
          continue;
        }
        row.emplace_back(*values[m]);
        if (!shares[m]) {
          row.emplace_back(kMissing);
        } else {
          row.emplace_back(all[m].value_or(0) == 0 ? 0 : 100 * *values[m] / *all[m]);
        }
      }
      table.add(row);
    };
    for (std::size_t i = 0; i < rows && regions_; ++i) {
      Values values;
      for (const FlatProfile& flat : flats) values.push_back(value_at(flat.exclusive, i));
      const std::string& name = flats[0].rows[i].name;
      const bool machine = session.json() || session.csv();
      line(groups[flats[0].rows[i].region.index()], machine ? name : shown_name(name, arguments_.full_names), values);
    }
    line("ALL", "", all);
    if (excluded_) {
      FATHOM_TRY(const Blob filter, open_file(*excluded_, profile->work));
      const std::vector<bool> excluded = inspect::excluded_by(defs, filter.text());
      FATHOM_TRY(const Values left_out, together([&](RegionId region) { return excluded[region.index()]; }));
      line("EXCLUDED", "", left_out);
    }
    for (const auto& [group, values] : sums) line(group, "", values);
    session.show_table(std::move(table).finish(), "groups", look);
    if (filter_) FATHOM_CHECK(write_filter(session, *profile));
    return kDone;
  }

 private:
  Result<void> write_filter(Session& session, const Profile& profile) const {
    const Definitions& defs = profile.defs();
    const MetricId time = defs.find_metric("time");
    const MetricId visits = defs.find_metric("visits");
    if (!time.valid() || !visits.valid()) return Error::usage("--filter needs the metrics 'time' and 'visits'");
    FATHOM_TRY(const auto regions, inspect::suggest_filter(profile, time, visits));
    FATHOM_CHECK(spare_inputs(*filter_));
    FATHOM_CHECK(write_file(*filter_, inspect::filter_text(defs, regions)));
    session.note(fmt::format("{} regions in the filter {}", regions.size(), *filter_));
    return success();
  }

  ProfileArguments arguments_;
  bool regions_ = false;
  std::optional<std::string> filter_;
  std::optional<std::string> excluded_;
};

}  // namespace

std::unique_ptr<Command> make_groups_command() { return std::make_unique<GroupsCommand>(); }

}  // namespace fathom::cli
