// anchor.xml -> Anchor, streaming over expat. Open elements live on a stack of our own, so depth costs no machine
// stack.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "formats/cube/anchor.hpp"
#include "formats/cube/anchor_elements.hpp"
#include "formats/cube/metrics_spec.hpp"
#include "formats/cube/text_repair.hpp"
#include "formats/cube/xml_feed.hpp"
#include "io/inflate.hpp"
#include "io/xml.hpp"

namespace fathom::cube {

namespace {

using SystemKind = AnchorSystemNode::Kind;

class AnchorParser final : private XmlHandler {
 public:
  AnchorParser(std::string document, Work work, bool only_metrics = false)
      : name_(std::move(document)), work_(std::move(work)), only_metrics_(only_metrics) {
    frames_.push_back({Element::document});
  }

  Result<void> feed(std::string_view text) {
    if (cancelled()) return cancelled_error();
    return parse(text, false);
  }

  Result<Anchor> finish() {
    FATHOM_CHECK(parse({}, true));
    if (!seen_cube_) return error("no <cube> element");
    if (!seen_metrics_) return error("no <metrics> section");
    if (only_metrics_) return std::move(anchor_);
    if (!seen_program_) return error("no <program> section");
    if (!seen_system_) return error("no <system> section");
    FATHOM_CHECK(check_locations());
    FATHOM_CHECK(check_types());
    return std::move(anchor_);
  }

 private:
  Error error(std::string what) const { return Error(std::move(what), place()); }
  Place place() const { return Place::at_line(name_, parser_.line()); }

  Result<void> element_begins(const char* name, const char** attributes) override { return start(name, attributes); }
  Result<void> element_ends(const char* name) override { return end(name); }

  Result<void> parse(std::string_view text, bool last) {
    auto status = parser_.parse(text, last);
    if (status.ok() || !parser_.malformed()) return status;
    return error(fmt::format("not well-formed XML: {} (column {})", status.error().text(), parser_.column()));
  }

  // ---- elements

  Result<void> start(std::string_view name, const char** list) {
    if (raw_depth_ > 0) {
      raw_start(name, list);
      return {};
    }
    const Frame top = frames_.back();
    ElementAttributes attributes(list);
    switch (top.element) {
      case Element::document:
        if (name != "cube") return error(fmt::format("root element: expected <cube>, found <{}>", name));
        return start_cube(attributes);
      case Element::cube:
        if (name == "attr") return take_attr(anchor_.attributes, attributes);
        if (name == "doc") return open(Element::doc, attributes, anchor_.unknown_doc);
        if (name == "metrics") return section(Element::metrics, attributes);
        if (name == "program") return section(Element::program, attributes);
        if (name == "system") return section(Element::system, attributes);
        break;
      case Element::doc:
        if (name == "mirrors") return open(Element::mirrors, attributes, anchor_.unknown_doc);
        break;
      case Element::mirrors:
        if (name == "murl") return text(anchor_.mirrors.emplace_back(), attributes);
        break;
      case Element::metrics:
      case Element::metric:
        if (name == "metric") return start_metric(top.index, attributes);
        if (top.element == Element::metric && in_metric(anchor_.metrics[top.index], name, attributes)) return status();
        break;
      case Element::program:
        if (name == "region") return start_region(attributes);
        if (name == "cnode") return start_cnode(kNoIndex, attributes);
        break;
      case Element::region:
        if (in_region(anchor_.regions[top.index], name, attributes)) return status();
        break;
      case Element::cnode:
        if (name == "cnode") return start_cnode(top.index, attributes);
        if (name == "parameter") return take_parameter(top.index, attributes);
        if (name == "attr") return take_attr(details(top.index).attributes, attributes);
        break;
      case Element::system:
        if (name == "topologies") return open(Element::topologies, attributes, anchor_.unknown_topologies);
        [[fallthrough]];
      case Element::system_node:
        for (const SystemName& row : kSystemNames) {
          if (row.element == name) return start_system_node(top.index, row, attributes);
        }
        if (top.element == Element::system_node && in_system_node(anchor_.system[top.index], name, attributes)) {
          return status();
        }
        break;
      case Element::topologies:
        if (name == "cart") return start_cart(attributes);
        break;
      case Element::cart:
        if (name == "dim") return take_dimension(attributes);
        if (name == "coord") return start_coordinate(attributes);
        break;
      case Element::text:
      case Element::leaf:
        return error(fmt::format("element <{}> where none is allowed", name));
    }
    raw_start(name, list);
    return {};
  }

  Result<void> end(std::string_view name) {
    if (raw_depth_ > 0) {
      raw_end(name);
      return {};
    }
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.element == Element::text) {
      if (frame.one_line) std::replace(text_.begin(), text_.end(), '\n', ' ');
      *frame.text = std::move(text_);
      text_.clear();
      if (coordinate_open_) {
        coordinate_open_ = false;
        return end_coordinate();
      }
    }
    if (frame.element == Element::system_node) finish_system_node(anchor_.system[frame.index]);
    return {};
  }

  Result<void> characters(std::string_view piece) override {
    if (raw_depth_ > 0) {
      raw_ += xml_escape(piece);
      return {};
    }
    if (frames_.back().element == Element::text) {
      text_ += piece;
      return {};
    }
    if (trim(piece).empty()) return {};
    return work_->diagnostics.warn("cube.stray_text", place(),
                                   fmt::format("text '{}' where elements are expected", trim(piece).substr(0, 40)));
  }

  // Elements that are not known are put together again as text; it goes to the element around them.
  void raw_start(std::string_view name, const char** list) {
    ++raw_depth_;
    raw_ += fmt::format("<{}", name);
    for (; *list != nullptr; list += 2) raw_ += fmt::format(" {}=\"{}\"", list[0], xml_escape(list[1]));
    raw_ += '>';
  }
  void raw_end(std::string_view name) {
    raw_ += fmt::format("</{}>", name);
    if (--raw_depth_ > 0) return;
    work_->diagnostics.info("cube.unknown_element", place(),
                            fmt::format("unknown element <{}> is kept as it is", name));
    if (Unknown* home = unknown_of(frames_.back())) home->elements += raw_;
    raw_.clear();
  }
  Unknown* unknown_of(const Frame& frame) {
    switch (frame.element) {
      case Element::cube:
        return &anchor_.unknown;
      case Element::doc:
      case Element::mirrors:
        return &anchor_.unknown_doc;
      case Element::metrics:
        return &anchor_.unknown_metrics;
      case Element::metric:
        return &anchor_.metrics[frame.index].unknown;
      case Element::program:
        return &anchor_.unknown_program;
      case Element::region:
        return &anchor_.regions[frame.index].unknown;
      case Element::cnode:
        return &details(frame.index).unknown;
      case Element::system:
        return &anchor_.unknown_system;
      case Element::system_node:
        return &anchor_.system[frame.index].unknown;
      case Element::topologies:
        return &anchor_.unknown_topologies;
      case Element::cart:
        return &anchor_.topologies.back().unknown;
      default:
        return nullptr;
    }
  }

  // ---- building blocks

  Result<void> status() {
    if (pending_) return std::exchange(pending_, std::nullopt).value();
    return {};
  }
  Result<void> open(Element element, ElementAttributes& attributes, Unknown& unknown) {
    Attributes rest = std::move(attributes).rest();
    unknown.attributes.insert(unknown.attributes.end(), rest.begin(), rest.end());
    frames_.push_back({element});
    return {};
  }
  Result<void> text(std::string& target, ElementAttributes& attributes, bool one_line = true) {
    if (!std::move(attributes).rest().empty()) {
      work_->diagnostics.info("cube.unknown_attribute", place(), "attributes of a text element are not kept");
    }
    text_.clear();
    frames_.push_back({Element::text, kNoIndex, &target, one_line});
    return {};
  }
  Result<void> take_attr(Attributes& to, ElementAttributes& attributes) {
    auto key = attributes.take("key");
    if (!key) return error("<attr> has no key");
    to.emplace_back(std::move(*key), attributes.take("value").value_or(""));
    frames_.push_back({Element::leaf});
    return {};
  }
  // Ids are plain decimal numbers of at most 32 bits.
  Result<std::uint32_t> id_of(ElementAttributes& attributes, std::string_view element, std::string_view key = "id") {
    auto text = attributes.take(key);
    if (!text && key == "Id") text = attributes.take("id");
    if (!text) return error(fmt::format("<{}> has no {}", element, key));
    const auto id = parse_integer<std::uint32_t>(trim(*text));
    if (!id || *id == kNoIndex)
      return error(fmt::format("<{}>: {} '{}' is not a number of 32 bits", element, key, *text));
    return *id;
  }
  Result<void> new_id(std::unordered_map<std::uint32_t, std::uint32_t>& ids, std::uint32_t id, std::size_t index,
                      std::string_view element) {
    if (!ids.emplace(id, static_cast<std::uint32_t>(index)).second) {
      return error(fmt::format("<{}>: id {} is used twice", element, id));
    }
    return {};
  }
  Result<std::int64_t> number(const std::optional<std::string>& text, std::string_view what) {
    if (!text) return -1;
    const auto value = parse_integer<std::int64_t>(trim(*text));
    if (!value) return error(fmt::format("{} '{}' is not a number", what, *text));
    return *value;
  }

  // ---- cube and its sections

  Result<void> start_cube(ElementAttributes& attributes) {
    seen_cube_ = true;
    anchor_.version = attributes.take("version").value_or("");
    static constexpr std::array<std::string_view, 8> kKnown = {"3.0", "4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.7"};
    if (std::find(kKnown.begin(), kKnown.end(), anchor_.version) == kKnown.end()) {
      FATHOM_CHECK(work_->diagnostics.warn(
          "cube.version", place(), fmt::format("anchor version '{}' is not known; read as 4.7", anchor_.version)));
    }
    return open(Element::cube, attributes, anchor_.unknown);
  }

  Result<void> section(Element element, ElementAttributes& attributes) {
    bool& seen = element == Element::metrics   ? seen_metrics_
                 : element == Element::program ? seen_program_
                                               : seen_system_;
    if (seen) return error("the section occurs twice");
    seen = true;
    auto& title = element == Element::metrics   ? anchor_.metrics_title
                  : element == Element::program ? anchor_.program_title
                                                : anchor_.system_title;
    title = attributes.take("title");
    return open(element, attributes,
                element == Element::metrics   ? anchor_.unknown_metrics
                : element == Element::program ? anchor_.unknown_program
                                              : anchor_.unknown_system);
  }

  Result<void> start_metric(std::uint32_t parent, ElementAttributes& attributes) {
    const auto index = static_cast<std::uint32_t>(anchor_.metrics.size());
    AnchorMetric metric;
    if (only_metrics_) {
      (void)attributes.take("id");
      metric.id = index;
    } else {
      FATHOM_TRY(metric.id, id_of(attributes, "metric"));
    }
    FATHOM_CHECK(new_id(metric_ids_, metric.id, index, "metric"));
    metric.parent = parent;
    metric.type = attributes.take("type").value_or("");
    metric.viztype = attributes.take("viztype").value_or("");
    metric.convertible = attributes.take("convertible").value_or("");
    metric.cacheable = attributes.take("cacheable").value_or("");
    if (!metric.type.empty() && metric.type != "EXCLUSIVE" && !metric.inclusive() && !metric.derived()) {
      FATHOM_CHECK(work_->diagnostics.warn(
          "cube.metric_type", place(),
          fmt::format("metric {}: type '{}' is not known; taken as EXCLUSIVE", metric.id, metric.type)));
    }
    metric.unknown.attributes = std::move(attributes).rest();
    anchor_.metrics.push_back(std::move(metric));
    frames_.push_back({Element::metric, index});
    return {};
  }

  // True when `name` is an element of a metric; its status is then status().
  bool in_metric(AnchorMetric& metric, std::string_view name, ElementAttributes& attributes) {
    if (name == "disp_name") return begin_text(metric.disp_name, attributes);
    if (name == "uniq_name") return begin_text(metric.uniq_name, attributes);
    if (name == "dtype") return begin_text(metric.dtype, attributes);
    if (name == "uom") return begin_text(metric.uom, attributes);
    if (name == "val") return begin_text(metric.val, attributes);
    if (name == "url") return begin_text(metric.url, attributes);
    if (name == "descr") return begin_text(metric.descr, attributes, false);
    if (name == "cubepl") {
      metric.rowwise = attributes.take("rowwise").value_or("");
      return begin_text(metric.cubepl.emplace(), attributes, false);
    }
    if (name == "cubeplinit") return begin_text(metric.cubeplinit.emplace_back(), attributes, false);
    if (name == "cubeplaggr") {
      auto& aggregation = metric.cubeplaggr.emplace_back();
      aggregation.kind = attributes.take("cubeplaggrtype").value_or("");
      return begin_text(aggregation.text, attributes, false);
    }
    if (name == "attr") return note(take_attr(metric.attributes, attributes));
    return false;
  }

  Result<void> start_region(ElementAttributes& attributes) {
    const auto index = static_cast<std::uint32_t>(anchor_.regions.size());
    AnchorRegion region;
    FATHOM_TRY(region.id, id_of(attributes, "region"));
    FATHOM_CHECK(new_id(region_ids_, region.id, index, "region"));
    region.mod = attributes.take("mod").value_or("");
    FATHOM_TRY(region.begin, number(attributes.take("begin"), "begin of a region"));
    FATHOM_TRY(region.end, number(attributes.take("end"), "end of a region"));
    region.unknown.attributes = std::move(attributes).rest();
    anchor_.regions.push_back(std::move(region));
    frames_.push_back({Element::region, index});
    return {};
  }

  bool in_region(AnchorRegion& region, std::string_view name, ElementAttributes& attributes) {
    if (name == "name") return begin_text(region.name, attributes);
    if (name == "mangled_name") return begin_text(region.mangled_name.emplace(), attributes);
    if (name == "paradigm") return begin_text(region.paradigm, attributes);
    if (name == "role") return begin_text(region.role, attributes);
    if (name == "url") return begin_text(region.url, attributes);
    if (name == "descr") return begin_text(region.descr, attributes, false);
    if (name == "attr") return note(take_attr(region.attributes, attributes));
    return false;
  }

  CnodeDetails& details(std::uint32_t cnode) {
    auto& index = anchor_.cnodes[cnode].details;
    if (index == kNoIndex) {
      index = static_cast<std::uint32_t>(anchor_.cnode_details.size());
      anchor_.cnode_details.emplace_back();
    }
    return anchor_.cnode_details[index];
  }

  Result<void> start_cnode(std::uint32_t parent, ElementAttributes& attributes) {
    const auto index = static_cast<std::uint32_t>(anchor_.cnodes.size());
    AnchorCnode cnode;
    FATHOM_TRY(cnode.id, id_of(attributes, "cnode"));
    FATHOM_CHECK(new_id(cnode_ids_, cnode.id, index, "cnode"));
    FATHOM_TRY(const std::uint32_t callee, id_of(attributes, "cnode", "calleeId"));
    const auto region = region_ids_.find(callee);
    if (region == region_ids_.end()) {
      return error(fmt::format("cnode {}: calleeId {} is not the id of a region", cnode.id, callee));
    }
    cnode.region = region->second;
    cnode.parent = parent;
    const auto line = attributes.take("line");
    cnode.has_line = line.has_value();
    FATHOM_TRY(cnode.line, number(line, "line of a cnode"));
    auto mod = attributes.take("mod");
    cnode.has_mod = mod.has_value();
    Attributes rest = std::move(attributes).rest();
    anchor_.cnodes.push_back(cnode);
    if (mod && !mod->empty()) details(index).mod = std::move(*mod);
    if (!rest.empty()) details(index).unknown.attributes = std::move(rest);
    frames_.push_back({Element::cnode, index});
    return {};
  }

  Result<void> take_parameter(std::uint32_t cnode, ElementAttributes& attributes) {
    CnodeParameter parameter;
    parameter.partype = attributes.take("partype").value_or("");
    parameter.key = attributes.take("parkey").value_or("");
    parameter.value = attributes.take("parvalue").value_or("");
    const bool numeric = parameter.partype == "numeric";
    if (!numeric && parameter.partype != "string") {
      FATHOM_CHECK(work_->diagnostics.warn(
          "cube.parameter_type", Place::in(name_),
          fmt::format(
              "parameter '{}' of a call path is of type '{}', expected numeric or string: it is no part of the name",
              parameter.key, parameter.partype)));
    } else if (numeric && !parse_double(trim(parameter.value))) {
      FATHOM_CHECK(work_->diagnostics.warn(
          "cube.parameter_value", Place::in(name_),
          fmt::format("parameter '{}' of a call path is '{}', expected a number: it is shown as 0", parameter.key,
                      parameter.value)));
    }
    details(cnode).parameters.push_back(std::move(parameter));
    frames_.push_back({Element::leaf});
    return {};
  }

  // ---- system

  Result<void> start_system_node(std::uint32_t parent, const SystemName& row, ElementAttributes& attributes) {
    const auto index = static_cast<std::uint32_t>(anchor_.system.size());
    AnchorSystemNode node;
    node.kind = row.kind;
    node.type = row.type;
    node.parent = parent;
    const auto level = [](SystemKind kind) { return static_cast<int>(kind); };
    const int above = parent == kNoIndex ? level(SystemKind::tree_node) : level(anchor_.system[parent].kind);
    // Groups may lie in groups (accelerators in their process).
    const bool fits = row.kind == SystemKind::tree_node
                          ? above == 0
                          : parent != kNoIndex && (above == level(row.kind) - 1 ||
                                                   (row.kind == SystemKind::group && above == level(row.kind)));
    if (!fits) return error(fmt::format("<{}> does not belong here", row.element));
    FATHOM_TRY(node.id, id_of(attributes, row.element, "Id"));
    FATHOM_CHECK(new_id(system_ids_[std::string(numbering_of(row.element))], node.id, index, row.element));
    if (row.kind == SystemKind::location) location_lines_.push_back(place().line.value_or(0));
    node.unknown.attributes = std::move(attributes).rest();
    anchor_.system.push_back(std::move(node));
    frames_.push_back({Element::system_node, index});
    return {};
  }

  bool in_system_node(AnchorSystemNode& node, std::string_view name, ElementAttributes& attributes) {
    if (name == "name") return begin_text(node.name, attributes);
    if (name == "class" && node.kind == SystemKind::tree_node) return begin_text(node.type, attributes);
    if (name == "type" && node.kind != SystemKind::tree_node) return begin_text(node.type, attributes);
    if (name == "rank" && node.kind != SystemKind::tree_node) return begin_text(node.rank, attributes);
    if (name == "descr") return begin_text(node.descr, attributes, false);
    if (name == "attr") return note(take_attr(node.attributes, attributes));
    return false;
  }

  // Old files leave out names that follow from the rank.
  static void finish_system_node(AnchorSystemNode& node) {
    if (!node.name.empty() || node.kind == SystemKind::tree_node) return;
    const std::string number = node.rank.empty() ? std::to_string(node.id) : node.rank;
    node.name = (node.kind == SystemKind::group ? "Process " : "Thread ") + number;
  }

  // Location ids are the columns of the data: exactly 0 .. L-1.
  Result<void> check_locations() {
    std::size_t seen = 0;
    const std::size_t count = location_lines_.size();
    if (count == 0) return error("the system tree has no location");
    for (const AnchorSystemNode& node : anchor_.system) {
      if (node.kind != SystemKind::location) continue;
      if (node.id >= count) {
        return Error(fmt::format("location Id {}: expected ids 0 to {} for {} locations", node.id, count - 1, count),
                     Place::at_line(name_, location_lines_[seen]));
      }
      ++seen;
    }
    anchor_.location_count = static_cast<std::uint32_t>(count);
    return {};
  }

  // Types of groups and locations that the format does not know are kept as they are.
  Result<void> check_types() {
    const auto known = [](const AnchorSystemNode& node) {
      const std::string_view type = node.type;
      if (node.kind == SystemKind::group) return type == "process" || type == "metrics" || type == "accelerator";
      return type == "thread" || type == "accelerator stream" || type == "gpu" || type == "metric";
    };
    for (const AnchorSystemNode& node : anchor_.system) {
      if (node.kind == SystemKind::tree_node || known(node)) continue;
      const bool group = node.kind == SystemKind::group;
      FATHOM_CHECK(work_->diagnostics.warn(
          group ? "cube.group_type" : "cube.location_type", Place::in(name_),
          fmt::format("{} of type '{}', expected {}", group ? "location group" : "location", node.type,
                      group ? "process, metrics or accelerator" : "thread, accelerator stream (gpu) or metric")));
    }
    return {};
  }

  Result<void> start_cart(ElementAttributes& attributes) {
    auto& cart = anchor_.topologies.emplace_back();
    auto name = attributes.take("name");
    cart.has_name = name.has_value();
    cart.name = name.value_or("");
    (void)attributes.take("ndims");  // the dimensions themselves follow
    cart.unknown.attributes = std::move(attributes).rest();
    frames_.push_back({Element::cart});
    return {};
  }

  Result<void> take_dimension(ElementAttributes& attributes) {
    AnchorDimension dimension;
    auto name = attributes.take("name");
    dimension.has_name = name.has_value();
    dimension.name = name.value_or("");
    const std::string size = attributes.take("size").value_or("");
    const auto parsed = parse_integer<std::uint64_t>(trim(size));
    if (!parsed) return error(fmt::format("size '{}' of a topology dimension is not a number", size));
    dimension.size = *parsed;
    dimension.periodic = attributes.take("periodic").value_or("") == "true";
    anchor_.topologies.back().dimensions.push_back(std::move(dimension));
    frames_.push_back({Element::leaf});
    return {};
  }

  Result<void> start_coordinate(ElementAttributes& attributes) {
    for (const auto& [key, element] : kCoordinateIds) {
      const auto text = attributes.take(key);
      if (!text) continue;
      const auto id = parse_integer<std::uint32_t>(trim(*text));
      const auto& ids = system_ids_[std::string(element)];
      const auto found = id ? ids.find(*id) : ids.end();
      if (found == ids.end()) {
        return error(fmt::format("topology coordinate: {} {} is not the Id of a <{}>", key, *text, element));
      }
      anchor_.topologies.back().coordinates.push_back({found->second, {}});
      coordinate_open_ = true;
      return this->text(coordinate_text_, attributes);
    }
    return error("topology coordinate without locId, lgId or stnId");
  }

  Result<void> end_coordinate() {
    AnchorTopology& cart = anchor_.topologies.back();
    auto& coordinate = cart.coordinates.back();
    for (const std::string_view part : split(coordinate_text_, ' ')) {
      if (trim(part).empty()) continue;
      const auto value = parse_integer<std::uint64_t>(trim(part));
      if (!value) return error(fmt::format("topology coordinate '{}' is not a number", part));
      coordinate.at.push_back(*value);
    }
    if (coordinate.at.size() != cart.dimensions.size()) {
      return error(
          fmt::format("topology coordinate has {} numbers, expected {}", coordinate.at.size(), cart.dimensions.size()));
    }
    for (std::size_t i = 0; i < coordinate.at.size(); ++i) {
      if (coordinate.at[i] < cart.dimensions[i].size) continue;
      FATHOM_CHECK(work_->diagnostics.warn("cube.coordinate", place(),
                                           fmt::format("topology coordinate {} lies outside dimension {} of size {}",
                                                       coordinate.at[i], i, cart.dimensions[i].size)));
    }
    return {};
  }

  bool begin_text(std::string& target, ElementAttributes& attributes, bool one_line = true) {
    return note(text(target, attributes, one_line));
  }
  bool note(Result<void> result) {
    if (!result.ok()) pending_ = std::move(result).error();
    return true;
  }

  std::string name_;
  Work work_;
  bool only_metrics_;
  XmlParser parser_{*this, {.encoding = "UTF-8"}};
  Anchor anchor_;
  std::vector<Frame> frames_;
  std::string text_;
  std::string raw_;
  std::size_t raw_depth_ = 0;
  std::string coordinate_text_;
  bool coordinate_open_ = false;
  bool seen_cube_ = false, seen_metrics_ = false, seen_program_ = false, seen_system_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> metric_ids_, region_ids_, cnode_ids_;
  std::unordered_map<std::string, std::unordered_map<std::uint32_t, std::uint32_t>> system_ids_;
  std::vector<std::uint64_t> location_lines_;
  std::optional<Error> pending_;  // of a handler that reports through note()
  std::optional<Error> failure_;
};

Result<void> tell_repairs(const TextRepair& repair, const Blob& blob, const Work& work) {
  const auto tell = [&](const char* id, const TextRepair::Repaired& repaired, std::string text) -> Result<void> {
    if (repaired.count == 0) return success();
    return work->diagnostics.add(id, Severity::warning, Place::at_line(blob.name(), repaired.line), std::move(text),
                                 repaired.count);
  };
  FATHOM_CHECK(tell("cube.no_utf8", repair.latin1(), "a byte that is no UTF-8 is read as Latin-1"));
  return tell("cube.control_character", repair.control(), "a control character is read as '?'");
}

}  // namespace

Result<Anchor> read_anchor(const Blob& blob, const Work& work, std::uint64_t limit) {
  AnchorParser parser(blob.name(), work);
  QuotingFilter filter([&](std::string_view text) { return parser.feed(text); });
  TextRepair repair([&](std::string_view text) { return filter.feed(text); });
  if (is_gzip(blob.bytes())) {
    FATHOM_CHECK(gunzip_pieces(blob, limit, [&](Bytes piece) { return repair.feed(as_text(piece)); }));
  } else {
    FATHOM_CHECK(repair.feed(blob.text()));
  }
  FATHOM_CHECK(repair.finish());
  FATHOM_CHECK(filter.finish());
  FATHOM_CHECK(tell_repairs(repair, blob, work));
  return parser.finish();
}

Result<Anchor> read_metrics_spec(const Blob& blob, const Work& work) {
  AnchorParser parser(blob.name(), work, true);
  QuotingFilter filter([&](std::string_view text) { return parser.feed(text); });
  FATHOM_CHECK(filter.feed(anchor_of_metrics_spec(blob.text())));
  FATHOM_CHECK(filter.finish());
  return parser.finish();
}

}  // namespace fathom::cube
