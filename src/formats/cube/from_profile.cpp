#include "formats/cube/from_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/cube/cube_file.hpp"
#include "formats/cube/structure.hpp"
#include "profile/absent.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/cubepl/type_names.hpp"
#include "profile/export/left_out_metrics.hpp"
#include "profile/export/xml_names.hpp"
#include "profile/expression/program.hpp"

namespace fathom::cube {

namespace {

// XML has no room for control characters.
std::string clean(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\t' && c != '\n') c = '?';
  }
  return text;
}

Attributes clean(const Attributes& attributes) {
  Attributes out;
  for (const auto& [key, value] : attributes) out.emplace_back(clean(key), clean(value));
  return out;
}

// Which of the stored scopes Cube can hold. Every edge of its call tree is a call, so what it calls exclusive is the
// context's own value.
std::optional<std::uint32_t> best_scope(const Metric& metric, bool only_calls) {
  for (const Scope scope : {Scope::own, only_calls ? Scope::exclusive : Scope::inclusive, Scope::inclusive}) {
    if (const int found = metric.stored_as(scope); found >= 0) return static_cast<std::uint32_t>(found);
  }
  return std::nullopt;
}

class Mapper {
 public:
  explicit Mapper(const Profile& profile) : profile_(profile), defs_(profile.defs()) {}

  Result<MappedAnchor> map() && {
    out_.anchor.attributes = clean(defs_.attributes);
    for (const std::string& mirror : defs_.mirrors) out_.anchor.mirrors.push_back(clean(mirror));
    FATHOM_CHECK(metrics());
    regions();
    contexts();
    FATHOM_CHECK(system());
    make_writable(out_.anchor, keep_ids_ ? TreeIds::as_they_are : TreeIds::without_gaps);
    return std::move(out_);
  }

 private:
  Result<void> metrics() {
    LeftOutMetrics left_out;
    std::vector<std::uint32_t> number(defs_.metrics.size(), kNoIndex);
    for (std::size_t i = 0; i < defs_.metrics.size(); ++i) {
      const Metric& from = defs_.metrics[i];
      AnchorMetric to;
      if (from.derived() && !derived(MetricId(i), to)) {
        left_out.add(from, "CubePL cannot express the formula that it is computed by");
        continue;
      }
      if (!from.unusable.empty()) {
        left_out.add(from, from.unusable);
        continue;
      }
      const auto scope = best_scope(from, defs_.contexts.only_calls());
      if (!scope && !from.scopes.empty()) {
        left_out.add(from, "none of its stored scopes is exclusive or inclusive");
        continue;
      }
      number[i] = to.id = static_cast<std::uint32_t>(out_.anchor.metrics.size());
      // A parent that is left out gives its children to the one above it.
      MetricId parent = from.parent;
      while (parent.valid() && number[parent.index()] == kNoIndex) parent = defs_.metric(parent).parent;
      if (parent.valid()) to.parent = number[parent.index()];
      if (!from.derived()) to.type = scope && from.scopes[*scope].scope == Scope::inclusive ? "INCLUSIVE" : "EXCLUSIVE";
      if (from.hidden) to.viztype = "GHOST";
      if (from.switched_off) to.val = "VOID";
      if (from.derived() && !from.convertible) to.convertible = "false";
      to.uniq_name = clean(from.name);
      to.disp_name = clean(from.display_name.empty() ? from.name : from.display_name);
      to.dtype = cubepl::dtype_name(from.type);
      to.uom = clean(from.unit);
      to.url = clean(from.url);
      to.descr = clean(from.description);
      to.attributes = clean(from.attributes);
      out_.anchor.metrics.push_back(std::move(to));
      out_.sources.push_back({MetricId(i), scope.value_or(0)});
    }
    order_metrics();
    return left_out.tell(profile_, "cube.metric_left_out");
  }

  // The document lists a metric's children right behind it; the level only promises parents before children.
  void order_metrics() {
    auto& metrics = out_.anchor.metrics;
    std::vector<std::vector<std::uint32_t>> children(metrics.size());
    std::vector<std::uint32_t> pending;
    for (std::uint32_t i = static_cast<std::uint32_t>(metrics.size()); i-- > 0;) {
      (metrics[i].parent == kNoIndex ? pending : children[metrics[i].parent]).push_back(i);
    }
    std::vector<AnchorMetric> ordered;
    std::vector<StoredMetric> sources;
    std::vector<std::uint32_t> number(metrics.size());
    while (!pending.empty()) {
      const std::uint32_t i = pending.back();
      pending.pop_back();
      pending.insert(pending.end(), children[i].begin(), children[i].end());
      number[i] = static_cast<std::uint32_t>(ordered.size());
      AnchorMetric& metric = metrics[i];
      metric.id = number[i];
      if (metric.parent != kNoIndex) metric.parent = number[metric.parent];
      ordered.push_back(std::move(metric));
      sources.push_back(out_.sources[i]);
    }
    metrics = std::move(ordered);
    out_.sources = std::move(sources);
  }

  // The texts of a derived metric; false when it has no program or one that CubePL cannot express.
  bool derived(MetricId id, AnchorMetric& to) const {
    const Metric& from = defs_.metric(id);
    const auto found = profile_.programs.find(id);
    if (found == profile_.programs.end()) return false;
    const expression::Program& program = *found->second;
    const auto text = [&](const expression::Tree& tree, std::string& target) {
      if (program.language == "cubepl" && !tree.source.empty()) {
        target = clean(tree.source);
        return true;
      }
      auto made = cubepl::to_text(tree);
      if (!made.ok()) return false;
      target = clean(std::move(made).value());
      return true;
    };
    to.type = from.derivation == Derivation::post            ? "POSTDERIVED"
              : from.derivation == Derivation::pre_exclusive ? "PREDERIVED_EXCLUSIVE"
                                                             : "PREDERIVED_INCLUSIVE";
    if (!text(program.value, to.cubepl.emplace())) return false;
    for (const expression::Tree& tree : program.init) {
      if (!text(tree, to.cubeplinit.emplace_back())) return false;
    }
    const std::pair<const char*, const std::optional<expression::Tree>*> operators[] = {
        {"plus", &program.plus}, {"minus", &program.minus}, {"aggr", &program.aggregate}};
    for (const auto& [kind, tree] : operators) {
      if (!*tree) continue;
      to.cubeplaggr.push_back({kind, {}});
      if (!text(**tree, to.cubeplaggr.back().text)) return false;
    }
    return true;
  }

  void regions() {
    for (std::size_t i = 0; i < defs_.regions.size(); ++i) {
      const Region& from = defs_.regions[i];
      AnchorRegion to;
      to.id = static_cast<std::uint32_t>(i);
      to.mod = clean(from.file.empty() ? from.module : from.file);
      to.begin = from.begin_line;
      to.end = from.end_line;
      to.name = clean(from.name);
      to.mangled_name = clean(from.mangled_name.empty() ? from.name : from.mangled_name);
      to.paradigm = clean(from.paradigm);
      to.role = clean(from.role);
      to.url = clean(from.url);
      to.descr = clean(from.description);
      to.attributes = clean(from.attributes);
      if (!from.file.empty() && !from.module.empty()) to.attributes.emplace_back(kModuleAttribute, clean(from.module));
      out_.anchor.regions.push_back(std::move(to));
    }
  }

  // Call paths keep the ids of the file they come from where Cube can have them: 0 .. n-1 in any order, or with gaps
  // when an expression names call paths by their ids.
  [[nodiscard]] bool keeps_ids() const {
    std::vector<std::uint64_t> ids;
    for (const Context& context : defs_.contexts.all()) ids.push_back(context.file_id);
    std::sort(ids.begin(), ids.end());
    if (ids.empty() || ids.back() >= kNoIndex || std::adjacent_find(ids.begin(), ids.end()) != ids.end()) return false;
    if (ids.back() == ids.size() - 1) return true;
    return std::any_of(profile_.programs.begin(), profile_.programs.end(),
                       [](const auto& entry) { return expression::names_call_paths(*entry.second); });
  }

  void contexts() {
    Anchor& anchor = out_.anchor;
    keep_ids_ = keeps_ids();
    std::uint32_t nameless = kNoIndex;
    for (std::size_t i = 0; i < defs_.contexts.size(); ++i) {
      const Context& from = defs_.contexts[ContextId(i)];
      AnchorCnode to;
      to.id = static_cast<std::uint32_t>(keep_ids_ ? from.file_id : i);
      if (from.parent.valid()) to.parent = from.parent.value;
      to.region = from.region.value;
      if (!from.region.valid()) {
        if (nameless == kNoIndex) {
          nameless = static_cast<std::uint32_t>(anchor.regions.size());
          AnchorRegion region;
          region.id = nameless;
          region.name = "<unknown>";
          anchor.regions.push_back(std::move(region));
        }
        to.region = nameless;
      }
      to.line = from.line;
      to.has_line = from.line >= 0;
      const ContextDetails& details = defs_.contexts.details(ContextId(i));
      to.has_mod = !details.file.empty();
      if (!(details == ContextDetails{}) || from.edge != Edge::call) {
        to.details = static_cast<std::uint32_t>(anchor.cnode_details.size());
        CnodeDetails& target = anchor.cnode_details.emplace_back();
        target.mod = clean(details.file);
        target.attributes = clean(details.attributes);
        if (from.edge != Edge::call) target.attributes.emplace_back(kEdgeAttribute, edge_name(from.edge));
        for (const ContextParameter& parameter : details.parameters) {
          if (const double* number = std::get_if<double>(&parameter.value)) {
            target.parameters.push_back({"numeric", clean(parameter.key), exact_text(*number)});
          } else {
            target.parameters.push_back(
                {"string", clean(parameter.key), clean(std::get<std::string>(parameter.value))});
          }
        }
      }
      anchor.cnodes.push_back(to);
    }
  }

  // Cube wants tree nodes, in them groups, in them locations; what is missing of that is made up.
  Result<void> system() {
    using Kind = AnchorSystemNode::Kind;
    auto& system = out_.anchor.system;
    const auto add = [&](Kind kind, std::uint32_t parent, std::string name, std::string type) {
      AnchorSystemNode node;
      node.kind = kind;
      node.id = static_cast<std::uint32_t>(system.size());
      node.parent = parent;
      node.name = clean(std::move(name));
      node.type = clean(std::move(type));
      system.push_back(std::move(node));
      return static_cast<std::uint32_t>(system.size() - 1);
    };
    const auto& nodes = defs_.system.nodes;
    std::uint32_t spare_machine = kNoIndex;
    std::uint32_t spare_node = kNoIndex;
    const auto spare = [&] {
      if (spare_node == kNoIndex) {
        spare_machine = add(Kind::tree_node, kNoIndex, "machine", "machine");
        spare_node = add(Kind::tree_node, spare_machine, "node", "node");
      }
      return spare_node;
    };
    const bool one_root = std::count_if(nodes.begin(), nodes.end(), [](const SystemNode& node) {
                            return node.kind == SystemKind::node && !node.parent.valid();
                          }) == 1;
    std::vector<std::uint32_t> number(nodes.size(), kNoIndex);
    std::uint64_t nested = 0;
    std::uint64_t other_types = 0;
    std::string other_type;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const SystemNode& from = nodes[i];
      std::uint32_t parent = from.parent.valid() ? number[from.parent.index()] : kNoIndex;
      const auto kind = [&](std::uint32_t at) { return system[at].kind; };
      if (from.kind == SystemKind::node) {
        while (parent != kNoIndex && kind(parent) != Kind::tree_node) parent = system[parent].parent;
        // A node that stands alone needs a machine around it.
        if (parent == kNoIndex && (!one_root || from.type != "machine")) {
          (void)spare();
          parent = spare_machine;
        }
        number[i] = add(Kind::tree_node, parent, from.name, from.type.empty() ? "node" : from.type);
        system[number[i]].descr = clean(from.description);
      } else if (from.kind == SystemKind::group) {
        if (parent != kNoIndex && kind(parent) != Kind::tree_node) ++nested;
        while (parent != kNoIndex && kind(parent) != Kind::tree_node) parent = system[parent].parent;
        number[i] = add(Kind::group, parent == kNoIndex ? spare() : parent, from.name, group_type(from.type));
      } else {
        if (parent == kNoIndex || kind(parent) == Kind::tree_node) {
          parent = add(Kind::group, parent == kNoIndex ? spare() : parent, from.name, "process");
          system[parent].rank = std::to_string(from.location.value);
        } else if (kind(parent) == Kind::location) {
          parent = system[parent].parent;
        }
        number[i] = add(Kind::location, parent, from.name, location_type(from.type));
        if (!from.type.empty() && !equal_ignoring_case(from.type, system[number[i]].type) && other_types++ == 0) {
          other_type = from.type;
        }
        system[number[i]].id = from.location.value;
      }
      AnchorSystemNode& to = system[number[i]];
      to.attributes = clean(from.attributes);
      if (to.kind != Kind::tree_node) to.rank = from.rank ? std::to_string(*from.rank) : default_rank(from, to);
    }
    out_.anchor.location_count = static_cast<std::uint32_t>(defs_.system.location_count());
    topologies(number);
    Diagnostics& diagnostics = profile_.work->diagnostics;
    if (nested > 0) {
      FATHOM_CHECK(diagnostics.add("cube.group_in_group", Severity::info, Place::in(profile_.name),
                                   "a group inside of another one is written beside it", nested));
    }
    if (other_types == 0) return {};
    return diagnostics.add("cube.other_location_type", Severity::info, Place::in(profile_.name),
                           fmt::format("a location of type '{}' is written as a thread", other_type), other_types);
  }

  static std::string default_rank(const SystemNode& from, const AnchorSystemNode& to) {
    return from.kind == SystemKind::location ? std::string("0") : std::to_string(to.id);
  }
  static std::string group_type(const std::string& type) {
    return type == "metrics" || type == "accelerator" ? type : "process";
  }
  static std::string location_type(const std::string& type) {
    return type == "metric" || type == "accelerator stream" || type == "gpu" ? type : "thread";
  }

  void topologies(const std::vector<std::uint32_t>& number) {
    for (const Topology& from : defs_.system.topologies) {
      AnchorTopology to;
      to.name = clean(from.name);
      to.has_name = !from.name.empty();
      for (const TopologyDimension& d : from.dimensions) {
        to.dimensions.push_back({clean(d.name), !d.name.empty(), d.size, d.periodic});
      }
      for (const auto& c : from.coordinates) {
        if (c.node.valid()) to.coordinates.push_back({number[c.node.index()], c.at});
      }
      out_.anchor.topologies.push_back(std::move(to));
    }
  }

  const Profile& profile_;
  const Definitions& defs_;
  MappedAnchor out_;
  bool keep_ids_ = false;
};

// Rows put together from whatever runs the profile's source hands out, a block of contexts at a time.
class ProfileRows : public RowSource {
 public:
  ProfileRows(const Profile& profile, const MappedAnchor& mapped) : profile_(profile), mapped_(mapped) {
    blocks_ = sibling_block_order(mapped.anchor.cnodes);
    positions_.resize(blocks_.size());
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) positions_[blocks_[i]] = i;
  }

  [[nodiscard]] std::size_t row_bytes(std::size_t metric) const override {
    const Metric& from = profile_.defs().metric(mapped_.sources[metric].metric);
    return from.scopes.empty() || from.derived() ? 0 : from.type.size() * profile_.defs().system.location_count();
  }

  Result<void> rows(std::size_t metric, const Visit& visit) const override {
    const StoredMetric source = mapped_.sources[metric];
    const std::size_t bytes = row_bytes(metric);
    const std::size_t size = profile_.defs().metric(source.metric).type.size();
    const bool in_blocks = mapped_.anchor.metrics[metric].inclusive();
    const std::size_t contexts = profile_.defs().contexts.size();
    const auto locations = static_cast<std::uint32_t>(profile_.defs().system.location_count());
    // A source that is cheap by location is scanned as a whole each time: take as many rows at once as fit.
    const std::size_t room = profile_.values->cheap_axis() == Axis::location ? kLargeBlock : kSmallBlock;
    const std::size_t step =
        std::clamp<std::size_t>(room / std::max<std::size_t>(bytes, 1), 1, std::max<std::size_t>(contexts, 1));
    FATHOM_TRY(const auto reservation, profile_.work->budget.reserve(step * bytes, "rows to be written"));
    std::vector<std::byte> block(step * bytes);
    std::vector<std::uint8_t> touched(step);
    for (std::size_t begin = 0; begin < contexts; begin += step) {
      const std::size_t end = std::min(contexts, begin + step);
      // Rows go out by number; the contexts of a range of numbers lie between the smallest and the largest of them.
      std::fill(block.begin(), block.end(), std::byte{0});
      const ValueType type = profile_.defs().metric(source.metric).type;
      if (absent_is_no_value(type)) {
        for (std::size_t at = 0; at < block.size(); at += size) put_absent(type, block.data() + at);
      }
      std::fill(touched.begin(), touched.end(), std::uint8_t{0});
      IndexRange range{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
      if (in_blocks) {
        const auto [least, most] = std::minmax_element(blocks_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                       blocks_.begin() + static_cast<std::ptrdiff_t>(end));
        range = {*least, *most + 1};
      }
      FATHOM_CHECK(profile_.values->scan({{&source, 1}, range, {0, locations}}, [&](const Run& run) -> Result<void> {
        const auto put = [&](std::uint32_t context, std::uint32_t location, std::size_t count, const std::byte* from) {
          const std::size_t number = in_blocks ? positions_[context] : context;
          if (number < begin || number >= end) return;
          std::memcpy(block.data() + (number - begin) * bytes + location * size, from, count * size);
          touched[number - begin] = 1;
        };
        if (run.along == Axis::location && run.positions.empty()) {
          put(run.context.value, run.first, run.count, run.values);
          return {};
        }
        for (std::size_t i = 0; i < run.count; ++i) {
          const auto at = run.positions.empty() ? run.first + static_cast<std::uint32_t>(i) : run.positions[i];
          if (run.along == Axis::location) {
            put(run.context.value, at, 1, run.values + i * size);
          } else {
            put(at, run.location.value, 1, run.values + i * size);
          }
        }
        return {};
      }));
      for (std::size_t i = 0; i < end - begin; ++i) {
        if (touched[i] != 0) FATHOM_CHECK(visit(static_cast<std::uint32_t>(begin + i), block.data() + i * bytes));
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t kSmallBlock = std::size_t{4} << 20;
  static constexpr std::size_t kLargeBlock = std::size_t{256} << 20;

  const Profile& profile_;
  const MappedAnchor& mapped_;
  std::vector<std::uint32_t> blocks_;     // row number -> context, of inclusive metrics
  std::vector<std::uint32_t> positions_;  // context -> row number
};

}  // namespace

Result<MappedAnchor> to_anchor(const Profile& profile) { return Mapper(profile).map(); }

Result<void> write_profile(const Profile& profile, const std::filesystem::path& target,
                           const CubeWriteOptions& options) {
  if (profile.defs().system.location_count() == 0) {
    return Error("a Cube profile needs at least one location", Place::in(profile.name));
  }
  FATHOM_CHECK(tell_names_altered_by_xml(profile));
  FATHOM_TRY(const MappedAnchor mapped, to_anchor(profile));
  return write_cube(target, mapped.anchor, ProfileRows(profile, mapped), {}, options);
}

}  // namespace fathom::cube
