#include "formats/hpctoolkit/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "defs/presentation.hpp"

namespace fathom::hpctoolkit {

void ContextIndex::finish() {
  std::stable_sort(list_.begin(), list_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
  if (list_.empty() || list_.back().first > 2 * list_.size() + 65536) return;
  table_.assign(std::size_t{list_.back().first} + 1, ContextId());
  for (const auto& [id, context] : list_) table_[id] = context;
  std::vector<std::pair<std::uint32_t, ContextId>>().swap(list_);
}

const std::vector<std::string>& default_id_names() {
  static const std::vector<std::string> kNames = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                                  "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
  return kNames;
}

std::pair<std::string, std::string> without_scope(const std::string& name) {
  if (name.ends_with(" (I)")) return {name.substr(0, name.size() - 4), "inclusive"};
  if (name.ends_with(" (E)")) return {name.substr(0, name.size() - 4), "exclusive"};
  return {name, ""};
}

std::string unit_in_name(std::string_view name) {
  for (const std::string_view statistic : {":Sum", ":Mean", ":StdDev", ":Min", ":Max"}) {
    if (!name.ends_with(statistic)) continue;
    name.remove_suffix(statistic.size());
    break;
  }
  if (!name.ends_with(')')) return {};
  const auto open = name.rfind('(');
  return open == std::string_view::npos ? std::string() : std::string(name.substr(open + 1, name.size() - open - 2));
}

std::string line_name(std::string_view file, std::int64_t line) {
  const auto slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file.empty() ? "<unknown file>" : file, line);
}

void present(Metric& metric, const std::vector<const XmlMetric*>& columns) {
  // show: 0 = no, 1 = yes, 2 = inclusive only, 3 = exclusive only, 4 = an accumulator.
  Presentation shown{false, false, false, {}};
  for (const XmlMetric* column : columns) {
    const bool exclusive = column->scope == "exclusive";
    const bool visible = column->show == 1 || column->show == (exclusive ? 3 : 2);
    if (visible && exclusive) shown.exclusive = true;
    if (visible && !exclusive) shown.inclusive = true;
    shown.percent = shown.percent || column->show_percent;
    if (shown.format.empty()) shown.format = column->format;
  }
  metric.hidden = !shown.inclusive && !shown.exclusive;
  // A column of one flavour says nothing about the other.
  const auto of_flavour = [&](bool exclusive) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const XmlMetric* column) { return (column->scope == "exclusive") == exclusive; });
  };
  if (metric.hidden || !of_flavour(true)) shown.exclusive = true;
  if (metric.hidden || !of_flavour(false)) shown.inclusive = true;
  fathom::present(metric, shown);
}

Result<void> note_shared_ids(Mapping& mapping, const std::string& file, const Work& work) {
  std::map<std::uint16_t, std::vector<StoredMetric>> users;
  for (std::size_t m = 0; m < mapping.ids.size(); ++m) {
    for (std::uint32_t scope = 0; scope < mapping.ids[m].size(); ++scope) {
      users[mapping.ids[m][scope]].push_back({MetricId(m), scope});
    }
  }
  for (const auto& [id, list] : users) {
    if (list.size() < 2) continue;
    if (mapping.turns.empty()) {
      for (const auto& ids : mapping.ids) mapping.turns.emplace_back(ids.size(), std::uint16_t{0});
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      mapping.turns[list[i].metric.index()][list[i].scope] = static_cast<std::uint16_t>(i);
      const Metric& metric = mapping.definitions->metric(list[i].metric);
      names.push_back(fmt::format("'{}' ({})", metric.name, metric.scopes[list[i].scope].name));
    }
    FATHOM_CHECK(work->diagnostics.warn(
        "hpctoolkit.shared_metric_id", Place::in(file),
        fmt::format("{} share the stored id {}: several values under it are theirs in this order, a single one counts "
                    "for each",
                    fmt::join(names, ", "), id)));
  }
  return {};
}

void map_system(const std::vector<ProfileRecord>& profiles, const std::vector<std::string>& id_names,
                Mapping& mapping) {
  SystemTree& system = mapping.definitions->system;
  // (parent, kind, logical, physical) of what is shared by several profiles.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>, SystemNodeId> shared;
  const auto kind_name = [&](std::uint16_t kind) {
    return kind < id_names.size() && !id_names[kind].empty() ? id_names[kind] : fmt::format("KIND{}", kind);
  };
  constexpr std::uint32_t kProcess = 0xFFFF0000;  // made up where the tuple names none
  const auto inner = [&](SystemNodeId parent, std::uint32_t kind, SystemNode node, const Identifier& id) {
    auto [found, fresh] = shared.try_emplace({parent.value, kind, id.logical, id.physical}, SystemNodeId());
    if (fresh) {
      node.parent = parent;
      node.file_id = id.logical;
      found->second = system.add(std::move(node));
    }
    return found->second;
  };
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const ProfileRecord& profile = profiles[i];
    if (profile.summary) continue;
    SystemNodeId node;
    SystemNodeId process;
    SystemNode location;
    std::string tuple_text;
    for (const Identifier& id : profile.tuple) {
      const std::string kind = kind_name(id.kind);
      tuple_text += fmt::format("{}{}:{}:{}:{}", tuple_text.empty() ? "" : ";", kind, id.logical, id.physical,
                                id.physical_is_real ? 'p' : '-');
      const std::string name = fmt::format("{} {}", kind, id.logical);
      if (kind == "NODE") {
        SystemNode made{{}, SystemKind::node, "node", name, {}, {}, 0, {}, {}, {}};
        made.attributes.emplace_back("host id", fmt::format("{:x}", id.physical));
        node = inner({}, id.kind, std::move(made), id);
        continue;
      }
      if (!node.valid())
        node = inner({}, kProcess, {{}, SystemKind::node, "machine", "machine", {}, {}, 0, {}, {}, {}}, {});
      if (kind == "RANK") {
        process = inner(
            node, id.kind,
            {{}, SystemKind::group, "process", name, {}, static_cast<std::int64_t>(id.logical), 0, {}, {}, {}}, id);
        continue;
      }
      location.attributes.emplace_back(kind, std::to_string(id.logical));
      if (kind == "CORE") continue;  // where a thread was bound to: not part of its name
      location.name += (location.name.empty() ? "" : " ") + name;
      location.type = kind == "THREAD" ? "thread" : kind == "GPUSTREAM" ? "gpu stream" : kind;
      location.rank = static_cast<std::int64_t>(id.logical);
    }
    if (!node.valid())
      node = inner({}, kProcess, {{}, SystemKind::node, "machine", "machine", {}, {}, 0, {}, {}, {}}, {});
    if (!process.valid())
      process = inner(node, kProcess, {{}, SystemKind::group, "process", "process", {}, {}, 0, {}, {}, {}}, {});
    if (location.name.empty()) location.name = fmt::format("profile {}", i);
    if (location.type.empty()) location.type = "thread";
    location.attributes.emplace_back("id tuple", tuple_text);
    location.parent = process;
    location.file_id = i;
    system.add_location(std::move(location));
    mapping.profile_of_location.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace fathom::hpctoolkit
