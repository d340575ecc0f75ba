// fathom nodes: how a metric spreads over the nodes of the machine.
#include <deque>

#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::cli {

namespace {

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

}  // namespace

std::unique_ptr<Command> make_nodes_command() { return std::make_unique<NodesCommand>(); }

}  // namespace fathom::cli
