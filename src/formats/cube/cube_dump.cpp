#include "formats/cube/cube_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.hpp"
#include "profile/absent.hpp"

namespace fathom::cube {

namespace {

constexpr std::array<std::string_view, 8> kSections = {"attributes", "mirrors",    "metrics", "calltree",
                                                       "systemtree", "topologies", "files",   "values"};

constexpr std::string_view kFile = "file:";

class Dumper {
 public:
  Dumper(const CubeFile& file, const TextSink& sink) : file_(file), anchor_(file.anchor()), sink_(sink) {}

  Result<void> section(std::string_view name) {
    if (name == "attributes") attributes();
    if (name == "mirrors") mirrors();
    if (name == "metrics") metrics();
    if (name == "calltree") calltree();
    if (name == "systemtree") systemtree();
    if (name == "topologies") topologies();
    if (name == "files") files();
    if (name == "values") return values();
    return {};
  }
  [[nodiscard]] bool open() const { return open_; }

 private:
  // Names come from the file: line breaks in them would look like records.
  static std::string shown(std::string_view text) { return json_quote(text); }

  template <class... Args>
  void line(std::size_t depth, fmt::format_string<Args...> format, Args&&... args) {
    if (!open_) return;
    buffer_.clear();
    buffer_.append(2 * std::min<std::size_t>(depth, 64), ' ');
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    buffer_ += '\n';
    open_ = sink_(buffer_);
  }
  void attribute_lines(std::size_t depth, const Attributes& list) {
    for (const auto& [key, value] : list) line(depth, "attr {} = {}", shown(key), shown(value));
  }
  void unknown_lines(std::size_t depth, const Unknown& unknown) {
    for (const auto& [key, value] : unknown.attributes) line(depth, "unknown {} = {}", shown(key), shown(value));
    if (!unknown.elements.empty()) line(depth, "unknown {}", shown(unknown.elements));
  }

  void attributes() {
    line(0, "attributes: {}", anchor_.attributes.size());
    line(1, "version {}", shown(anchor_.version));
    attribute_lines(1, anchor_.attributes);
    unknown_lines(1, anchor_.unknown);
  }
  void mirrors() {
    line(0, "mirrors: {}", anchor_.mirrors.size());
    for (const std::string& mirror : anchor_.mirrors) line(1, "{}", shown(mirror));
  }
  void title(const std::optional<std::string>& text) {
    if (text) line(1, "title {}", shown(*text));
  }

  void metrics() {
    line(0, "metrics: {}", anchor_.metrics.size());
    title(anchor_.metrics_title);
    std::vector<std::size_t> depth(anchor_.metrics.size(), 1);
    for (std::size_t i = 0; i < anchor_.metrics.size(); ++i) {
      const AnchorMetric& m = anchor_.metrics[i];
      if (m.parent != kNoIndex) depth[i] = depth[m.parent] + 1;
      const std::size_t d = depth[i];
      line(d, "metric {} {} type={} dtype={} unit={}{}{}{}{}", m.id, shown(m.uniq_name),
           m.type.empty() ? "EXCLUSIVE" : m.type, shown(m.dtype), shown(m.uom), m.ghost() ? " ghost" : "",
           m.val.empty() ? "" : " val=" + m.val, m.convertible.empty() ? "" : " convertible=" + m.convertible,
           m.cacheable.empty() ? "" : " cacheable=" + m.cacheable);
      line(d + 1, "name {}", shown(m.disp_name));
      if (!m.url.empty()) line(d + 1, "url {}", shown(m.url));
      if (!m.descr.empty()) line(d + 1, "descr {}", shown(m.descr));
      if (m.cubepl) line(d + 1, "cubepl{} {}", m.rowwise.empty() ? "" : " rowwise=" + m.rowwise, shown(*m.cubepl));
      for (const std::string& text : m.cubeplinit) line(d + 1, "cubeplinit {}", shown(text));
      for (const auto& a : m.cubeplaggr) line(d + 1, "cubeplaggr {} {}", a.kind, shown(a.text));
      attribute_lines(d + 1, m.attributes);
      unknown_lines(d + 1, m.unknown);
    }
  }

  void calltree() {
    line(0, "regions: {}", anchor_.regions.size());
    title(anchor_.program_title);
    for (const AnchorRegion& r : anchor_.regions) {
      line(1, "region {} {} mod={} lines={}..{} paradigm={} role={}", r.id, shown(r.name), shown(r.mod), r.begin, r.end,
           shown(r.paradigm), shown(r.role));
      if (r.mangled_name && *r.mangled_name != r.name) line(2, "mangled {}", shown(*r.mangled_name));
      if (!r.url.empty()) line(2, "url {}", shown(r.url));
      if (!r.descr.empty()) line(2, "descr {}", shown(r.descr));
      attribute_lines(2, r.attributes);
      unknown_lines(2, r.unknown);
    }
    line(0, "calltree: {}", anchor_.cnodes.size());
    std::vector<std::uint32_t> depth(anchor_.cnodes.size(), 1);
    for (std::size_t i = 0; i < anchor_.cnodes.size(); ++i) {
      const AnchorCnode& c = anchor_.cnodes[i];
      if (c.parent != kNoIndex) depth[i] = depth[c.parent] + 1;
      const CnodeDetails& details = anchor_.details(c);
      const AnchorRegion& region = anchor_.regions[c.region];
      line(depth[i], "cnode {} region={} {}{}{}", c.id, region.id, shown(region.name),
           c.has_line ? fmt::format(" line={}", c.line) : "", details.mod.empty() ? "" : " mod=" + shown(details.mod));
      for (const auto& p : details.parameters) {
        line(depth[i] + 1, "parameter {} {} = {}", p.partype, shown(p.key), shown(p.value));
      }
      attribute_lines(depth[i] + 1, details.attributes);
      unknown_lines(depth[i] + 1, details.unknown);
    }
  }

  void systemtree() {
    line(0, "systemtree: {}", anchor_.system.size());
    title(anchor_.system_title);
    std::vector<std::size_t> depth(anchor_.system.size(), 1);
    using Kind = AnchorSystemNode::Kind;
    for (std::size_t i = 0; i < anchor_.system.size(); ++i) {
      const AnchorSystemNode& n = anchor_.system[i];
      if (n.parent != kNoIndex) depth[i] = depth[n.parent] + 1;
      const char* kind = n.kind == Kind::tree_node ? "node" : n.kind == Kind::group ? "group" : "location";
      line(depth[i], "{} {} {} type={}{}", kind, n.id, shown(n.name), shown(n.type),
           n.rank.empty() ? "" : " rank=" + n.rank);
      if (!n.descr.empty()) line(depth[i] + 1, "descr {}", shown(n.descr));
      attribute_lines(depth[i] + 1, n.attributes);
      unknown_lines(depth[i] + 1, n.unknown);
    }
  }

  void topologies() {
    line(0, "topologies: {}", anchor_.topologies.size());
    for (const AnchorTopology& t : anchor_.topologies) {
      line(1, "cart {} dimensions={}", shown(t.name), t.dimensions.size());
      for (const AnchorDimension& d : t.dimensions) {
        line(2, "dim {} size={} periodic={}", shown(d.name), d.size, d.periodic);
      }
      for (const auto& c : t.coordinates) {
        const AnchorSystemNode& node = anchor_.system[c.node];
        line(2, "coord {} {} = {}", node.id, shown(node.name), fmt::join(c.at, " "));
      }
    }
  }

  void files() {
    line(0, "files: {}", file_.members().size());
    for (const TarMember& member : file_.members()) {
      line(1, "{} size={} header={:#x}", shown(member.name), member.content.size(), member.header_offset);
    }
  }

  Result<void> values() {
    line(0, "values:");
    std::vector<std::byte> scratch;
    for (std::size_t m = 0; m < anchor_.metrics.size() && open_; ++m) {
      const AnchorMetric& metric = anchor_.metrics[m];
      if (metric.derived()) continue;
      if (file_.index_member(m) == nullptr || file_.data_member(m) == nullptr) {
        line(1, "metric {} {}: no values", metric.id, shown(metric.uniq_name));
        continue;
      }
      auto found = file_.values(m);
      if (!found) {
        line(1, "metric {} {}: {}", metric.id, shown(metric.uniq_name), found.error().text());
        FATHOM_CHECK(
            file_.work()->diagnostics.lost("cube.metric_unusable", found.error().place(), found.error().what()));
        continue;
      }
      const CubeFile::Values& values = **found;
      const ValueType type = *file_.type(m);
      line(1, "metric {} {}: {} {} {} rows={} row_bytes={}", metric.id, shown(metric.uniq_name),
           values.data.index().order == Endian::little ? "little-endian" : "big-endian",
           values.data.index().dense ? "dense" : "sparse", values.data.compressed() ? "packed" : "plain",
           values.data.row_count(), values.data.row_bytes());
      for (std::size_t row = 0; row < values.data.row_count() && open_; ++row) {
        auto at = values.data.row(row, scratch);
        if (!at) return std::move(at).error();
        std::string text;
        for (std::uint32_t l = 0; *at != nullptr && l < anchor_.location_count; ++l) {
          Cells cell(type, 1, 1);
          cell.store(0, 0, 1, *at + l * type.size());
          text += ' ';
          text += has_value(cell, 0, 0) ? cell.at(0, 0).text() : "-";
        }
        const std::uint32_t number = values.data.number(row);
        line(2, "row {} cnode {}:{}", number, anchor_.cnodes[file_.cnode_of(m, number)].id, text);
      }
    }
    return {};
  }

  const CubeFile& file_;
  const Anchor& anchor_;
  const TextSink& sink_;
  std::string buffer_;
  bool open_ = true;
};

// What a member that belongs to no metric holds, byte for byte.
Result<void> dump_member(const CubeFile& file, const std::string& name, const TextSink& sink) {
  std::vector<std::string> names;
  for (const TarMember* member : file.extra_members()) {
    if (member->name == name) {
      (void)sink(member->content.text());
      return {};
    }
    names.push_back(member->name);
  }
  return Error::usage(fmt::format("no further file '{}' in this profile{}", name, did_you_mean(name, names)))
      .hint("--section files lists them");
}

}  // namespace

Result<void> dump_cube(const CubeFile& file, const DumpOptions& options, const TextSink& sink) {
  for (const std::string& chosen : options.sections) {
    if (chosen.starts_with(kFile)) {
      FATHOM_CHECK(dump_member(file, chosen.substr(kFile.size()), sink));
      if (options.sections.size() == 1) return {};
      continue;
    }
    if (std::find(kSections.begin(), kSections.end(), chosen) == kSections.end()) {
      const std::vector<std::string> names(kSections.begin(), kSections.end());
      return Error::usage(fmt::format("cube: no section '{}'{}", chosen, did_you_mean(chosen, names)))
          .hint(fmt::format("sections: {}, file:NAME", fmt::join(kSections, ", ")));
    }
  }
  Dumper dumper(file, sink);
  for (const std::string_view section : kSections) {
    const bool wanted = options.sections.empty() ||
                        std::find(options.sections.begin(), options.sections.end(), section) != options.sections.end();
    if (wanted && dumper.open()) FATHOM_CHECK(dumper.section(section));
  }
  return {};
}

}  // namespace fathom::cube
