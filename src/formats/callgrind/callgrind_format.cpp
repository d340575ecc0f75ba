#include "formats/callgrind/callgrind_format.hpp"

#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "formats/callgrind/callgrind_file.hpp"
#include "formats/callgrind/callgrind_writer.hpp"
#include "formats/stack_file.hpp"
#include "io/line_cursor.hpp"
#include "profile/build/profile_builder.hpp"
#include "profile/export/call_graph.hpp"

namespace fathom::callgrind {

namespace {

constexpr std::uint32_t kInclusive = 1;  // second stored scope of an event

// xdebug and others put the unit into the name: "Memory_(bytes)".
std::string unit_of(const std::string& name) {
  const std::size_t open = name.rfind("_(");
  if (open == std::string::npos || !name.ends_with(')')) return "occ";
  return name.substr(open + 2, name.size() - open - 3);
}

Result<ProfilePtr> to_profile(const CallgrindFile& file, const std::string& name, const Work& work) {
  ProfileBuilder builder(work, name);
  std::vector<MetricId> metrics;
  for (const Event& event : file.events) {
    Metric metric;
    metric.name = event.name;
    metric.display_name = event.title.empty() ? event.name : event.title;
    metric.unit = unit_of(event.name);
    metric.type = {ValueKind::i64, 0};
    // A graph has no paths along which values could be added up: what functions cost with what they call is stored.
    metric.scopes = {{Scope::exclusive, {}}, {Scope::named, "inclusive"}};
    metrics.push_back(builder.add_metric(std::move(metric)));
  }
  Metric calls;
  calls.name = "calls";
  calls.display_name = "Calls";
  calls.description = "How often a function is called";
  calls.unit = "occ";
  calls.type = {ValueKind::i64, 0};
  const MetricId calls_id = builder.add_metric(std::move(calls));

  // Functions of one name, file and object are one context: a damaged file may name one twice.
  std::vector<ProfileBuilder::Node> nodes;
  for (const Function& function : file.functions) {
    const RegionId region = builder.region(function.name, function.file, function.object);
    nodes.push_back(builder.child(ProfileBuilder::kRoot, region));
  }
  std::map<std::string, SystemNodeId> processes;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Call> arcs;
  SystemNode machine;
  machine.type = "machine";
  machine.name = "machine";
  const SystemNodeId root = builder.system.add(std::move(machine));
  for (const Thread& thread : file.threads) {
    const auto [process, fresh] = processes.try_emplace(thread.pid);
    if (fresh) {
      SystemNode node;
      node.parent = root;
      node.kind = SystemKind::group;
      node.type = "process";
      node.name = file.command.empty() ? "Process 0" : file.command;
      node.rank = static_cast<std::int64_t>(processes.size() - 1);
      if (!thread.pid.empty()) node.attributes.emplace_back("pid", thread.pid);
      process->second = builder.system.add(std::move(node));
    }
    SystemNode node;
    node.parent = process->second;
    node.type = "thread";
    node.rank = parse_integer<std::int64_t>(thread.number.empty() ? "0" : thread.number);
    node.name = fmt::format("Thread {}", thread.number.empty() ? "0" : thread.number);
    node.file_id = builder.system.location_count();
    const LocationId location = builder.system.add_location(std::move(node));
    const auto add = [&](std::uint32_t function, const std::vector<std::uint64_t>& costs, std::uint32_t scope) {
      for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] == 0) continue;
        builder.add(location, metrics[i], nodes[function], static_cast<std::int64_t>(costs[i]), scope);
      }
    };
    for (std::uint32_t i = 0; i < thread.self.size(); ++i) {
      add(i, thread.self[i], 0);
      add(i, thread.self[i], kInclusive);
    }
    for (const Call& call : thread.calls) {
      if (nodes[call.from] != nodes[call.to]) add(call.from, call.costs, kInclusive);
      builder.add(location, calls_id, nodes[call.to], static_cast<std::int64_t>(call.count));
      Call& all = arcs[{nodes[call.from], nodes[call.to]}];
      all.count += call.count;
      if (all.costs.size() < call.costs.size()) all.costs.resize(call.costs.size());
      for (std::size_t i = 0; i < call.costs.size(); ++i) all.costs[i] += call.costs[i];
    }
  }
  for (const auto& [ends, call] : arcs) {
    std::string text = fmt::format("{} {}", ends.second, call.count);
    for (const std::uint64_t cost : call.costs) text += fmt::format(" {}", cost);
    builder.details(ends.first).attributes.emplace_back(kCallAttribute, std::move(text));
  }
  if (builder.system.location_count() == 0) {
    builder.system = {};
    add_single_location(builder.system);
  }
  const auto attribute = [&](const char* key, const std::string& value) {
    if (!value.empty()) builder.attributes.emplace_back(key, value);
  };
  attribute("cmd", file.command);
  attribute("creator", file.creator);
  for (const std::string& one : file.descriptions) attribute("desc", one);
  if (!file.derived.empty()) {
    std::vector<std::string> names;
    for (const Event& event : file.derived) {
      names.push_back(event.name);
      attribute("event", fmt::format("{} = {}", event.name, event.formula));
    }
    work->diagnostics.info(
        "callgrind.derived_event", Place::in(name),
        fmt::format("computed events are not metrics: {}; --derive makes them", fmt::join(names, ", ")));
  }
  if (!file.functions.empty()) {
    work->diagnostics.info("profile.flat", Place::in(name),
                           "a call graph without call paths: what functions cost with all that they call is the scope "
                           "'inclusive' (table --scope inclusive)");
  }
  return std::move(builder).finish();
}

class CallgrindDataset final : public StackFileDataset {
 public:
  CallgrindDataset(const Source& source, const Work& work, std::shared_ptr<const CallgrindFile> file)
      : StackFileDataset(callgrind::format(), source, work), file_(std::move(file)) {}

  [[nodiscard]] std::string version() const override { return file_->version; }
  [[nodiscard]] std::vector<InfoEntry> more_info() const override {
    std::uint64_t arcs = 0;
    std::uint64_t calls = 0;
    for (const Thread& thread : file_->threads) {
      arcs += thread.calls.size();
      for (const Call& call : thread.calls) calls += call.count;
    }
    return {{"edges", arcs}, {"calls", calls}, {"parts", std::max<std::uint64_t>(1, file_->parts)}};
  }
  Result<ProfilePtr> make_profile() override { return to_profile(*file_, blob().name(), work()); }

  // Names in full, one line per function and call.
  Result<void> dump(const DumpOptions&, const TextSink& sink) override {
    std::string line = "events:";
    for (const Event& event : file_->events) line += " " + event.name;
    if (!sink(line + "\n")) return {};
    for (const Thread& thread : file_->threads) {
      if (!thread.number.empty() && !sink(fmt::format("thread: {}\n", thread.number))) return {};
      for (std::size_t i = 0; i < thread.self.size(); ++i) {
        if (thread.self[i].empty()) continue;
        const Function& function = file_->functions[i];
        if (!sink(fmt::format("fn={} fl={} ob={}: {}\n", function.name, function.file, function.object,
                              fmt::join(thread.self[i], " ")))) {
          return {};
        }
      }
      for (const Call& call : thread.calls) {
        if (!sink(fmt::format("{} -> {} calls={}: {}\n", file_->functions[call.from].name,
                              file_->functions[call.to].name, call.count, fmt::join(call.costs, " ")))) {
          return {};
        }
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const CallgrindFile> file_;
};

Match recognise(const Source& source) {
  if (source.is_directory()) return {};
  constexpr std::size_t kLookedAt = 1 << 16;
  const std::string_view head = source.head(kLookedAt);
  if (head.starts_with("# callgrind format")) return {Confidence::certain, "begins with '# callgrind format'"};
  bool events = false;
  bool positions = false;
  bool creator = false;
  bool function = false;
  LineCursor lines(source.blob().part(0, head.size()));
  for (int i = 0; i < 2000; ++i) {
    const auto line = lines.next();
    if (!line) break;
    events = events || line->starts_with("events:");
    positions = positions || line->starts_with("positions:");
    creator = creator || line->starts_with("creator: callgrind") || line->starts_with("creator: xdebug");
    function = function || line->starts_with("fn=");
  }
  if (events && (creator || (function && positions))) {
    return {Confidence::certain, "has the header lines 'events:' and 'creator:' or 'positions:' of callgrind"};
  }
  if (events && function) return {Confidence::likely, "has lines 'events:' and 'fn='"};
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; a callgrind profile is one file", Place::in(source.path().string()));
  }
  FATHOM_TRY(auto file, read(source.blob(), work));
  return DatasetPtr(std::make_unique<CallgrindDataset>(source, work, std::move(file)));
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "callgrind",
                              .title = "callgrind profile",
                              .extensions = ".callgrind .callgrind.gz",
                              .can = {{Level::profile}, {Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .options = {.writing = {&kExportMetric}}};
  return kFormat;
}

}  // namespace fathom::callgrind
