#include "serve/compare_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <unordered_map>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "experiment/diff.hpp"
#include "profile/absent.hpp"
#include "profile/aggregate.hpp"
#include "profile/diff/diff.hpp"
#include "profile/selection.hpp"
#include "profile/views.hpp"
#include "report/changes_json.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {

constexpr std::int64_t kMostNodes = 20000;

Result<std::string> metric_name(const Profile& before, const Request& request) {
  if (const std::string_view name = request.get("metric"); !name.empty()) return std::string(name);
  FATHOM_TRY(const auto metrics, choose_or_guess_metrics(before, {}));
  return before.defs().metric(metrics.front()).name;
}

Answer changes_answer(const MetricChanges& changes, std::string_view match, std::string_view flavour) {
  Output out;
  JsonWriter json(out);
  json.begin_object().member("match", match);
  if (!flavour.empty()) json.member("flavour", flavour);
  const std::vector<MetricChanges> all{changes};
  write_changes(json, totals_table(all), changes_table(all));
  json.end_object();
  return Answer::json(out.text());
}

// Both trees in one.
struct United {
  struct Node {
    std::uint32_t parent = TreeView::kNone;
    std::string name;
    RegionId region;  // on the side where it was met first
    bool first_side = true;
    std::array<std::optional<double>, 2> inclusive;
    std::array<std::optional<double>, 2> exclusive;
    std::array<std::vector<ContextId>, 2> contexts;
    std::vector<std::uint32_t> children;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> roots;
};

void unite(United& united, std::unordered_map<std::string, std::uint32_t>& known, const Profile& profile,
           const TreeView& view, std::size_t side, std::string_view unit, std::string_view in_unit) {
  std::vector<std::uint32_t> place(view.nodes.size());
  const auto add = [&](std::optional<double>& sum, double value) {
    sum = sum.value_or(0) + in_time_unit(value, unit, in_unit);
  };
  for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
    const TreeView::Node& node = view.nodes[n];
    const std::uint32_t parent = node.parent == TreeView::kNone ? TreeView::kNone : place[node.parent];
    const std::string name = profile.defs().context_name(node.context);
    const auto [found, fresh] =
        known.try_emplace(fmt::format("{}\x1f{}", parent, name), static_cast<std::uint32_t>(united.nodes.size()));
    if (fresh) {
      united.nodes.push_back({parent, name, node.region, side == 0, {}, {}, {}, {}});
      (parent == TreeView::kNone ? united.roots : united.nodes[parent].children).push_back(found->second);
    }
    place[n] = found->second;
    add(united.nodes[found->second].inclusive[side], view.inclusive.scalar(n, 0));
    add(united.nodes[found->second].exclusive[side], view.exclusive.scalar(n, 0));
    united.nodes[found->second].contexts[side].push_back(node.context);
  }
}

// Extremes and what is derived are no sums: where several contexts are one node they are worked out for all of them.
Result<void> combine(United& united, const Profile& profile, MetricId id, std::size_t side, std::string_view in_unit) {
  const Metric& metric = profile.defs().metric(id);
  if (metric.type.is_plain_number() && !metric.derived()) return {};
  Grouping grouping = Grouping::over_whole_system(profile.defs());
  for (const United::Node& node : united.nodes) grouping.rows.push_back(node.contexts[side]);
  for (const auto& [kind, values] : {std::pair{Flavour::Kind::inclusive, &United::Node::inclusive},
                                     std::pair{Flavour::Kind::exclusive, &United::Node::exclusive}}) {
    FATHOM_TRY(const Cells cells, compute_groups(profile, id, {kind, {}}, grouping));
    for (std::size_t n = 0; n < united.nodes.size(); ++n) {
      std::optional<double>& value = (united.nodes[n].*values)[side];
      if (!value) continue;
      value.reset();
      if (has_value(cells, n, 0)) value = in_time_unit(cells.scalar(n, 0), metric.unit, in_unit);
    }
  }
  return {};
}

// As many as fit, the largest on either side first, parents before children; then in depth-first order.
std::vector<std::uint32_t> chosen_nodes(const United& united, std::size_t limit) {
  const auto weight = [&](std::uint32_t n) {
    const auto& both = united.nodes[n].inclusive;
    return std::max(std::abs(both[0].value_or(0)), std::abs(both[1].value_or(0)));
  };
  std::priority_queue<std::pair<double, std::uint32_t>> waiting;
  for (const std::uint32_t n : united.roots) waiting.emplace(weight(n), n);
  std::vector<bool> chosen(united.nodes.size(), false);
  for (std::size_t taken = 0; !waiting.empty() && taken < limit; ++taken) {
    const std::uint32_t n = waiting.top().second;
    waiting.pop();
    chosen[n] = true;
    for (const std::uint32_t child : united.nodes[n].children) waiting.emplace(weight(child), child);
  }
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> stack(united.roots.rbegin(), united.roots.rend());
  while (!stack.empty()) {
    const std::uint32_t n = stack.back();
    stack.pop_back();
    if (!chosen[n]) continue;
    out.push_back(n);
    const auto& children = united.nodes[n].children;
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return out;
}

}  // namespace

Result<Answer> compare(const ProfilePtr& before, const ProfilePtr& after, const Request& request) {
  static constexpr std::array<std::pair<std::string_view, MatchBy>, 4> kMatches{
      {{"name", MatchBy::name}, {"path", MatchBy::path}, {"line", MatchBy::line}, {"file", MatchBy::file}}};
  const std::string_view match = request.get("match", "name");
  const auto* by = std::find_if(kMatches.begin(), kMatches.end(), [&](const auto& m) { return m.first == match; });
  if (by == kMatches.end()) return Error::usage(fmt::format("match by name, path, line or file, not '{}'", match));
  const std::string_view flavour = request.get("flavour", "exclusive");
  FATHOM_TRY(const std::string metric, metric_name(*before, request));
  FATHOM_TRY(const MetricChanges changes, diff(std::span(&before, 1), std::span(&after, 1), metric,
                                               DiffOptions{by->second, flavour == "inclusive"}));
  return changes_answer(changes, match, flavour);
}

Result<Answer> compare(const Experiment& before, const Experiment& after, const Request& request) {
  std::string metric(request.get("metric"));
  if (metric.empty()) {
    for (const Named& named : before.metrics()) {
      if (metric.empty() || named.name == "time") metric = named.name;
    }
  }
  FATHOM_TRY(const MetricChanges changes, diff(before, after, metric));
  return changes_answer(changes, "path", "");
}

Result<Answer> compare_tree(const ProfilePtr& before, const ProfilePtr& after, const Request& request) {
  FATHOM_TRY(const std::string metric, metric_name(*before, request));
  FATHOM_TRY(const std::int64_t limit, request.integer("limit", kMostNodes));
  United united;
  std::unordered_map<std::string, std::uint32_t> known;
  std::array<double, 2> totals{};
  const std::array<const Profile*, 2> sides{before.get(), after.get()};
  std::string unit;
  for (std::size_t side = 0; side < 2; ++side) {
    const Profile& profile = *sides[side];
    const MetricId id = profile.defs().find_metric(metric);
    if (!id.valid()) return Error::usage(fmt::format("{} has no metric '{}'", profile.name, metric));
    const std::string& here = profile.defs().metric(id).unit;
    if (unit.empty()) unit = here;
    FATHOM_TRY(const TreeView view, top_down(profile, {id, {}, {}}));
    FATHOM_TRY(const Value total, metric_total(profile, id, {}));
    totals[side] = in_time_unit(total.scalar(), here, unit);
    unite(united, known, profile, view, side, here, unit);
    FATHOM_CHECK(combine(united, profile, id, side, unit));
  }
  const auto nodes = chosen_nodes(united, static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostNodes)));
  Output out;
  JsonWriter json(out);
  json.begin_object().member("metric", std::string_view(metric)).member("unit", std::string_view(unit));
  json.member("before_total", totals[0]).member("after_total", totals[1]);
  const auto column = [&](std::string_view name, const auto& write) {
    json.key(name).begin_array();
    for (const std::uint32_t n : nodes) write(n, united.nodes[n]);
    json.end_array();
  };
  const auto region = [&](const United::Node& node) -> const Region* {
    return node.region.valid() ? &sides[node.first_side ? 0 : 1]->defs().region(node.region) : nullptr;
  };
  const auto value = [&](const std::optional<double>& v) {
    if (v) {
      json.value(*v);
    } else {
      json.value(nullptr);
    }
  };
  column("node", [&](std::uint32_t n, const United::Node&) { json.value(n); });
  column("parent", [&](std::uint32_t, const United::Node& node) {
    json.value(node.parent == TreeView::kNone ? std::int64_t{-1} : std::int64_t{node.parent});
  });
  column("children", [&](std::uint32_t, const United::Node& node) { json.value(node.children.size()); });
  column("name", [&](std::uint32_t, const United::Node& node) { write_text(json, demangle(node.name)); });
  column("paradigm", [&](std::uint32_t, const United::Node& node) {
    json.value(region(node) == nullptr ? std::string_view{} : std::string_view(region(node)->paradigm));
  });
  column("role", [&](std::uint32_t, const United::Node& node) {
    json.value(region(node) == nullptr ? std::string_view{} : std::string_view(region(node)->role));
  });
  column("before_inclusive", [&](std::uint32_t, const United::Node& node) { value(node.inclusive[0]); });
  column("after_inclusive", [&](std::uint32_t, const United::Node& node) { value(node.inclusive[1]); });
  column("before_exclusive", [&](std::uint32_t, const United::Node& node) { value(node.exclusive[0]); });
  column("after_exclusive", [&](std::uint32_t, const United::Node& node) { value(node.exclusive[1]); });
  json.member("all", united.nodes.size()).end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
