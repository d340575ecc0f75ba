// fathom routines, groups, nodes, sanity and compare: reports on profiles.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/sheet.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/views.hpp"

namespace fathom::cli {

namespace {

std::string shown(Session& session, double value) {
  return session.json() || session.csv() ? exact_text(value) : fmt::format("{:.6g}", value);
}

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
    std::vector<Sheet::Column> columns{{"context", false}, {"part", false}, {"routine", false}};
    for (const MetricId id : metrics) columns.push_back({defs.metric(id).name, true});
    Sheet sheet(columns);
    for (const inspect::Routine& routine : list) {
      for (const Line& line : routine.lines) {
        std::vector<std::string> row{std::to_string(defs.contexts[line.context].file_id), std::string(part(line)),
                                     label(session, defs, line)};
        for (const MetricId id : metrics) {
          FATHOM_TRY(const Cells cells,
                     compute(profile, id, {flavour(line), {line.context}, all_locations(defs), true}));
          row.push_back(session.json() || session.csv() ? cells.at(0, 0).text() : shown(session, cells.scalar(0, 0)));
        }
        sheet.row(std::move(row));
      }
    }
    sheet.print(session, "routines");
    return kDone;
  }

  Result<int> print_spread(Session& session, const Profile& profile, const std::vector<MetricId>& metrics,
                           const std::vector<inspect::Routine>& list) const {
    const Definitions& defs = profile.defs();
    Sheet sheet({{"metric", false},
                 {"context", false},
                 {"part", false},
                 {"routine", false},
                 {"count", true},
                 {"sum", true},
                 {"mean", true},
                 {"variance", true},
                 {"minimum", true},
                 {"quartile1", true},
                 {"median", true},
                 {"quartile3", true},
                 {"maximum", true},
                 {"imbalance", true}});
    for (const MetricId id : metrics) {
      for (const inspect::Routine& routine : list) {
        for (const Line& line : routine.lines) {
          FATHOM_TRY(const auto rows,
                     location_statistics(profile, id, flavour(line), {line.context}, all_locations(defs)));
          const Statistics& s = rows.front();
          std::vector<std::string> row{defs.metric(id).name, std::to_string(defs.contexts[line.context].file_id),
                                       std::string(part(line)), label(session, defs, line), std::to_string(s.count)};
          for (const double value :
               {s.sum, s.mean, s.variance, s.minimum, s.quartile_1, s.median, s.quartile_3, s.maximum, s.imbalance}) {
            row.push_back(shown(session, value));
          }
          sheet.row(std::move(row));
        }
      }
    }
    sheet.print(session, "spread");
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
    std::vector<Sheet::Column> columns{{"group", false}, {"region", false}};
    std::vector<FlatProfile> flats;
    for (const MetricId id : metrics) {
      columns.push_back({defs.metric(id).name, true});
      columns.push_back({defs.metric(id).name + " %", true});
      FATHOM_TRY(FlatProfile flat, flat_profile(*profile, {id, {}, {}}, GroupBy::region));
      flats.push_back(std::move(flat));
    }
    Sheet sheet(columns);
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
      std::vector<std::string> row{group, region};
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        row.push_back(shown(session, values[m]));
        const double share = all[m] == 0 ? 0 : 100 * values[m] / all[m];
        row.push_back(session.json() || session.csv() ? exact_text(share) : fmt::format("{:.2f}", share));
      }
      sheet.row(std::move(row));
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
    sheet.print(session, "groups");
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
    Sheet sheet({{"nodes", true},
                 {"locations", true},
                 {"per node", true},
                 {"regions", true},
                 {"contexts", true},
                 {"metric", false},
                 {"maximum", true},
                 {"minimum", true},
                 {"mean", true},
                 {"deviation", true},
                 {"file", false}});
    for (const std::string& path : paths_) {
      FATHOM_TRY(const ProfilePtr profile, session.open_profile(path));
      FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, metrics_));
      for (const MetricId id : metrics) {
        FATHOM_TRY(const inspect::NodeView view, inspect::node_view(*profile, id));
        const double each = view.nodes == 0 ? 0 : static_cast<double>(view.locations) / static_cast<double>(view.nodes);
        sheet.row({std::to_string(view.nodes), std::to_string(view.locations), shown(session, each),
                   std::to_string(profile->defs().regions.size()), std::to_string(profile->defs().contexts.size()),
                   profile->defs().metric(id).name, shown(session, view.over_nodes.maximum),
                   shown(session, view.over_nodes.minimum), shown(session, view.over_nodes.mean),
                   shown(session, view.over_nodes.deviation), path});
      }
    }
    sheet.print(session, "nodes");
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
    Sheet sheet({{"check", false}, {"good", true}, {"total", true}, {"result", false}, {"first", false}});
    Sheet all({{"check", false}, {"wrong", false}});
    bool good = true;
    for (const inspect::SanityCheck& check : checks) {
      const bool passed = check.good == check.total;
      good = good && passed;
      sheet.row({check.title, std::to_string(check.good), std::to_string(check.total), passed ? "ok" : "failed",
                 check.bad.empty() ? "" : check.bad.front()});
      for (const std::string& what : check.bad) all.row({check.title, what});
    }
    (list_ ? all : sheet).print(session, "checks");
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
