// Anchor -> anchor.xml, in the exact shape that the official reader accepts: fixed order of sections and elements, no
// self-closing elements but attr, dim and parameter, and two attributes without quotes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "formats/cube/anchor.hpp"

namespace fathom::cube {

namespace {

class Writer {
 public:
  explicit Writer(const Anchor& anchor) : anchor_(anchor) {}

  std::string write() && {
    line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    line("<cube version=\"{}\"{}>", xml_escape(anchor_.version), unknown_attributes(anchor_.unknown));
    depth_ = 1;
    // Sorted by key, as the official library keeps them.
    Attributes sorted = anchor_.attributes;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    attributes(sorted);
    doc();
    metrics();
    program();
    system();
    raw(anchor_.unknown);
    depth_ = 0;
    line("</cube>");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(2 * std::min(depth_, kDeepestIndent), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void text(const char* element, std::string_view content) {
    line("<{}>{}</{}>", element, xml_escape(content), element);
  }
  void attributes(const Attributes& list) {
    for (const auto& [key, value] : list) line("<attr key=\"{}\" value=\"{}\"/>", xml_escape(key), xml_escape(value));
  }
  static std::string unknown_attributes(const Unknown& unknown) {
    std::string out;
    for (const auto& [key, value] : unknown.attributes) out += fmt::format(" {}=\"{}\"", key, xml_escape(value));
    return out;
  }
  void raw(const Unknown& unknown) {
    if (!unknown.elements.empty()) line("{}", unknown.elements);
  }
  static std::string title(const std::optional<std::string>& text) {
    return text ? fmt::format(" title=\"{}\"", xml_escape(*text)) : std::string();
  }

  void doc() {
    if (anchor_.mirrors.empty() && anchor_.unknown_doc.empty()) return;
    line("<doc{}>", unknown_attributes(anchor_.unknown_doc));
    ++depth_;
    line("<mirrors>");
    ++depth_;
    for (const std::string& mirror : anchor_.mirrors) text("murl", mirror);
    --depth_;
    line("</mirrors>");
    raw(anchor_.unknown_doc);
    --depth_;
    line("</doc>");
  }

  // Closes open elements until `parent` is the innermost one.
  void close_to(std::vector<std::uint32_t>& open, std::uint32_t parent, const char* element) {
    while (!open.empty() && open.back() != parent) {
      open.pop_back();
      --depth_;
      line("</{}>", element);
    }
  }

  void metrics() {
    line("<metrics{}{}>", title(anchor_.metrics_title), unknown_attributes(anchor_.unknown_metrics));
    ++depth_;
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < anchor_.metrics.size(); ++i) {
      const AnchorMetric& metric = anchor_.metrics[i];
      close_to(open, metric.parent, "metric");
      open_metric(metric);
      open.push_back(i);
    }
    close_to(open, kNoIndex, "metric");
    raw(anchor_.unknown_metrics);
    --depth_;
    line("</metrics>");
  }

  void open_metric(const AnchorMetric& metric) {
    std::string head = fmt::format("<metric id=\"{}\"", metric.id);
    const auto attribute = [&](const char* name, const std::string& value) {
      if (!value.empty()) head += fmt::format(" {}=\"{}\"", name, xml_escape(value));
    };
    attribute("type", metric.type);
    attribute("viztype", metric.viztype);
    attribute("convertible", metric.convertible);
    attribute("cacheable", metric.cacheable);
    line("{}{}>", head, unknown_attributes(metric.unknown));
    ++depth_;
    text("disp_name", metric.disp_name);
    text("uniq_name", metric.uniq_name);
    text("dtype", metric.dtype);
    text("uom", metric.uom);
    if (!metric.val.empty()) text("val", metric.val);
    text("url", metric.url);
    text("descr", metric.descr);
    if (metric.cubepl) {
      line("<cubepl{}>{}</cubepl>", unquoted("rowwise", metric.rowwise), xml_escape(*metric.cubepl));
    }
    for (const std::string& program : metric.cubeplinit) text("cubeplinit", program);
    for (const CubeplAggregation& aggregation : metric.cubeplaggr) {
      line("<cubeplaggr{}>{}</cubeplaggr>", unquoted("cubeplaggrtype", aggregation.kind), xml_escape(aggregation.text));
    }
    attributes(metric.attributes);
    raw(metric.unknown);
  }

  // Without quotes where the value is a plain word, which is all that may stand there.
  static std::string unquoted(const char* name, const std::string& value) {
    if (value.empty()) return {};
    const bool word = std::all_of(value.begin(), value.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    return word ? fmt::format(" {}={}", name, value) : fmt::format(" {}=\"{}\"", name, xml_escape(value));
  }

  void program() {
    line("<program{}{}>", title(anchor_.program_title), unknown_attributes(anchor_.unknown_program));
    ++depth_;
    for (const AnchorRegion& region : anchor_.regions) {
      line("<region id=\"{}\" mod=\"{}\" begin=\"{}\" end=\"{}\"{}>", region.id, xml_escape(region.mod), region.begin,
           region.end, unknown_attributes(region.unknown));
      ++depth_;
      text("name", region.name);
      text("mangled_name", region.mangled_name.value_or(region.name));
      text("paradigm", region.paradigm);
      text("role", region.role);
      text("url", region.url);
      text("descr", region.descr);
      attributes(region.attributes);
      raw(region.unknown);
      --depth_;
      line("</region>");
    }
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < anchor_.cnodes.size(); ++i) {
      const AnchorCnode& cnode = anchor_.cnodes[i];
      close_to(open, cnode.parent, "cnode");
      open_cnode(cnode);
      open.push_back(i);
    }
    close_to(open, kNoIndex, "cnode");
    raw(anchor_.unknown_program);
    --depth_;
    line("</program>");
  }

  void open_cnode(const AnchorCnode& cnode) {
    const CnodeDetails& details = anchor_.details(cnode);
    std::string head = fmt::format("<cnode id=\"{}\"", cnode.id);
    if (cnode.has_line) head += fmt::format(" line=\"{}\"", cnode.line);
    if (cnode.has_mod) head += fmt::format(" mod=\"{}\"", xml_escape(details.mod));
    line("{} calleeId=\"{}\"{}>", head, anchor_.regions[cnode.region].id, unknown_attributes(details.unknown));
    ++depth_;
    // Numeric parameters come first; the order within a kind stays.
    for (const bool numeric : {true, false}) {
      for (const CnodeParameter& p : details.parameters) {
        if ((p.partype == "numeric") != numeric) continue;
        line("<parameter partype=\"{}\" parkey=\"{}\" parvalue=\"{}\"/>", xml_escape(p.partype), xml_escape(p.key),
             xml_escape(p.value));
      }
    }
    attributes(details.attributes);
    raw(details.unknown);
  }

  static const char* element_of(AnchorSystemNode::Kind kind) {
    using Kind = AnchorSystemNode::Kind;
    return kind == Kind::tree_node ? "systemtreenode" : kind == Kind::group ? "locationgroup" : "location";
  }

  // All groups of a tree node come before the tree nodes below it.
  void system() {
    line("<system{}{}>", title(anchor_.system_title), unknown_attributes(anchor_.unknown_system));
    ++depth_;
    using Kind = AnchorSystemNode::Kind;
    std::vector<std::vector<std::uint32_t>> children(anchor_.system.size());
    std::vector<std::uint32_t> roots;
    for (std::uint32_t i = 0; i < anchor_.system.size(); ++i) {
      const std::uint32_t parent = anchor_.system[i].parent;
      (parent == kNoIndex ? roots : children[parent]).push_back(i);
    }
    for (auto& list : children) {
      std::stable_partition(list.begin(), list.end(),
                            [&](std::uint32_t i) { return anchor_.system[i].kind != Kind::tree_node; });
    }
    // Entries of this stack are elements to open, or, with the high bit set, to close.
    constexpr std::uint32_t kClose = 0x80000000;
    std::vector<std::uint32_t> pending(roots.rbegin(), roots.rend());
    while (!pending.empty()) {
      const std::uint32_t top = pending.back();
      pending.pop_back();
      if ((top & kClose) != 0) {
        --depth_;
        line("</{}>", element_of(anchor_.system[top & ~kClose].kind));
        continue;
      }
      open_system_node(anchor_.system[top]);
      pending.push_back(top | kClose);
      pending.insert(pending.end(), children[top].rbegin(), children[top].rend());
    }
    topologies();
    raw(anchor_.unknown_system);
    --depth_;
    line("</system>");
  }

  void open_system_node(const AnchorSystemNode& node) {
    using Kind = AnchorSystemNode::Kind;
    line("<{} Id=\"{}\"{}>", element_of(node.kind), node.id, unknown_attributes(node.unknown));
    ++depth_;
    text("name", node.name);
    if (node.kind == Kind::tree_node) {
      text("class", node.type);
    } else {
      text("rank", node.rank);
      text("type", node.type);
    }
    if (!node.descr.empty()) text("descr", node.descr);
    attributes(node.attributes);
    raw(node.unknown);
  }

  void topologies() {
    if (anchor_.topologies.empty() && anchor_.unknown_topologies.empty()) return;
    line("<topologies{}>", unknown_attributes(anchor_.unknown_topologies));
    ++depth_;
    for (const AnchorTopology& cart : anchor_.topologies) {
      const std::string name = cart.has_name ? fmt::format(" name=\"{}\"", xml_escape(cart.name)) : std::string();
      line("<cart{} ndims=\"{}\"{}>", name, cart.dimensions.size(), unknown_attributes(cart.unknown));
      ++depth_;
      for (const AnchorDimension& dimension : cart.dimensions) {
        const std::string label =
            dimension.has_name ? fmt::format(" name=\"{}\"", xml_escape(dimension.name)) : std::string();
        line("<dim{} size=\"{}\" periodic=\"{}\"/>", label, dimension.size, dimension.periodic);
      }
      for (const auto& coordinate : cart.coordinates) {
        using Kind = AnchorSystemNode::Kind;
        const AnchorSystemNode& node = anchor_.system[coordinate.node];
        const char* key = node.kind == Kind::tree_node ? "stnId" : node.kind == Kind::group ? "lgId" : "locId";
        line("<coord {}=\"{}\">{}</coord>", key, node.id, fmt::join(coordinate.at, " "));
      }
      raw(cart.unknown);
      --depth_;
      line("</cart>");
    }
    raw(anchor_.unknown_topologies);
    --depth_;
    line("</topologies>");
  }

  // Deep trees are not indented further: the text would grow with the square of the depth.
  static constexpr std::size_t kDeepestIndent = 32;

  const Anchor& anchor_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string write_anchor(const Anchor& anchor) { return Writer(anchor).write(); }

}  // namespace fathom::cube
