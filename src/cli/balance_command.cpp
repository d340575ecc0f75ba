// fathom balance: which functions are not balanced over the ranks, what that costs, and who is the slowest.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/balance.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kStripWidth = 24;

// The members from left to right, each as high as its value; several share a column where there are many.
std::string strip(const std::vector<double>& values) {
  static constexpr std::array<const char*, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = *std::max_element(values.begin(), values.end());
  const std::size_t columns = std::min(values.size(), kStripWidth);
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    // The largest of a column, so that a single late rank is seen.
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / columns);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / columns);
    double share = most > 0 ? std::min(*std::max_element(begin, end) / most, 1.0) : 0;
    if (!(share > 0)) share = 0;  // also what is no number
    out += kLevels[std::min<std::size_t>(kLevels.size() - 1, static_cast<std::size_t>(share * kLevels.size()))];
  }
  return out;
}

class BalanceCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "the metric (default: time)");
    options
        .choice("--by", by_, {"rank", "process", "location", "thread", "node"},
                "what is compared: processes, threads or nodes (default: rank)")
        .value("-n,--number", "N", &number_, "how many rows (default: 20; 0 = all)");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    arguments_.declare_names(options);
    options
        .about(
            "LOST is what all others could have done until the slowest was done: the number of ranks times the "
            "maximum, less the sum. Rows are sorted by it. In MPI functions the roles are reversed: who spends the "
            "least time there is the one that the others wait for.")
        .example("fathom balance profile.cubex", "which functions are out of balance, and which rank is late")
        .example("fathom balance profile.cubex --by node -n 5", "whether a node is slow");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(session));
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    if (metrics.size() != 1) return Error::usage("balance takes one metric");
    const MetricId metric = metrics.front();
    const BalanceOver over = by_ == "node"                          ? BalanceOver::nodes
                             : by_ == "location" || by_ == "thread" ? BalanceOver::locations
                                                                    : BalanceOver::processes;
    FATHOM_TRY(const Balance balance, load_balance(*profile, metric, over, number_));
    if (session.json() || session.csv()) {
      session.show_table(balance_table(*profile, metric, balance), "balance");
    } else {
      write_text(session, *profile, metric, balance);
    }
    return kDone;
  }

 private:
  void write_text(Session& session, const Profile& profile, MetricId id, const Balance& balance) const {
    const Metric& metric = profile.defs().metric(id);
    const Terminal& terminal = session.terminal();
    session.out().write(fmt::format("{}: {} in total over {} {}, {} lost to imbalance\n\n",
                                    terminal.paint(shown_metric(metric), Style::bold),
                                    readable(balance.total, metric.unit), grouped(balance.members.size()),
                                    by_ == "node"                       ? "nodes"
                                    : by_ == "rank" || by_ == "process" ? "processes"
                                                                        : "locations",
                                    readable(balance.lost, metric.unit)));
    TableBuilder table({"balance",
                        {{"lost", ColumnType::float64, metric.unit},
                         {"share", ColumnType::float64},
                         {"minimum", ColumnType::float64, metric.unit},
                         {"mean", ColumnType::float64, metric.unit},
                         {"maximum", ColumnType::float64, metric.unit},
                         {"slowest", ColumnType::text},
                         {"strip", ColumnType::text},
                         {"region", ColumnType::text}}});
    for (const BalanceRow& row : balance.rows) {
      const double imbalance = row.maximum == 0 ? 0 : (row.maximum - row.mean) / row.maximum;
      table.row(row.lost, imbalance, row.minimum, row.mean, row.maximum, balance.members[row.slowest],
                strip(row.values), shown_name(profile.defs().region(row.region).name, arguments_.full_names));
    }
    TableLook look{{{"lost"},
                    {"lost", Show::bar},
                    {"share", Show::share, "IMBALANCE"},
                    {"minimum", Show::automatic, "MIN"},
                    {"mean"},
                    {"maximum", Show::automatic, "MAX"},
                    {"slowest"},
                    {"region", Show::automatic, "", true}}};
    if (terminal.bars) look.columns.insert(look.columns.end() - 1, ColumnLook{"strip", Show::automatic, "SPREAD"});
    session.out().write(table_text(std::move(table).finish(), terminal, look));
    if (balance.members.size() < 2) session.note("there is one member only: nothing to balance");
  }

  ProfileArguments arguments_;
  std::string by_ = "rank";
  std::uint64_t number_ = 20;
};

}  // namespace

std::unique_ptr<Command> make_balance_command() { return std::make_unique<BalanceCommand>(); }

}  // namespace fathom::cli
