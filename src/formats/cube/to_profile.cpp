#include "formats/cube/to_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "formats/cube/structure.hpp"

namespace fathom::cube {

namespace {

Derivation derivation_of(const AnchorMetric& metric) {
  if (metric.type == "PREDERIVED_EXCLUSIVE") return Derivation::pre_exclusive;
  if (metric.type == "PREDERIVED_INCLUSIVE") return Derivation::pre_inclusive;
  return metric.derived() ? Derivation::post : Derivation::none;
}

std::vector<Metric> map_metrics(const CubeFile& file) {
  std::vector<Metric> out;
  const auto& metrics = file.anchor().metrics;
  out.reserve(metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const AnchorMetric& from = metrics[i];
    Metric to = describe(from);
    // VOID counts for the whole subtree.
    if (to.parent.valid()) to.switched_off = to.switched_off || out[from.parent].switched_off;
    if (const auto type = file.type(i)) {
      to.type = *type;
    } else {
      to.unusable = fmt::format("its data type '{}' is not known", from.dtype);
    }
    if (to.derived()) {
      if (from.parent != kNoIndex && file.type(i) && !file.type(i)->is_plain_number()) {
        to.unusable = "a derived metric below one that is no plain number cannot be evaluated";
      }
    } else {
      to.scopes.push_back({from.inclusive() ? Scope::inclusive : Scope::exclusive, {}});
    }
    out.push_back(std::move(to));
  }
  return out;
}

std::vector<Region> map_regions(const Anchor& anchor) {
  std::vector<Region> out;
  out.reserve(anchor.regions.size());
  for (const AnchorRegion& from : anchor.regions) {
    Region to;
    to.name = from.name;
    to.mangled_name = from.mangled_name.value_or(from.name);
    to.paradigm = from.paradigm;
    to.role = from.role;
    to.file = from.mod;
    to.begin_line = from.begin;
    to.end_line = from.end;
    to.url = from.url;
    to.description = from.descr;
    to.file_id = from.id;
    to.attributes = from.attributes;
    to.module = take_module(to.attributes);
    out.push_back(std::move(to));
  }
  return out;
}

ContextTree map_contexts(const Anchor& anchor) {
  ContextTreeBuilder builder;
  for (const AnchorCnode& from : anchor.cnodes) {
    const auto parent = from.parent == kNoIndex ? ContextTreeBuilder::kRoot : from.parent;
    if (from.details == kNoIndex) {
      builder.add(parent, RegionId(from.region), from.id, from.line);
      continue;
    }
    const CnodeDetails& details = anchor.cnode_details[from.details];
    Attributes attributes = details.attributes;
    const Edge edge = take_edge(attributes);
    const auto handle = builder.add(parent, RegionId(from.region), from.id, from.line, edge);
    if (details.mod.empty() && attributes.empty() && details.parameters.empty()) continue;
    ContextDetails& to = builder.details(handle);
    to.file = details.mod;
    to.attributes = std::move(attributes);
    for (const CnodeParameter& parameter : details.parameters) {
      if (parameter.partype == "numeric") {
        to.parameters.push_back({parameter.key, parse_double(trim(parameter.value)).value_or(0)});
      } else if (parameter.partype == "string") {
        to.parameters.push_back({parameter.key, parameter.value});
      }
    }
  }
  return std::move(builder).build();
}

SystemTree map_system(const Anchor& anchor) {
  SystemTree tree;
  tree.locations.resize(anchor.location_count);
  for (const AnchorSystemNode& from : anchor.system) {
    SystemNode to;
    using Kind = AnchorSystemNode::Kind;
    to.kind = from.kind == Kind::tree_node ? SystemKind::node
              : from.kind == Kind::group   ? SystemKind::group
                                           : SystemKind::location;
    if (from.parent != kNoIndex) to.parent = SystemNodeId(from.parent);
    to.type = from.type;
    to.name = from.name;
    to.description = from.descr;
    to.rank = parse_integer<std::int64_t>(trim(from.rank));
    to.file_id = from.id;
    to.attributes = from.attributes;
    if (to.kind == SystemKind::location) to.location = LocationId(from.id);
    const LocationId location = to.location;
    const SystemNodeId id = tree.add(std::move(to));
    if (location.valid()) tree.locations[location.index()] = id;
  }
  for (const AnchorTopology& from : anchor.topologies) {
    Topology to;
    to.name = from.name;
    for (const AnchorDimension& d : from.dimensions) to.dimensions.push_back({d.name, d.size, d.periodic});
    for (const auto& c : from.coordinates) to.coordinates.push_back({SystemNodeId(c.node), c.at});
    tree.topologies.push_back(std::move(to));
  }
  return tree;
}

class CubeValues : public ValueSource {
 public:
  explicit CubeValues(std::shared_ptr<const CubeFile> file) : file_(std::move(file)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  // Each has a file of its own.
  [[nodiscard]] bool reads_well_by(Axis axis) const override { return axis != Axis::location; }

  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    std::vector<std::byte> scratch;
    for (const StoredMetric& stored : box.metrics) {
      const std::size_t metric = stored.metric.index();
      FATHOM_TRY(const CubeFile::Values* values, file_->values(metric));
      const auto begin = std::lower_bound(values->rows.begin(), values->rows.end(), box.contexts.begin,
                                          [](const CubeFile::Row& row, std::uint32_t c) { return row.cnode < c; });
      const std::size_t value_size = file_->type(metric).value_or(ValueType{}).size();
      Run run;
      run.metric = stored;
      run.first = box.locations.begin;
      run.count = box.locations.size();
      for (auto row = begin; row != values->rows.end() && row->cnode < box.contexts.end; ++row) {
        FATHOM_TRY(const std::byte* at, values->data.row(row->row, scratch));
        if (at == nullptr) continue;
        run.context = ContextId(row->cnode);
        run.values = at + box.locations.begin * value_size;
        FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const CubeFile> file_;
};

}  // namespace

Metric describe(const AnchorMetric& from) {
  Metric to;
  to.name = from.uniq_name.empty() ? from.disp_name : from.uniq_name;
  to.display_name = from.disp_name;
  to.unit = from.uom;
  to.description = from.descr;
  to.url = from.url;
  to.derivation = derivation_of(from);
  to.expression = from.cubepl.value_or("");
  to.hidden = from.ghost();
  to.convertible = !equal_ignoring_case(from.convertible, "false");
  to.switched_off = equal_ignoring_case(trim(from.val), "VOID");
  to.file_id = from.id;
  to.attributes = from.attributes;
  if (from.parent != kNoIndex) to.parent = MetricId(from.parent);
  return to;
}

cubepl::Source cubepl_source(const AnchorMetric& metric) {
  cubepl::Source source;
  source.value = metric.cubepl.value_or("");
  source.init = metric.cubeplinit;
  for (const CubeplAggregation& aggregation : metric.cubeplaggr) {
    if (aggregation.kind == "plus") source.plus = aggregation.text;
    if (aggregation.kind == "minus") source.minus = aggregation.text;
    if (aggregation.kind == "aggr") source.aggregate = aggregation.text;
  }
  return source;
}

Result<ProfilePtr> to_profile(const std::shared_ptr<const CubeFile>& file) {
  auto defs = std::make_shared<Definitions>();
  const Anchor& anchor = file->anchor();
  defs->metrics = map_metrics(*file);
  defs->regions = map_regions(anchor);
  defs->contexts = map_contexts(anchor);
  defs->system = map_system(anchor);
  // Where some edges are no calls, what Cube calls exclusive is the context's own value.
  if (!defs->contexts.only_calls()) {
    for (Metric& metric : defs->metrics) {
      for (StoredScope& stored : metric.scopes) {
        if (stored.scope == Scope::exclusive) stored.scope = Scope::own;
      }
    }
  }
  defs->attributes = anchor.attributes;
  defs->mirrors = anchor.mirrors;
  auto profile = std::make_shared<Profile>();
  profile->values = std::make_shared<CubeValues>(file);
  profile->name = file->name();
  profile->work = file->work();
  std::map<MetricId, cubepl::Source> sources;
  for (std::size_t i = 0; i < anchor.metrics.size(); ++i) {
    if (anchor.metrics[i].derived()) sources.emplace(MetricId(i), cubepl_source(anchor.metrics[i]));
  }
  FATHOM_CHECK(cubepl::add_programs(*defs, *profile, sources));
  profile->definitions = std::move(defs);
  return ProfilePtr(std::move(profile));
}

}  // namespace fathom::cube
