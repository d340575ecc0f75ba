#include "formats/callgrind/callgrind_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/capped_sum.hpp"
#include "base/number_text.hpp"
#include "io/inflate.hpp"
#include "io/output_file.hpp"
#include "profile/export/call_graph.hpp"

namespace fathom::callgrind {

namespace {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Names of events are words, and each event has its own: values of equal ones would be added up.
std::string event_name(std::string_view name, std::set<std::string>& taken) {
  std::string out;
  for (const char c : name) out.push_back(static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '=' ? '_' : c);
  if (out.empty()) out = "value";
  const std::string plain = out;
  for (int i = 2; !taken.insert(out).second; ++i) out = fmt::format("{}_{}", plain, i);
  return out;
}

class Writer {
 public:
  Writer(const Profile& profile, const StackExport& values, const CallGraph& graph, OutputFile& out)
      : profile_(profile), values_(values), graph_(graph), out_(out) {}

  Result<void> write() {
    out_.write("# callgrind format\nversion: 1\ncreator: fathom\n");
    for (const auto& [key, value] : profile_.defs().attributes) {
      out_.write(fmt::format("{}: {}\n", key == "cmd" ? "cmd" : "desc",
                             one_line(key == "cmd" || key == "desc" ? value : fmt::format("{}: {}", key, value))));
    }
    out_.write("\npositions: line\n");
    std::string events = "events:";
    std::set<std::string> taken;
    for (const ExportedMetric& metric : values_.metrics()) {
      const Metric& from = profile_.defs().metric(metric.id);
      const std::string title = from.display_name.empty() ? metric.name : from.display_name;
      const std::string event = event_name(metric.name, taken);
      out_.write(
          fmt::format("event: {} : {}{}\n", event, one_line(title),
                      metric.unit.empty() || metric.unit == "occ" ? "" : fmt::format(" [{}]", one_line(metric.unit))));
      events += " " + event;
    }
    out_.write(events + "\nsummary:");
    // Of what is written: costs below zero are not.
    std::vector<std::int64_t> totals;
    for (std::size_t i = 0; i < graph_.sum.size(); ++i) {
      CappedSum total;
      for (const CallGraph::Node& node : graph_.nodes) total += std::max<std::int64_t>(node.self[i], 0);
      totals.push_back(total);
    }
    put_costs(totals);
    std::vector<std::vector<std::uint32_t>> calls(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.arcs.size(); ++i) {
      calls[graph_.arcs[i].from].push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) block(i, calls[i]);
    out_.write("\ntotals:");
    put_costs(totals);
    if (negative_ == 0) return {};
    return profile_.work->diagnostics.add("convert.beyond", Severity::data_loss, Place::in(profile_.name),
                                          "a cost is negative, which callgrind cannot say; 0 is written", negative_);
  }

 private:
  void block(std::size_t index, const std::vector<std::uint32_t>& calls) {
    const CallGraph::Node& node = graph_.nodes[index];
    out_.write("\n");
    if (std::string text = name("ob", objects_, node.module); text != last_object_) out_.write(last_object_ = text);
    out_.write(name("fl", files_, node.file));
    out_.write(name("fn", functions_, key_of(node), node.name));
    put_line(node.line);
    put_costs(node.self);
    for (const std::uint32_t at : calls) {
      const CallGraph::Arc& arc = graph_.arcs[at];
      const CallGraph::Node& to = graph_.nodes[arc.to];
      out_.write(name("cob", objects_, to.module));
      out_.write(name("cfi", files_, to.file));
      out_.write(name("cfn", functions_, key_of(to), to.name));
      out_.write(fmt::format("calls={} {}\n", std::max<std::int64_t>(arc.calls.value(), 0),
                             std::max<std::int64_t>(to.line, 0)));
      put_line(node.line);
      put_costs(arc.cost);
    }
  }

  static std::string key_of(const CallGraph::Node& node) { return node.name + '\0' + node.file + '\0' + node.module; }

  using Numbers = std::unordered_map<std::string, std::size_t>;
  static std::string name(std::string_view key, Numbers& numbers, const std::string& text) {
    return name(key, numbers, text, text);
  }
  static std::string name(std::string_view key, Numbers& numbers, const std::string& text, const std::string& shown) {
    const auto [at, fresh] = numbers.try_emplace(text, numbers.size() + 1);
    if (!fresh) return fmt::format("{}=({})\n", key, at->second);
    return fmt::format("{}=({}) {}\n", key, at->second, shown.empty() ? "???" : one_line(shown));
  }

  void put_line(std::int64_t line) { out_.write(std::to_string(std::max<std::int64_t>(line, 0))); }
  void put_costs(std::span<const std::int64_t> costs) {
    std::string text;
    std::size_t count = costs.size();
    while (count > 1 && costs[count - 1] == 0) --count;
    for (const std::int64_t cost : costs.subspan(0, count)) {
      if (cost < 0) ++negative_;
      text.push_back(' ');
      append_number(text, std::max<std::int64_t>(cost, 0));
    }
    out_.write(text + "\n");
  }

  const Profile& profile_;
  const StackExport& values_;
  const CallGraph& graph_;
  OutputFile& out_;
  Numbers objects_, files_, functions_;
  std::string last_object_;
  std::uint64_t negative_ = 0;
};

}  // namespace

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  ExportOptions how{.format = "callgrind", .sum_locations = true};
  for (const auto& [key, value] : options.options) how.metrics.push_back(value);
  FATHOM_TRY(const auto profile, dataset.profile());
  FATHOM_TRY(const StackExport values, StackExport::plan(*profile, how));
  FATHOM_TRY(const CallGraph graph, call_graph(*profile, values));
  if (profile->defs().contexts.size() > graph.nodes.size()) {
    profile->work->diagnostics.info(
        "convert.paths", Place::in(profile->name),
        fmt::format("{} call paths become {} functions and {} calls between them", profile->defs().contexts.size(),
                    graph.nodes.size(), graph.arcs.size()));
  }
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  FATHOM_CHECK(Writer(*profile, values, graph, out).write());
  if (!options.compress && target.extension() != ".gz") return out.commit();
  FATHOM_TRY(const Blob plain, out.written());
  FATHOM_TRY(OutputFile packed, OutputFile::create(target));
  constexpr int kGzipLevel = 6;
  packed.write(Bytes(gzip(plain.bytes(), kGzipLevel)));
  return packed.commit();
}

}  // namespace fathom::callgrind
