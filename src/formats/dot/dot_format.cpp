// Written only: the call graph of a profile as GraphViz draws it, in the style that users of gprof2dot know.
#include "formats/dot/dot_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.hpp"
#include "base/shown_files.hpp"
#include "base/text.hpp"
#include "io/output_file.hpp"
#include "profile/export/call_graph.hpp"

namespace fathom::dot {

namespace {

struct Limits {
  double node = 0.005;  // shares of the total
  double edge = 0.001;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (c == '\n' || c == '\r') {
      out += "\\n";
    } else {
      out.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    }
  }
  return out;
}

// From dark blue for what is cold to red for what is hot.
std::string colour(double share) {
  const double heat = std::clamp(share, 0.0, 1.0);
  const double hue = 2.0 / 3.0 * (1 - heat);
  const double saturation = 0.8 + 0.2 * heat;
  const double lightness = 0.25 + 0.25 * heat;
  const double chroma = (1 - std::abs(2 * lightness - 1)) * saturation;
  const double sector = hue * 6;
  const double second = chroma * (1 - std::abs(std::fmod(sector, 2.0) - 1));
  double rgb[3] = {0, 0, 0};
  constexpr int kOrder[6][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 0}, {0, 2}};
  const int at = std::min(5, static_cast<int>(sector));
  rgb[kOrder[at][0]] = chroma;
  rgb[kOrder[at][1]] = second;
  const double base = lightness - chroma / 2;
  const auto byte = [&](double part) { return static_cast<int>(std::lround((part + base) * 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(rgb[0]), byte(rgb[1]), byte(rgb[2]));
}

constexpr Option<std::string> kNodes{"nodes", "PERCENT", "no functions below this share of the total (0.5)"};
constexpr Option<std::string> kEdges{"edges", "PERCENT", "no calls below this share of the total (0.1)"};

Result<double> share_option(std::string_view key, std::string_view value) {
  const bool percent = value.ends_with('%');
  const auto number = parse_double(percent ? value.substr(0, value.size() - 1) : value);
  if (!number || !(*number >= 0 && *number <= 100)) {
    return Error::usage(fmt::format("dot: '{}' is no percentage for {}", value, key)).hint("--option nodes=0.5");
  }
  return *number / 100;
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  ExportOptions how{.format = "dot", .one_metric = true, .sum_locations = true};
  Limits limits;
  for (const auto& [key, value] : options.options) {
    if (key == kExportMetric.name) how.metrics.push_back(value);
    if (key == kNodes.name) {
      FATHOM_TRY(limits.node, share_option(key, value));
    }
    if (key == kEdges.name) {
      FATHOM_TRY(limits.edge, share_option(key, value));
    }
  }
  FATHOM_TRY(const auto profile, dataset.profile());
  FATHOM_TRY(const StackExport values, StackExport::plan(*profile, how));
  FATHOM_TRY(const CallGraph graph, call_graph(*profile, values));
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  out.write(fmt::format("digraph \"{}\" {{\n", escaped(shown_file(profile->name))));
  const ExportedMetric* metric = values.metrics().empty() ? nullptr : &values.metrics().front();
  out.write(
      "  graph [fontname=\"Arial\", nodesep=0.125, ranksep=0.25];\n"
      "  node [fontname=\"Arial\", fontsize=10, shape=box, style=filled, height=0, width=0, fontcolor=white];\n"
      "  edge [fontname=\"Arial\", fontsize=10];\n");
  const double whole = metric == nullptr ? 0 : std::abs(static_cast<double>(graph.sum.front()));
  const auto share = [&](std::int64_t value) { return whole > 0 ? static_cast<double>(value) / whole : 0; };
  if (metric != nullptr) {
    out.write(fmt::format("  label=\"{}: {}\";\n", escaped(metric->name),
                          escaped(readable(static_cast<double>(graph.sum.front()), metric->unit))));
  }
  std::vector<bool> shown(graph.nodes.size());
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const CallGraph::Node& node = graph.nodes[i];
    const double total = metric == nullptr ? 0 : share(node.total.front());
    shown[i] = total >= limits.node;
    if (!shown[i]) {
      ++left_out;
      continue;
    }
    out.write(fmt::format("  n{} [label=\"{}\\n{:.2f}%\\n({:.2f}%){}\", color=\"{}\", tooltip=\"{}\"];\n", i,
                          escaped(node.name), total * 100, share(node.self.front()) * 100,
                          graph.counts_calls && node.calls > 0 ? fmt::format("\\n{}×", node.calls.value()) : "",
                          colour(total),
                          escaped(node.file.empty() ? node.name : fmt::format("{}:{}", node.file, node.line))));
  }
  std::size_t edges_left_out = 0;
  for (const CallGraph::Arc& arc : graph.arcs) {
    const double part = metric == nullptr ? 0 : share(arc.cost.front());
    if (!shown[arc.from] || !shown[arc.to] || part < limits.edge) {
      ++edges_left_out;
      continue;
    }
    const double width = std::clamp(part * 4, 0.5, 4.0);
    out.write(fmt::format(
        "  n{} -> n{} [label=\"{:.2f}%{}\", color=\"{}\", fontcolor=\"{}\", penwidth={:.2f}, arrowsize={:.2f}];\n",
        arc.from, arc.to, part * 100,
        graph.counts_calls && arc.calls > 0 ? fmt::format("\\n{}×", arc.calls.value()) : "", colour(part), colour(part),
        width, 0.5 * std::sqrt(width)));
  }
  out.write("}\n");
  if (left_out + edges_left_out > 0) {
    profile->work->diagnostics.info(
        "dot.left_out", Place::in(profile->name),
        fmt::format("{} functions below {:g} % and {} calls below {:g} % or between them are not drawn", left_out,
                    limits.node * 100, edges_left_out, limits.edge * 100));
  }
  return out.commit();
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "dot",
                              .title = "call graph for GraphViz",
                              .extensions = ".dot .gv",
                              .can = {{}, {Level::profile}},
                              .write = write,
                              .options = {.writing = {&kExportMetric, &kNodes, &kEdges}}};
  return kFormat;
}

}  // namespace fathom::dot
