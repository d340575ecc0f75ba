// fathom tree: the call tree with a metric's values; top-down, bottom-up or flat.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/shown_value.hpp"
#include "defs/presentation.hpp"
#include "profile/views.hpp"
#include "report/table_output.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 10;
constexpr std::uint32_t kMostDrawn = 100;

// A node that is shown, with the lines drawn before its name.
struct Line {
  std::uint32_t node = 0;
  std::string lead;
  std::uint32_t depth = 0;
  std::uint32_t site = TreeView::kNone;  // the line from which it is called, folded into it
  bool rest = false;                     // of a line that was folded: what it takes itself
};

class TreeCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "show this metric (default: time)");
    options
        .choice("--view", view_, {"topdown", "bottomup", "flat", "modules"},
                "callers above callees, callees above their callers, one line per region, or modules with their files, "
                "functions, loops and lines (default: topdown)")
        .flag("--hot", hot_, "only the path along the heaviest callees")
        .value("--hot-share", "%", &hot_share_, "--hot ends where no callee has this share of its caller (default: 50)")
        .value("--depth", "N", &depth_, "show N levels below the roots")
        .value("--min", "%", &minimum_, "hide what takes less than this share of the total (default: 1)")
        .choice("--sort", sort_, {"value", "other", "name"},
                "order of siblings: by the first column, by the second value, by name (default: value)")
        .values("--context", "ID", contexts_, "only what these contexts and all below them take, by the file's ids")
        .values("-l,--location", "ID", locations_, "only these locations, by id or name; patterns; may be repeated")
        .values("-r,--region", "R", regions_, "only contexts of these regions and what lies above them; patterns")
        .flag("--lines", lines_, "lines from which something is called as levels of their own, not beside the callee")
        .flag("--ids", ids_, "show the ids by which 'fathom table --context' takes contexts");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    arguments_.declare_names(options);
    options.example("fathom tree profile.cubex", "the call tree, without what takes less than 1 %")
        .example("fathom tree profile.cubex --hot", "straight to the hot spot")
        .example("fathom tree profile.cubex --view bottomup --depth 2", "who calls the expensive functions")
        .example("fathom tree run.d --context 42 --location 'RANK 3 *'",
                 "one subtree, as the threads of one rank see it")
        .example("fathom tree profile.cubex -m visits --min 0", "the whole tree with numbers of calls");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(session));
    const Definitions& defs = profile->defs();
    FATHOM_TRY(const std::vector<MetricId> metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    FATHOM_CHECK(check_region_patterns(defs, regions_));
    FATHOM_TRY(const std::vector<LocationId> locations, choose_locations(defs, locations_));
    FATHOM_TRY(zoom_, choose_contexts(defs, contexts_));
    if (hot_ && view_ == "flat") return Error::usage("--hot needs a tree: --view topdown, bottomup or modules");
    TableBuilder rows({"tree",
                       {{"metric", ColumnType::text},
                        {"depth", ColumnType::uint64},
                        {"context", ColumnType::uint64},
                        {"name", ColumnType::text},
                        {"inclusive", ColumnType::free_text},
                        {"exclusive", ColumnType::free_text}}});
    JsonWriter json(session.out());
    if (session.json()) json.begin_object().key("trees").begin_array();
    bool first = true;
    for (const MetricId metric : metrics) {
      const ViewInput input{.metric = metric, .locations = locations, .filter = filter(defs)};
      FATHOM_TRY(const TreeView tree, make_view(*profile, input));
      FATHOM_TRY(const Value total, metric_total(*profile, metric, input.locations));
      if (session.json()) {
        write_json(json, defs, metric, tree, total.scalar());
      } else if (session.csv()) {
        for (const Line& line : lines(defs, tree, total.scalar(), false)) {
          const TreeView::Node& node = tree.nodes[line.node];
          std::optional<std::uint64_t> context;
          if (node.context.valid()) context = defs.contexts[node.context].file_id;
          rows.row(defs.metric(metric).name, line.depth, context, name_of(defs, node),
                   tree.inclusive.at(line.node, 0).text(), tree.exclusive.at(line.node, 0).text());
        }
      } else {
        if (!first) session.out().write("\n");
        write_text(session, *profile, metric, tree, total.scalar());
      }
      first = false;
    }
    if (session.csv()) write_csv(session.out(), std::move(rows).finish());
    if (session.json()) {
      json.end_array();
      session.write_diagnostics(json);
      json.end_object();
    }
    return kDone;
  }

 private:
  // Contexts that count: of these regions, and inside the subtrees that were chosen.
  [[nodiscard]] ContextFilter filter(const Definitions& defs) const {
    ContextFilter regions = regions_.empty() ? ContextFilter() : region_filter(defs, regions_);
    if (zoom_.empty()) return regions;
    std::vector<bool> inside(defs.contexts.size());
    for (const ContextId id : zoom_) {
      for (std::uint32_t i = id.value; i < defs.contexts[id].end; ++i) inside[i] = true;
    }
    return
        [inside = std::move(inside), regions](ContextId id) { return inside[id.index()] && (!regions || regions(id)); };
  }

  // Where the tree begins: the chosen contexts that lie in no other chosen one.
  [[nodiscard]] std::vector<std::uint32_t> roots(const TreeView& tree) const {
    if (zoom_.empty() || view_ != "topdown") return tree.roots();
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < tree.nodes.size();) {
      const bool chosen = std::binary_search(zoom_.begin(), zoom_.end(), tree.nodes[i].context);
      if (chosen) out.push_back(i);
      i = chosen ? tree.nodes[i].end : i + 1;
    }
    return out;
  }

  static std::string name_of(const Definitions& defs, const TreeView::Node& node) {
    // From the callees up a node stands for a caller of its context.
    if (node.context.valid() && defs.contexts[node.context].region == node.region) {
      return defs.context_name(node.context);
    }
    return node.region.valid() ? defs.region(node.region).name : node.label;
  }

  [[nodiscard]] Result<TreeView> make_view(const Profile& profile, const ViewInput& input) const {
    if (view_ == "topdown") return top_down(profile, input);
    if (view_ == "bottomup") {
      constexpr std::size_t kDeepest = 64;
      return bottom_up(profile, input,
                       depth_ ? static_cast<std::size_t>(std::min<std::uint64_t>(*depth_, kDeepest)) : kDeepest);
    }
    return view_ == "modules" ? by_module(profile, input) : bottom_up(profile, input, 0);
  }

  // Whether nodes are ranked and measured by what they take alone: bottom-up trees take costs apart.
  [[nodiscard]] bool by_exclusive() const { return view_ != "topdown" && view_ != "modules"; }

  [[nodiscard]] double weight(const TreeView& tree, std::uint32_t node) const {
    return std::abs((by_exclusive() ? tree.exclusive : tree.inclusive).scalar(node, 0));
  }

  // What is no number has no place among those that are: it comes last.
  static double rank_of(double value) { return std::isnan(value) ? -1 : std::abs(value); }

  [[nodiscard]] std::vector<std::uint32_t> visible(const Definitions& defs, const TreeView& tree,
                                                   std::vector<std::uint32_t> nodes, double total) const {
    const double least = std::abs(total) * minimum_ / 100;
    std::erase_if(nodes, [&](std::uint32_t node) { return weight(tree, node) < least; });
    std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return rank_of(weight(tree, a)) > rank_of(weight(tree, b));
    });
    if (sort_ == "other") {
      const Cells& second = by_exclusive() ? tree.inclusive : tree.exclusive;
      std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
        return rank_of(second.scalar(a, 0)) > rank_of(second.scalar(b, 0));
      });
    } else if (sort_ == "name") {
      std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
        return name_of(defs, tree.nodes[a]) < name_of(defs, tree.nodes[b]);
      });
    }
    return nodes;
  }

  // A line of source from which something is called: for people it is where the callee is called, no level of its own.
  [[nodiscard]] bool is_call_site(const Definitions& defs, const TreeView& tree, std::uint32_t node) const {
    const auto edge = [&](std::uint32_t n) { return defs.contexts[tree.nodes[n].context].edge; };
    const TreeView::Node& line = tree.nodes[node];
    if (!line.context.valid() || !line.region.valid() || edge(node) != Edge::lexical) return false;
    const std::string& role = defs.region(line.region).role;
    if (role != "line" && role != "call site") return false;
    const std::vector<std::uint32_t> below = tree.children(node);
    return !below.empty() && std::none_of(below.begin(), below.end(), [&](std::uint32_t n) {
      return !tree.nodes[n].context.valid() || edge(n) == Edge::lexical;
    });
  }

  struct Shown {
    std::uint32_t node;
    std::uint32_t site = TreeView::kNone;
    bool rest = false;
  };
  // What stands below a node: its children, call sites replaced by what they call and by what they take themselves.
  [[nodiscard]] std::vector<Shown> below(const Definitions& defs, const TreeView& tree, double total,
                                         const std::vector<std::uint32_t>& nodes, bool fold) const {
    std::vector<Shown> out;
    if (!fold || view_ != "topdown" || lines_) {
      for (const std::uint32_t node : visible(defs, tree, nodes, total)) out.push_back({node});
      return out;
    }
    std::vector<std::uint32_t> flat;
    std::map<std::uint32_t, std::uint32_t> sites;
    const double least = std::abs(total) * minimum_ / 100;
    std::vector<std::uint32_t> rests;
    for (const std::uint32_t node : nodes) {
      if (!is_call_site(defs, tree, node)) {
        flat.push_back(node);
        continue;
      }
      for (const std::uint32_t callee : tree.children(node)) {
        flat.push_back(callee);
        sites[callee] = node;
      }
      const double own = std::abs(tree.exclusive.scalar(node, 0));
      if (own > 0 && own >= least) rests.push_back(node);
    }
    for (const std::uint32_t node : visible(defs, tree, std::move(flat), total)) {
      const auto site = sites.find(node);
      out.push_back({node, site == sites.end() ? TreeView::kNone : site->second});
    }
    for (const std::uint32_t node : rests) out.push_back({node, TreeView::kNone, true});
    const auto size = [&](const Shown& one) {
      return rank_of(one.rest ? tree.exclusive.scalar(one.node, 0) : weight(tree, one.node));
    };
    if (sort_ == "value") {
      std::stable_sort(out.begin(), out.end(), [&](const Shown& a, const Shown& b) { return size(a) > size(b); });
    }
    return out;
  }

  // Depth first with a stack of its own: trees are as deep as the file says.
  [[nodiscard]] std::vector<Line> lines(const Definitions& defs, const TreeView& tree, double total, bool fold) const {
    std::vector<Line> out;
    const std::vector<std::uint32_t> start = roots(tree);
    if (start.empty()) return out;
    if (hot_) {
      const std::vector<std::uint32_t> path = hot_path(tree, hot_share_ / 100, start);
      std::size_t folded = 0;
      std::uint32_t site = TreeView::kNone;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const std::uint32_t node = path[i];
        if (fold && !lines_ && view_ == "topdown" && i + 1 < path.size() && is_call_site(defs, tree, node)) {
          site = node;
          ++folded;
          continue;
        }
        const std::size_t depth = tree.nodes[node].depth - tree.nodes[path.front()].depth - folded;
        out.push_back({node, depth == 0 ? "" : std::string((std::min<std::size_t>(depth, 40) - 1) * 2, ' ') + "└─",
                       static_cast<std::uint32_t>(depth), site});
        site = TreeView::kNone;
      }
      return out;
    }
    struct Pending {
      Shown node;
      std::string lead;      // drawn before this node
      std::string children;  // drawn before everything below it
      std::uint32_t depth;
    };
    std::vector<Pending> stack;
    const auto push = [&](const std::vector<Shown>& nodes, const std::string& before, std::uint32_t depth) {
      for (std::size_t i = nodes.size(); i-- > 0;) {
        const bool last = i + 1 == nodes.size();
        if (depth == 0) {
          stack.push_back({nodes[i], "", "", 0});
        } else if (depth > kMostDrawn) {
          // Deeper than anyone follows lines: the depth as a number, so that the text grows with the nodes alone.
          stack.push_back({nodes[i], fmt::format("{}[{}] ", before, depth), before, depth});
        } else {
          stack.push_back({nodes[i], before + (last ? "└─" : "├─"), before + (last ? "  " : "│ "), depth});
        }
      }
    };
    push(below(defs, tree, total, start, fold), "", 0);
    while (!stack.empty()) {
      Pending top = std::move(stack.back());
      stack.pop_back();
      out.push_back({top.node.node, std::move(top.lead), top.depth, top.node.site, top.node.rest});
      if (top.node.rest || (depth_ && top.depth >= *depth_)) continue;
      push(below(defs, tree, total, tree.children(top.node.node), fold), top.children, top.depth + 1);
    }
    return out;
  }

  void write_text(Session& session, const Profile& profile, MetricId id, const TreeView& tree, double total) const {
    const Terminal& terminal = session.terminal();
    const Definitions& defs = profile.defs();
    const Metric& metric = defs.metric(id);
    Presentation shown_as = presentation_of(metric);
    shown_as.percent = shown_as.percent && adds_up(profile, id);
    session.out().write(fmt::format("{}: {} in total\n\n", terminal.paint(shown_metric(metric), Style::bold),
                                    shown_value(total, metric)));
    const std::vector<Line> shown = lines(defs, tree, total, true);
    TextTable table;
    const bool exclusive_first = by_exclusive();
    const bool both = exclusive_first ? shown_as.inclusive : shown_as.exclusive;
    table.column(exclusive_first ? "EXCLUSIVE" : "INCLUSIVE", Align::right);
    if (shown_as.percent) table.column("%", Align::right);
    if (terminal.bars) table.column("");
    if (both) table.column(exclusive_first ? "INCLUSIVE" : "EXCLUSIVE", Align::right);
    if (ids_) table.column("ID", Align::right);
    table.column(view_ == "topdown"    ? "CALL TREE"
                 : view_ == "bottomup" ? "REGION ← CALLERS"
                 : view_ == "modules"  ? "MODULE, FILE, FUNCTION"
                                       : "REGION",
                 Align::left, true);
    for (const Line& line : shown) {
      const double exclusive = tree.exclusive.scalar(line.node, 0);
      const double inclusive = line.rest ? exclusive : tree.inclusive.scalar(line.node, 0);
      const double first = exclusive_first ? exclusive : inclusive;
      const double share = total != 0 ? first / total : 0;
      const Cells& above = line.rest ? tree.exclusive : tree.inclusive;
      std::vector<Cell> cells{{shown_value(exclusive_first ? tree.exclusive : above, line.node, metric), Style::plain}};
      if (shown_as.percent) cells.emplace_back(percent(first, total), heat(share));
      if (terminal.bars) cells.emplace_back(bar_text(share, kBarWidth), heat(share));
      if (both) {
        cells.emplace_back(shown_value(exclusive_first ? above : tree.exclusive, line.node, metric), Style::dim);
      }
      const TreeView::Node& node = tree.nodes[line.node];
      if (ids_) {
        cells.emplace_back(node.context.valid() ? std::to_string(defs.contexts[node.context].file_id) : "", Style::dim);
      }
      const double own = total != 0 ? exclusive / total : 0;
      const Style style = !exclusive_first && own >= 0.05 ? heat(own) : Style::plain;
      std::string name = shown_name(name_of(defs, node), arguments_.full_names);
      if (line.site != TreeView::kNone) name += "  " + name_of(defs, tree.nodes[line.site]);
      cells.emplace_back(line.lead + name, style);
      table.row(std::move(cells));
    }
    session.out().write(table.text(terminal));
    std::size_t all = 0;
    for (const std::uint32_t root : roots(tree)) {
      for (std::uint32_t i = root; i < tree.nodes[root].end; ++i) {
        if (lines_ || view_ != "topdown" || !is_call_site(defs, tree, i)) ++all;
      }
    }
    write_remark(session, shown.size(), all);
  }

  void write_remark(Session& session, std::size_t shown, std::size_t all) const {
    if (hot_ || shown >= all) return;
    const std::string text =
        fmt::format("… {} more: below {}%{} (--min 0 shows all)", grouped(all - shown), exact_text(minimum_),
                    depth_ ? fmt::format(" or deeper than {}", *depth_) : "");
    session.out().write(session.terminal().paint(text, Style::dim) + "\n");
  }

  // A flat list in depth-first order with depths: as nested objects a deep tree could not be read by anyone.
  void write_json(JsonWriter& json, const Definitions& defs, MetricId id, const TreeView& tree, double total) const {
    json.begin_object().member("metric", std::string_view(defs.metric(id).name));
    json.member("unit", std::string_view(defs.metric(id).unit)).member("view", std::string_view(view_));
    json.member("total", total);
    json.key("nodes").begin_array();
    for (const Line& line : lines(defs, tree, total, false)) {
      const TreeView::Node& node = tree.nodes[line.node];
      json.begin_object().member("depth", line.depth);
      json.member("name", std::string_view(name_of(defs, node)));
      if (node.context.valid()) json.member("context", defs.contexts[node.context].file_id);
      json.key("inclusive");
      write_value(json, tree.inclusive.at(line.node, 0));
      json.key("exclusive");
      write_value(json, tree.exclusive.at(line.node, 0));
      json.end_object();
    }
    json.end_array().end_object();
  }

  ProfileArguments arguments_;
  std::string view_ = "topdown";
  bool hot_ = false;
  bool ids_ = false;
  bool lines_ = false;
  std::optional<std::uint64_t> depth_;
  double minimum_ = 1;
  double hot_share_ = 50;
  std::string sort_ = "value";
  std::vector<std::string> regions_;
  std::vector<std::string> contexts_;
  std::vector<std::string> locations_;
  std::vector<ContextId> zoom_;
};

}  // namespace

std::unique_ptr<Command> make_tree_command() { return std::make_unique<TreeCommand>(); }

}  // namespace fathom::cli
