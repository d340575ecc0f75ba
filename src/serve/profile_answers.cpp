#include "serve/profile_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "profile/expression/pattern.hpp"
#include "profile/selection.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kKeptViews = 32;
constexpr std::int64_t kMostNodes = 20000;

// One array per column: short on the wire and quick to read.
template <class Rows, class Write>
void column(JsonWriter& json, std::string_view name, const Rows& rows, const Write& write) {
  json.key(name).begin_array();
  for (const auto& row : rows) write(row);
  json.end_array();
}

}  // namespace

MetricId ProfileAnswers::likely_metric() const {
  const auto found = choose_or_guess_metrics(*profile_, {});
  return found.ok() && !found->empty() ? found->front() : MetricId();
}

Result<MetricId> ProfileAnswers::metric(std::string_view name) const {
  const MetricId found = name.empty() ? likely_metric() : profile_->defs().find_metric(name);
  if (!found.valid()) {
    return Error::usage(name.empty() ? "this profile has no metric with values"
                                     : fmt::format("there is no metric '{}'", shown_text(name)));
  }
  return found;
}

std::string ProfileAnswers::name_of(const TreeView::Node& node) const {
  return shown_text(node.region.valid() ? demangle(profile_->defs().region(node.region).name) : node.label);
}

// "0-3,7": numbers of locations.
Result<std::vector<LocationId>> ProfileAnswers::chosen_locations(std::string_view text) const {
  std::vector<LocationId> out;
  if (text.empty()) return out;
  const std::size_t count = profile_->defs().system.location_count();
  for (const std::string_view piece : split(text, ',')) {
    const auto dash = piece.find('-');
    const auto first = parse_integer<std::uint32_t>(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer<std::uint32_t>(piece.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= count) {
      return Error::usage(fmt::format("locations are numbers below {} and ranges of them, found '{}'", count, piece));
    }
    for (std::uint32_t i = *first; i <= *last; ++i) out.emplace_back(i);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<Answer> ProfileAnswers::metrics() const {
  const auto& metrics = profile_->defs().metrics;
  Output out;
  JsonWriter json(out);
  json.begin_object();
  const auto text = [&](const std::string& t) { write_text(json, t); };
  column(json, "name", metrics, [&](const Metric& m) { text(m.name); });
  column(json, "title", metrics, [&](const Metric& m) { text(m.display_name.empty() ? m.name : m.display_name); });
  column(json, "unit", metrics, [&](const Metric& m) { text(m.unit); });
  column(json, "description", metrics, [&](const Metric& m) { text(m.description); });
  column(json, "hidden", metrics, [&](const Metric& m) { json.value(m.hidden); });
  column(json, "parent", metrics, [&](const Metric& m) {
    if (m.parent.valid()) {
      json.value(m.parent.value);
    } else {
      json.value(nullptr);
    }
  });
  json.key("unavailable").begin_array();
  for (std::size_t i = 0; i < metrics.size(); ++i) text(why_unavailable(*profile_, MetricId{i}));
  json.end_array();
  const MetricId likely = likely_metric();
  if (likely.valid()) json.member("likely", std::string_view(profile_->defs().metric(likely).name));
  json.end_object();
  return Answer::json(out.text());
}

Result<ProfileAnswers::View> ProfileAnswers::view(std::string_view kind, MetricId metric,
                                                  const std::string& locations) {
  const std::string key = fmt::format("{}\n{}\n{}", kind, metric.value, locations);
  for (auto at = views_.begin(); at != views_.end(); ++at) {
    if (at->key != key) continue;
    views_.splice(views_.begin(), views_, at);
    return views_.front();
  }
  FATHOM_TRY(std::vector<LocationId> chosen, chosen_locations(locations));
  const ViewInput input{metric, std::move(chosen), {}};
  constexpr std::size_t kDeepest = 64;
  auto made = kind == "topdown"    ? top_down(*profile_, input)
              : kind == "bottomup" ? bottom_up(*profile_, input, kDeepest)
              : kind == "flat"     ? bottom_up(*profile_, input, 0)
              : kind == "modules"  ? by_module(*profile_, input)
                                   : Result<TreeView>(Error::usage(fmt::format("there is no view '{}'", kind)));
  if (!made) return std::move(made).error();
  FATHOM_TRY(const Value total, metric_total(*profile_, metric, input.locations));
  views_.push_front({key, std::make_shared<const TreeView>(std::move(*made)), total.scalar()});
  if (views_.size() > kKeptViews) views_.pop_back();
  return views_.front();
}

Result<std::vector<ProfileAnswers::View>> ProfileAnswers::views(const Request& request,
                                                                std::vector<MetricId>& metrics) {
  std::vector<View> out;
  const std::string names(request.get("metrics", request.get("metric")));
  for (const std::string_view name : split(names, '\n')) {
    FATHOM_TRY(const MetricId id, metric(name));
    metrics.push_back(id);
    FATHOM_TRY(View made, view(request.get("view", "topdown"), id, std::string(request.get("locations"))));
    out.push_back(std::move(made));
  }
  return out;
}

Result<Answer> ProfileAnswers::answer_nodes(const std::vector<View>& views, const std::vector<MetricId>& metrics,
                                            const std::vector<std::uint32_t>& nodes) const {
  const TreeView& tree = *views.front().tree;
  const Definitions& defs = profile_->defs();
  Output out;
  JsonWriter json(out);
  json.begin_object();
  column(json, "node", nodes, [&](std::uint32_t n) { json.value(n); });
  column(json, "parent", nodes, [&](std::uint32_t n) {
    if (tree.nodes[n].parent == TreeView::kNone) {
      json.value(-1);
    } else {
      json.value(tree.nodes[n].parent);
    }
  });
  column(json, "children", nodes, [&](std::uint32_t n) { json.value(tree.children(n).size()); });
  column(json, "name", nodes, [&](std::uint32_t n) { json.value(std::string_view(name_of(tree.nodes[n]))); });
  column(json, "context", nodes, [&](std::uint32_t n) {
    if (tree.nodes[n].context.valid()) {
      json.value(std::string_view(std::to_string(defs.contexts[tree.nodes[n].context].file_id)));
    } else {
      json.value(nullptr);
    }
  });
  const auto region = [&](std::uint32_t n, const auto& write) {
    const TreeView::Node& node = tree.nodes[n];
    write(node.region.valid() ? &defs.region(node.region) : nullptr);
  };
  column(json, "paradigm", nodes, [&](std::uint32_t n) {
    region(n, [&](const Region* r) { json.value(r == nullptr ? std::string_view{} : std::string_view(r->paradigm)); });
  });
  column(json, "role", nodes, [&](std::uint32_t n) {
    region(n, [&](const Region* r) { json.value(r == nullptr ? std::string_view{} : std::string_view(r->role)); });
  });
  column(json, "place", nodes, [&](std::uint32_t n) {
    region(n, [&](const Region* r) {
      if (r == nullptr || r->file.empty()) {
        json.value("");
      } else {
        write_text(json, r->begin_line > 0 ? fmt::format("{}:{}", r->file, r->begin_line) : r->file);
      }
    });
  });
  json.key("metrics").begin_array();
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Metric& metric = defs.metric(metrics[i]);
    json.begin_object().member("name", std::string_view(metric.name)).member("unit", std::string_view(metric.unit));
    json.member("total", views[i].total);
    column(json, "inclusive", nodes, [&](std::uint32_t n) { write_wire(json, views[i].tree->inclusive.at(n, 0)); });
    column(json, "exclusive", nodes, [&](std::uint32_t n) { write_wire(json, views[i].tree->exclusive.at(n, 0)); });
    json.end_object();
  }
  json.end_array();
  json.member("all", tree.nodes.size());
  json.end_object();
  return Answer::json(out.text());
}

namespace {

// The heaviest nodes below the start, as many as fit, parents before their children; then in tree order.
std::vector<std::uint32_t> heaviest(const TreeView& tree, const std::vector<std::uint32_t>& start, std::size_t limit) {
  const auto weight = [&](std::uint32_t n) { return std::abs(tree.inclusive.scalar(n, 0)); };
  std::priority_queue<std::pair<double, std::uint32_t>> waiting;
  for (const std::uint32_t n : start) waiting.emplace(weight(n), n);
  std::vector<std::uint32_t> out;
  while (!waiting.empty() && out.size() < limit) {
    const std::uint32_t node = waiting.top().second;
    waiting.pop();
    out.push_back(node);
    for (const std::uint32_t child : tree.children(node)) waiting.emplace(weight(child), child);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<std::uint32_t>> start_of(const Request& request, const TreeView& tree, bool below) {
  FATHOM_TRY(const std::int64_t node, request.integer("node", -1));
  if (node < 0) return tree.roots();
  if (static_cast<std::uint64_t>(node) >= tree.nodes.size()) return Error::usage("there is no such node");
  const auto number = static_cast<std::uint32_t>(node);
  return below ? tree.children(number) : std::vector<std::uint32_t>{number};
}

}  // namespace

Result<Answer> ProfileAnswers::tree(const Request& request) {
  std::vector<MetricId> ids;
  FATHOM_TRY(const std::vector<View> made, views(request, ids));
  FATHOM_TRY(const auto start, start_of(request, *made.front().tree, true));
  FATHOM_TRY(const std::int64_t limit, request.integer("limit", kMostNodes));
  return answer_nodes(
      made, ids,
      heaviest(*made.front().tree, start, static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostNodes))));
}

Result<Answer> ProfileAnswers::hot_path(const Request& request) {
  std::vector<MetricId> ids;
  FATHOM_TRY(const std::vector<View> made, views(request, ids));
  FATHOM_TRY(auto start, start_of(request, *made.front().tree, false));
  const auto share = parse_double(request.get("share", "0.5"));
  if (!share) return Error::usage("share must be a number");
  return answer_nodes(made, ids, fathom::hot_path(*made.front().tree, *share, std::move(start)));
}

Result<Answer> ProfileAnswers::search(const Request& request) {
  std::vector<MetricId> ids;
  FATHOM_TRY(const std::vector<View> made, views(request, ids));
  const TreeView& tree = *made.front().tree;
  const std::string_view text = request.get("text");
  // "/regex/" or a part of the name, whatever the case.
  expression::PatternPtr pattern;
  if (text.size() > 2 && text.front() == '/' && text.back() == '/') {
    auto made_pattern = expression::make_pattern(fmt::format("(?i){}", text.substr(1, text.size() - 2)));
    if (!made_pattern) return std::move(made_pattern).error().as(ErrorKind::usage);
    pattern = *std::move(made_pattern);
  }
  const std::string part = to_lower(text);
  std::set<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < tree.nodes.size() && nodes.size() < static_cast<std::size_t>(kMostNodes); ++n) {
    const std::string name = name_of(tree.nodes[n]);
    bool hit = false;
    if (pattern) {
      FATHOM_TRY(hit, expression::search(*pattern, name));
    } else {
      hit = to_lower(name).find(part) != std::string::npos;
    }
    if (!hit) continue;
    for (std::uint32_t at = n; at != TreeView::kNone && nodes.insert(at).second;) at = tree.nodes[at].parent;
  }
  return answer_nodes(made, ids, {nodes.begin(), nodes.end()});
}

Result<Answer> ProfileAnswers::flame(const Request& request) {
  std::vector<MetricId> ids;
  FATHOM_TRY(const std::vector<View> made, views(request, ids));
  const TreeView& tree = *made.front().tree;
  const auto least = parse_double(request.get("least", "0.0005"));
  if (!least || !(*least > 0)) return Error::usage("least must be a share of the total above 0");
  FATHOM_TRY(const auto start, start_of(request, tree, false));
  double whole = 0;
  for (const std::uint32_t n : start) whole += std::abs(tree.inclusive.scalar(n, 0));
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t root : start) {
    for (std::uint32_t n = root; n < tree.nodes[root].end;) {
      const bool wide = std::abs(tree.inclusive.scalar(n, 0)) >= *least * whole;
      if (wide) nodes.push_back(n);
      n = wide ? n + 1 : tree.nodes[n].end;
      if (nodes.size() >= static_cast<std::size_t>(kMostNodes)) break;
    }
  }
  return answer_nodes(made, ids, nodes);
}

Result<Answer> ProfileAnswers::spread(const Request& request) {
  FATHOM_TRY(const MetricId id, metric(request.get("metric")));
  FATHOM_TRY(const std::int64_t context, request.integer("context", -1));
  const Definitions& defs = profile_->defs();
  if (context >= static_cast<std::int64_t>(defs.contexts.size())) return Error::usage("there is no such context");
  Selection selection;
  selection.locations = all_locations(defs);
  selection.contexts = context < 0 ? defs.contexts.roots() : std::vector<ContextId>{ContextId(context)};
  Output out;
  JsonWriter json(out);
  json.begin_object().member("metric", std::string_view(defs.metric(id).name));
  json.member("unit", std::string_view(defs.metric(id).unit));
  for (const bool inclusive : {true, false}) {
    selection.flavour.kind = inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive;
    FATHOM_TRY(Cells cells, compute(*profile_, id, selection));
    for (std::size_t row = 1; row < cells.rows(); ++row) cells.add_row(0, cells, row);
    json.key(inclusive ? "inclusive" : "exclusive").begin_array();
    for (std::size_t i = 0; i < cells.columns() && cells.rows() > 0; ++i) write_wire(json, cells.at(0, i));
    json.end_array();
  }
  json.end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
