// fathom routines: routines with their own and their callees' share, and how it spreads over locations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/number.hpp"
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
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
        .flag("--spread", spread_, "how the values spread over the locations")
        .value("-n,--number", "N", &number_,
               "the N costliest routines and of each the N costliest callees (default for people: 20; 0 = all)");
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
    FATHOM_TRY(auto list, inspect::routines(profile->defs(), regions_));
    // Programs get everything in the order of the file, unless they say how much they want.
    const bool machine = session.json() || session.csv();
    const std::uint64_t most = number_.value_or(machine ? 0 : kRows);
    if (!metrics.empty() && (most > 0 || !machine)) {
      FATHOM_CHECK(put_in_order(*profile, metrics.front(), list));
      const std::size_t hidden = cut(list, most);
      if (hidden > 0 && !machine) {
        session.note(fmt::format("the {} costliest are shown; -n 0 shows the other {} lines, too", most, hidden));
      }
    }
    return spread_ ? print_spread(session, *profile, metrics, list) : print_sums(session, *profile, metrics, list);
  }

 private:
  using Line = inspect::RoutineLine;
  static constexpr std::uint64_t kRows = 20;

  // Routines, and of each its callees, by what they and all they call take of the metric, largest first.
  static Result<void> put_in_order(const Profile& profile, MetricId metric, std::vector<inspect::Routine>& list) {
    std::vector<ContextId> contexts;
    for (const inspect::Routine& routine : list) {
      for (const Line& line : routine.lines) contexts.push_back(line.context);
    }
    if (contexts.empty()) return {};
    FATHOM_TRY(
        const Cells cells,
        compute(profile, metric, {{Flavour::Kind::inclusive, {}}, contexts, all_locations(profile.defs()), true}));
    std::map<ContextId, double> cost;
    // What is no number has no place among those that are: it comes last.
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const double value = cells.scalar(i, 0);
      cost[contexts[i]] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
    }
    const auto costlier = [&](const auto& a, const auto& b) { return cost[a.context] > cost[b.context]; };
    std::stable_sort(list.begin(), list.end(), costlier);
    for (inspect::Routine& routine : list) {
      const auto callees = std::find_if(routine.lines.begin(), routine.lines.end(),
                                        [](const Line& line) { return line.part == Line::Part::callee; });
      std::stable_sort(callees, routine.lines.end(), costlier);
    }
    return {};
  }

  // Leaves the first `most` routines and callees of each; 0 = all. Returns how many lines went.
  static std::size_t cut(std::vector<inspect::Routine>& list, std::uint64_t most) {
    if (most == 0) return 0;
    std::size_t gone = 0;
    for (std::size_t i = most; i < list.size(); ++i) gone += list[i].lines.size();
    if (list.size() > most) list.resize(most);
    for (inspect::Routine& routine : list) {
      std::uint64_t callees = 0;
      gone += std::erase_if(routine.lines,
                            [&](const Line& line) { return line.part == Line::Part::callee && ++callees > most; });
    }
    return gone;
  }

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
  std::optional<std::uint64_t> number_;
};

}  // namespace

std::unique_ptr<Command> make_routines_command() { return std::make_unique<RoutinesCommand>(); }

}  // namespace fathom::cli
