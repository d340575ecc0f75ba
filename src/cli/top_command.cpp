// fathom top: the hottest regions, contexts, files or locations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/team.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/shown_value.hpp"
#include "defs/path_walker.hpp"
#include "defs/presentation.hpp"
#include "profile/system_groups.hpp"
#include "profile/views.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 12;

struct Ranked {
  MetricId metric;
  double total = 0;
  FlatProfile flat;
};

GroupBy group_by(std::string_view name) {
  if (name == "context") return GroupBy::context;
  if (name == "location" || name == "thread") return GroupBy::location;
  if (name == "process" || name == "rank") return GroupBy::process;
  if (name == "node") return GroupBy::node;
  if (name == "file") return GroupBy::file;
  if (name == "module") return GroupBy::module;
  return GroupBy::region;
}

class TopCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "rank by this metric (default: time); more of them add columns; patterns");
    options
        .choice("--by", by_, {"region", "context", "file", "module", "location", "thread", "process", "rank", "node"},
                "what a row is (default: region)")
        .flag("--inclusive", inclusive_, "rank by what a row and all it calls take")
        .value("-n,--number", "N", &number_, "how many rows (default: 20; 0 = all)")
        .values("-r,--region", "R", regions_, "count only these regions; patterns with * and ?")
        .values("-l,--location", "ID", locations_, "count only these locations; patterns")
        .flag("--lines", lines_, "rows also for loops, lines and instructions, which are part of their functions");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    arguments_.declare_names(options);
    options.example("fathom top profile.cubex", "the functions in which most time is spent")
        .example("fathom top profile.cubex --by context --inclusive -n 5", "the heaviest call paths")
        .example("fathom top profile.cubex -m visits --region 'MPI_*'", "which MPI calls are made most often")
        .example("fathom top profile.cubex --by rank", "how the time spreads over ranks");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(session));
    const Definitions& defs = profile->defs();
    FATHOM_TRY(const std::vector<MetricId> metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    FATHOM_CHECK(check_region_patterns(defs, regions_));
    FATHOM_TRY(const auto chosen, choose_locations(defs, locations_));
    if (const GroupBy by = group_by(by_); by == GroupBy::location || by == GroupBy::process || by == GroupBy::node) {
      FATHOM_CHECK(first_alone(session, "ranking locations is"));
    }
    std::vector<Ranked> ranked;
    for (const MetricId metric : metrics) {
      ViewInput input{.metric = metric, .locations = chosen, .filter = {}};
      input.filter = make_filter(defs);
      FATHOM_TRY(FlatProfile flat, flat_profile(*profile, input, group_by(by_)));
      FATHOM_TRY(const Value total, metric_total(*profile, metric, input.locations));
      ranked.push_back({metric, total.scalar(), std::move(flat)});
    }
    FATHOM_CHECK(first_goes_on());
    std::vector<std::size_t> order = ranked.front().flat.ranking(inclusive_);
    const std::size_t all = order.size();
    if (number_ > 0 && order.size() > number_) order.resize(number_);
    if (session.json()) {
      write_json(session, *profile, ranked, order);
    } else if (session.csv()) {
      write_csv(session, *profile, ranked, order);
    } else {
      write_text(session, *profile, ranked, order, all, chosen.empty() ? defs.system.location_count() : chosen.size());
    }
    return kDone;
  }

 private:
  // Loops and lines would count the time of their functions again, so they are rows only when asked for.
  [[nodiscard]] ContextFilter make_filter(const Definitions& defs) const {
    ContextFilter wanted;
    if (!regions_.empty()) wanted = region_filter(defs, regions_);
    if (lines_ || defs.contexts.only_calls() || (by_ != "region" && by_ != "context")) return wanted;
    // Who names nothing but loops and lines wants to see them.
    if (wanted && !any_call(defs, wanted)) return wanted;
    return [&defs, wanted](ContextId id) { return defs.contexts[id].edge != Edge::lexical && (!wanted || wanted(id)); };
  }

  static bool any_call(const Definitions& defs, const ContextFilter& wanted) {
    for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
      if (defs.contexts[ContextId(i)].edge != Edge::lexical && wanted(ContextId(i))) return true;
    }
    return false;
  }

  [[nodiscard]] std::string row_name(const Profile& profile, const FlatProfile::Row& row) const {
    const Definitions& defs = profile.defs();
    if (row.location.valid()) {
      const SystemNode& node = defs.system.location(row.location);
      const SystemNodeId group = defs.system.group_of(row.location);
      return group.valid() ? fmt::format("{} / {}", defs.system.nodes[group.index()].name, node.name) : node.name;
    }
    if (by_ == "context") {
      // The end of a path says most; its start gives way on a narrow terminal.
      const std::size_t most = arguments_.full_names ? PathWalker::kDeepest : 6;
      std::vector<std::string> names;
      ContextId at = row.context;
      for (; at.valid() && names.size() < most; at = defs.contexts[at].parent) {
        names.push_back(shown_name(defs.context_name(at), arguments_.full_names));
      }
      std::string out = at.valid() ? fmt::format("…{}", kPathSeparator) : "";
      for (std::size_t i = names.size(); i-- > 0;) out += names[i] + (i > 0 ? kPathSeparator : "");
      return out;
    }
    if (row.region.valid()) return shown_name(row.name, arguments_.full_names);
    return row.name.empty() ? "(not known)" : row.name;
  }

  static std::string place_of(const Profile& profile, const FlatProfile::Row& row) {
    if (!row.region.valid()) return {};
    const Region& region = profile.defs().region(row.region);
    if (region.file.empty()) return region.module;
    const std::string file = region.file.substr(region.file.rfind('/') + 1);
    return region.begin_line > 0 ? fmt::format("{}:{}", file, region.begin_line) : file;
  }

  void write_text(Session& session, const Profile& profile, const std::vector<Ranked>& ranked,
                  const std::vector<std::size_t>& order, std::size_t all, std::size_t locations) const {
    const Terminal& terminal = session.terminal();
    const Ranked& main = ranked.front();
    const Metric& metric = profile.defs().metric(main.metric);
    Presentation shown_as = presentation_of(metric);
    shown_as.percent = shown_as.percent && adds_up(profile, main.metric);
    session.out().write(fmt::format("{}: {} in total over {} location{}\n\n",
                                    terminal.paint(shown_metric(metric), Style::bold), shown_value(main.total, metric),
                                    grouped(locations), locations == 1 ? "" : "s"));
    TextTable table;
    table.column(inclusive_ ? "INCLUSIVE" : "EXCLUSIVE", Align::right);
    if (shown_as.percent) table.column("%", Align::right);
    if (terminal.bars) table.column("");
    const bool both = !system_level(by_) && (inclusive_ ? shown_as.exclusive : shown_as.inclusive);
    if (both) table.column(inclusive_ ? "EXCLUSIVE" : "INCLUSIVE", Align::right);
    for (std::size_t i = 1; i < ranked.size(); ++i) {
      table.column(profile.defs().metric(ranked[i].metric).name, Align::right);
    }
    std::string title = by_;
    for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    table.column(std::move(title), Align::left, true);
    const bool with_place = by_ == "region" || by_ == "context";
    if (with_place) table.column("WHERE", Align::left, true);
    // Bars compare rows with each other, percentages with the whole.
    const double longest = order.empty() ? 0 : std::abs(value(main, order.front(), inclusive_));
    for (const std::size_t row : order) {
      const double first = value(main, row, inclusive_);
      const double share = main.total != 0 ? first / main.total : 0;
      std::vector<Cell> cells{{shown(profile, main, row, inclusive_), Style::bold}};
      if (shown_as.percent) cells.emplace_back(percent(first, main.total), heat(share));
      if (terminal.bars) cells.emplace_back(bar_text(std::abs(first) / longest, kBarWidth), heat(share));
      if (both) cells.emplace_back(shown(profile, main, row, !inclusive_), Style::dim);
      for (std::size_t i = 1; i < ranked.size(); ++i) {
        cells.emplace_back(shown(profile, ranked[i], row, inclusive_));
      }
      cells.emplace_back(row_name(profile, main.flat.rows[row]));
      if (with_place) cells.emplace_back(place_of(profile, main.flat.rows[row]), Style::dim);
      table.row(std::move(cells));
    }
    session.out().write(table.text(terminal));
    if (order.empty()) {
      session.note(regions_.empty()
                       ? "nothing has a value of this metric"
                       : fmt::format("nothing of {} has a value of this metric", fmt::join(regions_, ", ")));
    }
    if (order.size() < all) {
      session.out().write(
          terminal.paint(fmt::format("… {} more (-n 0 shows all)", grouped(all - order.size())), Style::dim) + "\n");
    }
  }

  static double value(const Ranked& ranked, std::size_t row, bool inclusive) {
    if (row >= ranked.flat.rows.size()) return 0;
    return (inclusive ? ranked.flat.inclusive : ranked.flat.exclusive).scalar(row, 0);
  }
  static std::string shown(const Profile& profile, const Ranked& ranked, std::size_t row, bool inclusive) {
    const Metric& metric = profile.defs().metric(ranked.metric);
    if (row >= ranked.flat.rows.size()) return shown_value(0, metric);
    return shown_value(inclusive ? ranked.flat.inclusive : ranked.flat.exclusive, row, metric);
  }

  void write_json(Session& session, const Profile& profile, const std::vector<Ranked>& ranked,
                  const std::vector<std::size_t>& order) const {
    const Definitions& defs = profile.defs();
    JsonWriter json(session.out());
    json.begin_object().member("by", std::string_view(by_));
    json.key("metrics").begin_array();
    for (const Ranked& one : ranked) {
      json.begin_object().member("name", std::string_view(defs.metric(one.metric).name));
      json.member("unit", std::string_view(defs.metric(one.metric).unit)).member("total", one.total).end_object();
    }
    json.end_array();
    json.key("rows").begin_array();
    for (const std::size_t row : order) {
      json.begin_object().member("name", std::string_view(name_for_machines(profile, ranked.front().flat.rows[row])));
      const FlatProfile::Row& data = ranked.front().flat.rows[row];
      if (data.context.valid()) json.member("context", defs.contexts[data.context].file_id);
      if (data.region.valid()) {
        const Region& region = defs.region(data.region);
        if (!region.file.empty()) json.member("file", std::string_view(region.file));
        if (region.begin_line > 0) json.member("line", region.begin_line);
      }
      json.key("exclusive").begin_object();
      for (const Ranked& one : ranked) {
        json.key(defs.metric(one.metric).name);
        write_value(json, one.flat.exclusive.at(row, 0));
      }
      json.end_object();
      json.key("inclusive").begin_object();
      for (const Ranked& one : ranked) {
        json.key(defs.metric(one.metric).name);
        write_value(json, one.flat.inclusive.at(row, 0));
      }
      json.end_object().end_object();
    }
    json.end_array();
    session.write_diagnostics(json);
    json.end_object();
  }

  void write_csv(Session& session, const Profile& profile, const std::vector<Ranked>& ranked,
                 const std::vector<std::size_t>& order) const {
    CsvWriter csv(session.out());
    csv.header({by_, "metric", "exclusive", "inclusive"});
    for (const std::size_t row : order) {
      for (const Ranked& one : ranked) {
        csv.field(name_for_machines(profile, one.flat.rows[row]));
        csv.field(profile.defs().metric(one.metric).name);
        csv.field(one.flat.exclusive.at(row, 0).text());
        csv.field(one.flat.inclusive.at(row, 0).text());
        csv.end_row();
      }
    }
  }

  [[nodiscard]] std::string name_for_machines(const Profile& profile, const FlatProfile::Row& row) const {
    if (row.location.valid()) return profile.defs().system.location_label(row.location);
    return row.name;
  }

  ProfileArguments arguments_;
  std::string by_ = "region";
  bool inclusive_ = false;
  bool lines_ = false;
  std::uint64_t number_ = 20;
  std::vector<std::string> regions_;
  std::vector<std::string> locations_;
};

}  // namespace

std::unique_ptr<Command> make_top_command() { return std::make_unique<TopCommand>(); }

}  // namespace fathom::cli
