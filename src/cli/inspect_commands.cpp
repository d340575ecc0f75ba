// fathom routines, groups, nodes, sanity and compare: reports on profiles.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/views.hpp"

namespace fathom::cli {

namespace {

class RoutinesCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "metrics to show; patterns; repeatable; default: time");
    options.values("-r,--region", "REGION", regions_, "regions to show; patterns; repeatable; default: the roots")
        .flag("--spread", spread_, "how the values spread over the locations");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    arguments_.declare_names(options);
    options.about("Each routine with its inclusive and exclusive value and those of what it calls directly.")
        .example("fathom routines app.cubex -m time -m visits -r solve", "what solve spends itself and in its callees")
        .example("fathom routines app.cubex --spread", "minimum, quartiles and maximum over the locations");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(session));
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    FATHOM_TRY(const auto list, inspect::routines(profile->defs(), regions_));
    return spread_ ? print_spread(session, *profile, metrics, list) : print_sums(session, *profile, metrics, list);
  }

 private:
  using Line = inspect::RoutineLine;

  [[nodiscard]] std::string label(Session& session, const Definitions& defs, const Line& line) const {
    if (session.json() || session.csv()) return defs.region_of(line.context).name;
    std::string name = shown_name(defs.region_of(line.context).name, arguments_.full_names);
    switch (line.part) {
      case Line::Part::inclusive:
        return name;
      case Line::Part::exclusive:
        return "  " + name + " itself";
      case Line::Part::callee:
        break;
    }
    return "  calls " + name;
  }
  static std::string_view part(const Line& line) {
    return line.part == Line::Part::inclusive   ? "inclusive"
           : line.part == Line::Part::exclusive ? "exclusive"
                                                : "callee";
  }
  static Flavour flavour(const Line& line) {
    return {line.part == Line::Part::exclusive ? Flavour::Kind::exclusive : Flavour::Kind::inclusive, {}};
  }

  Result<int> print_sums(Session& session, const Profile& profile, const std::vector<MetricId>& metrics,
                         const std::vector<inspect::Routine>& list) const {
    const Definitions& defs = profile.defs();
    Schema schema{"routines",
                  {{"context", ColumnType::uint64}, {"part", ColumnType::text}, {"routine", ColumnType::text}}};
    TableLook look{{{"routine", Show::automatic, "", true}}};
    for (const MetricId id : metrics) {
      schema.columns.push_back(metric_column(defs.metric(id)));
      look.columns.push_back({defs.metric(id).name});
      if (schema.columns.back().type == ColumnType::float64 || schema.columns.back().type == ColumnType::int128) {
        look.columns.push_back({defs.metric(id).name, Show::bar});
      }
    }
    TableBuilder table(std::move(schema));
    for (const inspect::Routine& routine : list) {
      for (const Line& line : routine.lines) {
        const std::string name = label(session, defs, line);
        std::vector<TableBuilder::Cell> row{defs.contexts[line.context].file_id, part(line), std::string_view(name)};
        std::vector<std::string> texts(metrics.size());
        for (std::size_t m = 0; m < metrics.size(); ++m) {
          FATHOM_TRY(const Cells cells,
                     compute(profile, metrics[m], {flavour(line), {line.context}, all_locations(defs), true}));
          row.push_back(metric_cell(cells.at(0, 0), texts[m]));
        }
        table.add(row);
      }
    }
    session.show_table(std::move(table).finish(), "routines", look);
    return kDone;
  }

  Result<int> print_spread(Session& session, const Profile& profile, const std::vector<MetricId>& metrics,
                           const std::vector<inspect::Routine>& list) const {
    const Definitions& defs = profile.defs();
    // Metrics differ in their units, so that each is a table of its own for people; for machines they are one.
    const bool machine = session.json() || session.csv();
    const auto schema = [&](const std::string& unit) {
      Schema out{"spread",
                 {{"metric", ColumnType::text},
                  {"context", ColumnType::uint64},
                  {"part", ColumnType::text},
                  {"routine", ColumnType::text},
                  {"count", ColumnType::uint64, "occ"}}};
      for (const char* name :
           {"sum", "mean", "variance", "minimum", "quartile1", "median", "quartile3", "maximum", "imbalance"}) {
        out.columns.push_back({name, ColumnType::float64, unit});
      }
      return out;
    };
    const TableLook look{{{"routine", Show::automatic, "", true},
                          {"minimum", Show::automatic, "MIN"},
                          {"quartile1", Show::automatic, "Q1"},
                          {"median"},
                          {"quartile3", Show::automatic, "Q3"},
                          {"maximum", Show::automatic, "MAX"},
                          {"mean"},
                          {"sum"},
                          {"imbalance", Show::share}}};
    std::optional<TableBuilder> table;
    for (const MetricId id : metrics) {
      if (!table) table.emplace(schema(machine ? "" : defs.metric(id).unit));
      for (const inspect::Routine& routine : list) {
        for (const Line& line : routine.lines) {
          FATHOM_TRY(const auto rows,
                     location_statistics(profile, id, flavour(line), {line.context}, all_locations(defs)));
          const Statistics& s = rows.front();
          table->row(defs.metric(id).name, defs.contexts[line.context].file_id, part(line), label(session, defs, line),
                     s.count, s.sum, s.mean, s.variance, s.minimum, s.quartile_1, s.median, s.quartile_3, s.maximum,
                     s.imbalance);
        }
      }
      if (machine) continue;
      if (id != metrics.front()) session.out().write("\n");
      session.out().write(fmt::format("{} over {} locations\n\n", shown_metric(defs.metric(id)),
                                      grouped(defs.system.location_count())));
      session.show_table(std::move(*table).finish(), "spread", look);
      table.reset();
    }
    if (machine) {
      if (!table) table.emplace(schema(""));
      session.show_table(std::move(*table).finish(), "spread");
    }
    return kDone;
  }

  ProfileArguments arguments_;
  std::vector<std::string> regions_;
  bool spread_ = false;
};

class GroupsCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "metrics to show; patterns; repeatable; default: time");
    options.flag("-r,--regions", regions_, "every region, then the groups")
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
    for (const MetricId id : metrics) {
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
    std::map<std::string, std::vector<double>> sums;
    std::vector<double> all(metrics.size(), 0);
    const std::size_t rows = flats.empty() ? 0 : flats[0].rows.size();
    for (std::size_t i = 0; i < rows; ++i) {
      auto& sum = sums[groups[flats[0].rows[i].region.index()]];
      sum.resize(metrics.size(), 0);
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        sum[m] += flats[m].exclusive.scalar(i, 0);
        all[m] += flats[m].exclusive.scalar(i, 0);
      }
    }
    const auto line = [&](const std::string& group, const std::string& region, const std::vector<double>& values) {
      std::vector<TableBuilder::Cell> row{std::string_view(group), std::string_view(region)};
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        row.emplace_back(values[m]);
        row.emplace_back(all[m] == 0 ? 0 : 100 * values[m] / all[m]);
      }
      table.add(row);
    };
    for (std::size_t i = 0; i < rows && regions_; ++i) {
      std::vector<double> values;
      for (const FlatProfile& flat : flats) values.push_back(flat.exclusive.scalar(i, 0));
      const std::string& name = flats[0].rows[i].name;
      const bool machine = session.json() || session.csv();
      line(groups[flats[0].rows[i].region.index()], machine ? name : shown_name(name, arguments_.full_names), values);
    }
    line("ALL", "", all);
    if (excluded_) {
      FATHOM_TRY(const Blob filter, open_file(*excluded_, profile->work));
      const std::vector<bool> excluded = inspect::excluded_by(defs, filter.text());
      std::vector<double> left_out(metrics.size(), 0);
      for (std::size_t i = 0; i < rows; ++i) {
        if (!excluded[flats[0].rows[i].region.index()]) continue;
        for (std::size_t m = 0; m < metrics.size(); ++m) left_out[m] += flats[m].exclusive.scalar(i, 0);
      }
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
    FATHOM_CHECK(write_file(*filter_, inspect::filter_text(defs, regions)));
    session.note(fmt::format("{} regions in the filter {}", regions.size(), *filter_));
    return success();
  }

  ProfileArguments arguments_;
  bool regions_ = false;
  std::optional<std::string> filter_;
  std::optional<std::string> excluded_;
};

class NodesCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "profiles")
        .values("-m,--metric", "METRIC", metrics_, "the metric; default: time")
        .about("How a metric's total spreads over the nodes of the machine, one line per profile.")
        .example("fathom nodes run*.cubex -m time", "compare runs");
  }
  Result<int> run(Session& session) override {
    // For people the units of the first metric stand for all rows; one unit per column is what a column is.
    std::string unit;
    std::vector<std::vector<TableBuilder::Cell>> rows;
    std::deque<std::string> names;
    for (const std::string& path : paths_) {
      FATHOM_TRY(const ProfilePtr profile, session.open_profile(path));
      FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, metrics_));
      for (const MetricId id : metrics) {
        FATHOM_TRY(const inspect::NodeView view, inspect::node_view(*profile, id));
        const double each = view.nodes == 0 ? 0 : static_cast<double>(view.locations) / static_cast<double>(view.nodes);
        if (unit.empty()) unit = profile->defs().metric(id).unit;
        names.push_back(profile->defs().metric(id).name);
        rows.push_back({std::uint64_t{view.nodes}, std::uint64_t{view.locations}, each,
                        std::uint64_t{profile->defs().regions.size()}, std::uint64_t{profile->defs().contexts.size()},
                        std::string_view(names.back()), view.over_nodes.maximum, view.over_nodes.minimum,
                        view.over_nodes.mean, view.over_nodes.deviation, std::string_view(path)});
      }
    }
    TableBuilder table({"nodes",
                        {{"nodes", ColumnType::uint64},
                         {"locations", ColumnType::uint64, "occ"},
                         {"per node", ColumnType::float64},
                         {"regions", ColumnType::uint64, "occ"},
                         {"contexts", ColumnType::uint64, "occ"},
                         {"metric", ColumnType::text},
                         {"maximum", ColumnType::float64, unit},
                         {"minimum", ColumnType::float64, unit},
                         {"mean", ColumnType::float64, unit},
                         {"deviation", ColumnType::float64, unit},
                         {"file", ColumnType::text}}});
    for (const auto& row : rows) table.add(row);
    // Names of files give way on a narrow terminal; bars compare the runs.
    session.show_table(std::move(table).finish(), "nodes",
                       {{{"nodes"},
                         {"locations"},
                         {"per node"},
                         {"regions"},
                         {"contexts"},
                         {"metric"},
                         {"maximum"},
                         {"minimum"},
                         {"mean"},
                         {"mean", Show::bar},
                         {"deviation"},
                         {"file", Show::automatic, "", true}}});
    return kDone;
  }

 private:
  std::vector<std::string> paths_;
  std::vector<std::string> metrics_;
};

class SanityCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a profile")
        .values("--skip", "CHECK", skip_, "leave out a check: names, files, lines, tracing or values; repeatable")
        .value("--excluded", "FILE", &excluded_, "a measurement filter: regions that it leaves out are not judged")
        .flag("--list", list_, "name all that is wrong, not only the first of each check")
        .about(
            "Whether a measurement makes sense: names, files and lines of regions, values below zero. Exit status 1 "
            "when a check fails. Whether the file itself is sound is the business of check.")
        .example("fathom sanity app.cubex", "one line per check")
        .example("fathom sanity app.cubex --skip lines --list", "every region that lacks a name or a file");
  }
  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, session.open_profile(path_));
    inspect::SanityOptions options;
    FATHOM_TRY(options.skip, inspect::sanity_checks(skip_));
    if (list_) options.most_listed = kMostListed;
    if (excluded_) {
      FATHOM_TRY(const Blob filter, open_file(*excluded_, profile->work));
      options.excluded = inspect::excluded_by(profile->defs(), filter.text());
    }
    FATHOM_TRY(const auto checks, inspect::sanity(*profile, options));
    TableBuilder table({"checks",
                        {{"check", ColumnType::text},
                         {"good", ColumnType::uint64},
                         {"total", ColumnType::uint64},
                         {"result", ColumnType::text},
                         {"first", ColumnType::text}}});
    TableBuilder all({"checks", {{"check", ColumnType::text}, {"wrong", ColumnType::text}}});
    bool good = true;
    for (const inspect::SanityCheck& check : checks) {
      const bool passed = check.good == check.total;
      good = good && passed;
      table.row(check.title, check.good, check.total, passed ? "ok" : "failed",
                check.bad.empty() ? std::string_view() : std::string_view(check.bad.front()));
      for (const std::string& what : check.bad) all.row(check.title, what);
    }
    session.show_table(std::move(list_ ? all : table).finish(), "checks");
    return good ? kDone : kRefused;
  }

 private:
  static constexpr std::size_t kMostListed = 10'000;

  std::string path_;
  std::vector<std::string> skip_;
  std::optional<std::string> excluded_;
  bool list_ = false;
};

class CompareCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "two or more profiles: each is compared with the first")
        .values("-m,--metric", "METRIC", metrics_, "compare these only; patterns; repeatable")
        .value("--tolerance", "X", &tolerance_,
               "relative difference that counts as equal; default: two units in the last place")
        .value("--absolute", "X", &absolute_, "difference that counts as equal, in the metric's unit")
        .about(
            "Are profiles equal: trees, ids and every stored value? Exit status 1 when not. What changed between two "
            "profiles is the business of diff.")
        .example("fathom compare before.cubex after.cubex", "equal, or the first difference")
        .example("fathom compare run*.cubex -m visits", "did all runs do the same?");
  }
  Result<int> run(Session& session) override {
    if (paths_.size() < 2) return Error::usage("compare needs two profiles or more");
    FATHOM_TRY(const ProfilePtr first, session.open_profile(paths_[0]));
    FATHOM_TRY(const auto chosen, choose_metrics(first->defs(), metrics_));
    std::vector<std::string> names;
    for (const MetricId id : chosen) names.push_back(first->defs().metric(id).name);
    inspect::Comparison shown;
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      FATHOM_TRY(const ProfilePtr other, session.open_profile(paths_[i]));
      FATHOM_TRY(const inspect::Comparison result, inspect::compare(*first, *other, tolerance_, names, absolute_));
      // One result is told: the first that is not equal, or the last.
      if (shown.equal()) shown = result;
      if (!session.json()) print(session, result, paths_.size() > 2 ? paths_[i] + ": " : "");
    }
    if (session.json()) write_json(session, shown);
    return shown.equal() ? kDone : kRefused;
  }

 private:
  static void print(Session& session, const inspect::Comparison& result, const std::string& lead) {
    if (result.equal()) {
      session.out().write(fmt::format("{}equal: {} values\n", lead, result.values));
    } else if (result.different > 0) {
      session.out().write(fmt::format("{}different: {} of {} values; first: {}\n", lead, result.different,
                                      result.values, result.first_difference));
    } else {
      session.out().write(fmt::format("{}different: {}\n", lead, result.first_difference));
    }
  }
  static void write_json(Session& session, const inspect::Comparison& result) {
    JsonWriter json(session.out());
    json.begin_object();
    json.member("equal", result.equal());
    json.member("metrics_equal", result.metrics_equal);
    json.member("contexts_equal", result.contexts_equal);
    json.member("system_equal", result.system_equal);
    json.member("values", result.values);
    json.member("different", result.different);
    json.member("first_difference", result.first_difference);
    session.write_diagnostics(json);
    json.end_object();
  }

  std::vector<std::string> paths_;
  std::vector<std::string> metrics_;
  double tolerance_ = 0;
  double absolute_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_routines_command() { return std::make_unique<RoutinesCommand>(); }
std::unique_ptr<Command> make_groups_command() { return std::make_unique<GroupsCommand>(); }
std::unique_ptr<Command> make_nodes_command() { return std::make_unique<NodesCommand>(); }
std::unique_ptr<Command> make_sanity_command() { return std::make_unique<SanityCommand>(); }
std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace fathom::cli
