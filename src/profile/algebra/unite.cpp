#include "profile/algebra/unite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "profile/other_unit.hpp"

namespace fathom::algebra {

namespace {

// ---- metrics: by unique name; new ones go below the metric that matches their parent

class MetricUnion {
 public:
  void add(const Definitions& defs) {
    std::vector<std::size_t> to(defs.metrics.size());
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
      const Metric& metric = defs.metrics[i];
      const auto [found, fresh] = by_name_.emplace(metric.name, list_.size());
      to[i] = found->second;
      if (fresh) {
        list_.push_back(metric);
        parent_.push_back(metric.parent.valid() ? to[metric.parent.index()] : kNone);
      } else {
        reconcile(list_[found->second], metric);
      }
    }
    maps_.push_back(std::move(to));
  }

  // Depth first, new names after the older ones of their level.
  std::vector<Metric> finish(std::vector<Mapping>& mappings) {
    std::vector<std::vector<std::size_t>> children(list_.size());
    std::vector<std::size_t> stack;
    for (std::size_t i = list_.size(); i-- > 0;) {
      if (parent_[i] == kNone) {
        stack.push_back(i);
      } else {
        children[parent_[i]].push_back(i);  // last one first
      }
    }
    std::vector<Metric> out;
    std::vector<MetricId> number(list_.size());
    while (!stack.empty()) {
      const std::size_t i = stack.back();
      stack.pop_back();
      number[i] = MetricId(out.size());
      Metric metric = std::move(list_[i]);
      metric.parent = parent_[i] == kNone ? MetricId() : number[parent_[i]];
      metric.file_id = out.size();
      out.push_back(std::move(metric));
      stack.insert(stack.end(), children[i].begin(), children[i].end());
    }
    for (std::size_t k = 0; k < maps_.size(); ++k) {
      for (const std::size_t i : maps_[k]) mappings[k].metrics.push_back(number[i]);
    }
    return out;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  static void reconcile(Metric& known, const Metric& other) {
    if (known.switched_off && !other.switched_off) {
      known = other;
      return;
    }
    if (other.switched_off || known.derived() || other.derived()) return;
    const bool other_unit = other_time_unit(other.unit, known.unit);
    if (known.type == other.type && !other_unit) return;
    if (known.type.is_plain_number() && other.type.is_plain_number()) {
      known.type = known.type.is_integer() && other.type.is_integer() && !other_unit ? ValueType{ValueKind::i64, 0}
                                                                                     : ValueType{ValueKind::f64, 0};
    }
  }

  std::vector<Metric> list_;
  std::vector<std::size_t> parent_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::vector<std::size_t>> maps_;
};

// ---- regions and contexts

using RegionKey = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;

RegionKey key_of(const Region& region) {
  return {region.name, region.file, region.module, region.begin_line, region.end_line};
}

class ContextUnion {
 public:
  void add(const Definitions& defs) {
    std::vector<RegionId> region_to;
    for (const Region& region : defs.regions) {
      const auto [found, fresh] = by_region_.emplace(key_of(region), regions_.size());
      if (fresh) {
        regions_.push_back(region);
        regions_.back().file_id = regions_.size() - 1;
      }
      region_to.emplace_back(found->second);
    }
    // The same call twice below one parent stays two contexts: the n-th of one input matches the n-th of another.
    std::map<Key, std::size_t> seen;
    std::vector<ContextTreeBuilder::Handle> to(defs.contexts.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Context& context = defs.contexts[ContextId(i)];
      const ContextDetails& details = defs.contexts.details(ContextId(i));
      Key key{context.parent.valid() ? to[context.parent.index()] : ContextTreeBuilder::kRoot,
              region_to[context.region.index()].value,
              static_cast<int>(context.edge),
              context.line,
              details.file,
              text_of(details),
              0};
      std::get<6>(key) = seen[key]++;
      const auto [found, fresh] = by_context_.emplace(key, 0);
      if (fresh) {
        found->second = builder_.add(std::get<0>(key), RegionId(std::get<1>(key)), 0, context.line, context.edge);
        if (details != ContextDetails()) builder_.details(found->second) = details;
      }
      to[i] = found->second;
    }
    maps_.push_back(std::move(to));
  }

  void finish(Definitions& defs, std::vector<Mapping>& mappings) && {
    std::vector<ContextId> numbers;
    defs.contexts = renumbered(std::move(builder_).build(&numbers));
    defs.regions = std::move(regions_);
    for (std::size_t k = 0; k < maps_.size(); ++k) {
      for (const auto handle : maps_[k]) mappings[k].contexts.push_back(numbers[handle]);
    }
  }

 private:
  using Key =
      std::tuple<ContextTreeBuilder::Handle, std::uint32_t, int, std::int64_t, std::string, std::string, std::size_t>;

  static std::string text_of(const ContextDetails& details) {
    std::string out;
    const auto put = [&](const std::string& part) { out += fmt::format("{}:{}", part.size(), part); };
    for (const ContextParameter& parameter : details.parameters) {
      put(parameter.key);
      if (const double* number = std::get_if<double>(&parameter.value)) {
        put(exact_text(*number));
      } else {
        put(std::get<std::string>(parameter.value));
      }
    }
    for (const auto& [key, value] : details.attributes) {
      put(key);
      put(value);
    }
    return out;
  }

  std::map<RegionKey, std::size_t> by_region_;
  std::vector<Region> regions_;
  std::map<Key, ContextTreeBuilder::Handle> by_context_;
  ContextTreeBuilder builder_;
  std::vector<std::vector<ContextTreeBuilder::Handle>> maps_;
};

// ---- system

class SystemUnion {
 public:
  SystemUnion(SystemMatch match, bool side_by_side) : match_(match), side_by_side_(side_by_side) {
    if (match != SystemMatch::collapse) return;
    SystemNode machine;
    machine.type = "machine";
    machine.name = "Virtual machine";
    SystemNode node;
    node.type = "node";
    node.name = "Virtual node";
    node.parent = tree_.add(machine);
    virtual_node_ = tree_.add(node);
  }

  // False when neither tree contains the other.
  bool add(const SystemTree& system) {
    const std::size_t before = tree_.nodes.size();
    std::map<Key, std::size_t> seen;
    std::vector<SystemNodeId> to(system.nodes.size());
    // Locations last and in their own order: their numbers in the result follow it.
    for (std::size_t i = 0; i < system.nodes.size(); ++i) {
      const SystemNode& node = system.nodes[i];
      if (node.kind == SystemKind::location) continue;
      const SystemNodeId parent = node.parent.valid() ? to[node.parent.index()] : SystemNodeId();
      to[i] = keeps(node) ? place(node, parent_for(node, parent), seen) : parent;
    }
    std::vector<LocationId> locations;
    for (const SystemNodeId id : system.locations) {
      const SystemNode& node = system.nodes[id.index()];
      const SystemNodeId parent = node.parent.valid() ? to[node.parent.index()] : SystemNodeId();
      to[id.index()] = place(node, parent, seen);
      locations.push_back(tree_.nodes[to[id.index()].index()].location);
    }
    add_topologies(system, to);
    maps_.push_back(std::move(locations));
    const std::size_t after = tree_.nodes.size();
    return match_ != SystemMatch::strict || side_by_side_ || maps_.size() == 1 || after == before ||
           after == system.nodes.size();
  }

  void finish(Definitions& defs, std::vector<Mapping>& mappings) && {
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      SystemNode& node = tree_.nodes[tree_.locations[i].index()];
      node.file_id = i;
      node.label.clear();
    }
    std::size_t nodes = 0;
    std::size_t groups = 0;
    for (SystemNode& node : tree_.nodes) {
      if (node.kind == SystemKind::node) node.file_id = nodes++;
      if (node.kind == SystemKind::group) node.file_id = groups++;
    }
    defs.system = std::move(tree_);
    for (std::size_t k = 0; k < maps_.size(); ++k) mappings[k].locations = std::move(maps_[k]);
  }

 private:
  using Key = std::tuple<std::uint32_t, SystemKind, std::string, std::string, std::int64_t, std::size_t, std::size_t>;

  [[nodiscard]] bool keeps(const SystemNode& node) const {
    if (node.kind != SystemKind::node || match_ == SystemMatch::strict) return true;
    if (match_ == SystemMatch::collapse) return false;
    return equal_ignoring_case(node.type, "machine") || equal_ignoring_case(node.type, "node") ||
           equal_ignoring_case(node.type, "nodecard");
  }

  [[nodiscard]] SystemNodeId parent_for(const SystemNode& node, SystemNodeId parent) const {
    if (match_ == SystemMatch::collapse && node.kind == SystemKind::group && !parent.valid()) return virtual_node_;
    return parent;
  }

  static Key key_of(const SystemNode& node, SystemNodeId parent) {
    const std::int64_t rank = node.rank.value_or(-1);
    switch (node.kind) {
      case SystemKind::node:
        return {parent.value, node.kind, node.type, node.name, 0, 0, 0};
      case SystemKind::group:
        return {parent.value, node.kind, "", node.name, rank, 0, 0};
      case SystemKind::location:
        break;
    }
    return {parent.value, node.kind, "", node.rank ? "" : node.name + node.label, rank, 0, 0};
  }

  SystemNodeId place(const SystemNode& node, SystemNodeId parent, std::map<Key, std::size_t>& seen) {
    Key key = key_of(node, parent);
    if (side_by_side_) std::get<5>(key) = maps_.size();
    std::get<6>(key) = seen[key]++;
    // Machines may be shared side by side, processes never.
    const auto [found, fresh] = known_.emplace(key, SystemNodeId());
    if (!fresh) return found->second;
    SystemNode copy = node;
    copy.parent = parent;
    if (node.kind == SystemKind::location) {
      tree_.add_location(std::move(copy));
      found->second = tree_.locations.back();
    } else {
      found->second = tree_.add(std::move(copy));
    }
    return found->second;
  }

  void add_topologies(const SystemTree& system, const std::vector<SystemNodeId>& to) {
    for (const Topology& topology : system.topologies) {
      Topology copy = topology;
      std::erase_if(copy.coordinates, [&](auto& coordinate) {
        coordinate.node = coordinate.node.valid() ? to[coordinate.node.index()] : SystemNodeId();
        return !coordinate.node.valid();
      });
      const bool known = std::any_of(tree_.topologies.begin(), tree_.topologies.end(),
                                     [&](const Topology& other) { return same(copy, other); });
      if (!known) tree_.topologies.push_back(std::move(copy));
    }
  }

  static bool same(const Topology& a, const Topology& b) {
    const auto dimension = [](const TopologyDimension& x, const TopologyDimension& y) {
      return x.size == y.size && x.periodic == y.periodic;
    };
    const auto coordinate = [](const Topology::Coordinate& x, const Topology::Coordinate& y) {
      return x.node == y.node && x.at == y.at;
    };
    return std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(), b.dimensions.end(), dimension) &&
           std::equal(a.coordinates.begin(), a.coordinates.end(), b.coordinates.begin(), b.coordinates.end(),
                      coordinate);
  }

  SystemMatch match_;
  bool side_by_side_;
  SystemNodeId virtual_node_;
  SystemTree tree_;
  std::map<Key, SystemNodeId> known_;
  std::vector<std::vector<LocationId>> maps_;
};

// Numbers become each other; a histogram and a number have nothing in common. Of what is derived there is one
// expression, and what is in another unit is not converted.
Result<void> report_others(const Inputs& inputs, const United& united) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Definitions& defs = inputs[k]->defs();
    Diagnostics& diagnostics = inputs[k]->work->diagnostics;
    const Place place = Place::in(inputs[k]->name);
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
      const Metric& from = defs.metrics[i];
      const Metric& to = united.definitions.metric(united.mappings[k].metrics[i]);
      if (from.switched_off) continue;
      if (to.derived()) {
        if (from.derived() && from.expression != to.expression) {
          FATHOM_CHECK(diagnostics.lost(
              "profile.other_expression", place,
              fmt::format("metric '{}' is derived in another way in another profile, which is what counts",
                          from.name)));
        } else if (!from.derived() && !from.scopes.empty()) {
          FATHOM_CHECK(diagnostics.lost(
              "profile.other_type", place,
              fmt::format("metric '{}' is stored here and derived in another profile; its values take no part",
                          from.name)));
        }
        continue;
      }
      if (!can_become(from.type, to.type)) {
        FATHOM_CHECK(diagnostics.lost(
            "profile.other_type", place,
            fmt::format(
                "metric '{}' is of the type {} here and of the type {} in another profile; its values take no part",
                from.name, from.type.text(), to.type.text())));
      } else {
        FATHOM_CHECK(tell_other_unit(*inputs[k], MetricId(i), to.unit));
      }
    }
  }
  return success();
}

}  // namespace

bool can_become(ValueType from, ValueType to) { return from == to || (!from.is_composite() && !to.is_composite()); }

Result<United> unite(const Inputs& inputs, SystemMatch match, bool side_by_side) {
  United out;
  out.mappings.resize(inputs.size());
  MetricUnion metrics;
  ContextUnion contexts;
  SystemUnion system(match, side_by_side);
  for (const ProfilePtr& input : inputs) {
    const Definitions& defs = input->defs();
    metrics.add(defs);
    contexts.add(defs);
    if (!system.add(defs.system)) {
      return Error("the systems of the profiles are incompatible: neither contains the other", Place::in(input->name))
          .hint(
              "--system reduce keeps machines and nodes only, --system collapse puts all processes into one virtual "
              "machine");
    }
    for (const auto& [key, value] : defs.attributes) {
      if (find_attribute(out.definitions.attributes, key) == nullptr)
        out.definitions.attributes.emplace_back(key, value);
    }
    for (const std::string& mirror : defs.mirrors) {
      auto& known = out.definitions.mirrors;
      if (std::find(known.begin(), known.end(), mirror) == known.end()) known.push_back(mirror);
    }
  }
  out.definitions.metrics = metrics.finish(out.mappings);
  std::move(contexts).finish(out.definitions, out.mappings);
  std::move(system).finish(out.definitions, out.mappings);
  FATHOM_CHECK(report_others(inputs, out));
  return out;
}

}  // namespace fathom::algebra
