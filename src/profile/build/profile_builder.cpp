#include "profile/build/profile_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "profile/reduce/reduced_source.hpp"

namespace fathom {

namespace {

std::size_t hash(std::uint32_t parent, std::uint32_t region, Edge edge, std::uint32_t variant) {
  std::uint64_t x = (std::uint64_t{parent} << 32 | region) * 0x9E3779B97F4A7C15ULL +
                    (std::uint64_t{variant} << 2 | static_cast<std::uint64_t>(edge));
  x ^= x >> 29;
  return static_cast<std::size_t>(x * 0xC2B2AE3D27D4EB4FULL >> 20);
}

// Edge and variant in one number; so many variants do not fit.
constexpr std::uint32_t kLookAtNode = UINT32_MAX;
std::uint32_t rest_of(Edge edge, std::uint32_t variant) {
  return variant < kLookAtNode >> 3 ? variant << 2 | static_cast<std::uint32_t>(edge) : kLookAtNode;
}

}  // namespace

RegionId ProfileBuilder::add_region(Region region) {
  region.file_id = regions_.size();
  regions_.push_back(std::move(region));
  return RegionId(regions_.size() - 1);
}

RegionId ProfileBuilder::region(std::string_view name, std::string_view file, std::string_view module) {
  key_.assign(name);
  if (!file.empty() || !module.empty()) {
    key_.push_back('\0');
    key_.append(file);
    key_.push_back('\0');
    key_.append(module);
  }
  if (const auto found = region_index_.find(key_); found != region_index_.end()) return found->second;
  Region made;
  made.name = std::string(name);
  made.file = std::string(file);
  made.module = std::string(module);
  const RegionId id = add_region(std::move(made));
  region_index_.emplace(key_, id);
  return id;
}

ProfileBuilder::Node ProfileBuilder::child(Node parent, RegionId region, Edge edge, std::uint32_t variant) {
  if ((nodes_.size() + 1) * 2 > slots_.size()) {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(std::max<std::size_t>(64, before.size() * 2), {});
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.node == kRoot) continue;
      const NodeData& node = nodes_[slot.node];
      std::size_t at = hash(node.parent, node.region.value, node.edge, node.variant) & mask;
      while (slots_[at].node != kRoot) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }
  const std::uint32_t rest = rest_of(edge, variant);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(parent, region.value, edge, variant) & mask;
  for (; slots_[at].node != kRoot; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.parent != parent || slot.region != region.value || slot.rest != rest) continue;
    if (rest != kLookAtNode) return slot.node;
    if (nodes_[slot.node].edge == edge && nodes_[slot.node].variant == variant) return slot.node;
  }
  const auto made = static_cast<Node>(nodes_.size());
  nodes_.push_back({parent, region, edge, variant});
  slots_[at] = {parent, region.value, rest, made};
  return made;
}

void ProfileBuilder::called_from(Node node, std::int64_t line) {
  NodeData& data = nodes_[node];
  data.line = !data.has_line || data.line == line ? line : -1;
  data.has_line = true;
}

MetricId ProfileBuilder::add_metric(Metric metric) {
  if (!metric.type.is_double()) metric.type = {metric.type.is_integer() ? ValueKind::i64 : ValueKind::f64, 0};
  if (metric.scopes.empty()) metric.scopes = {{Scope::exclusive, {}}};
  metric.file_id = metrics_.size();
  const std::string name = metric.name;
  for (std::size_t more = 2; find_metric(metric.name).valid(); ++more) metric.name = fmt::format("{} #{}", name, more);
  first_slot_.push_back(slot_count_);
  slot_count_ += static_cast<std::uint32_t>(metric.scopes.size());
  kinds_.resize(slot_count_, metric.type.kind);
  metrics_.push_back(std::move(metric));
  return MetricId(metrics_.size() - 1);
}

void ProfileBuilder::put(LocationId location, MetricId metric, std::uint32_t scope, Node node, std::uint64_t bits) {
  if (values_.size() <= location.index()) values_.resize(location.index() + 1);
  Slots& slots = values_[location.index()];
  const std::uint32_t slot = first_slot_[metric.index()] + scope;
  if (slots.size() <= slot) slots.resize(slot_count_);
  slots[slot].add(kinds_[slot], node, bits, nodes_.size());
}

Result<ProfilePtr> ProfileBuilder::finish() && {
  slots_ = {};
  region_index_ = {};
  std::uint64_t bytes = 0;
  for (const Slots& slots : values_) {
    for (const ValueColumn& slot : slots) bytes += slot.bytes();
  }
  constexpr std::uint64_t kContextBytes = 200;
  FATHOM_TRY(auto reserved, work_->budget.reserve(bytes + nodes_.size() * kContextBytes, "the values of a profile"));
  ContextTreeBuilder tree;
  for (const NodeData& node : nodes_) tree.add(node.parent, node.region, 0, node.line, node.edge);
  for (auto& [node, details] : details_) tree.details(node) = std::move(details);
  std::vector<ContextId> numbers;
  auto defs = std::make_shared<Definitions>();
  // The ids of contexts are their numbers, which only the tree knows: it is built twice.
  ContextTree first = std::move(tree).build(&numbers);
  ContextTreeBuilder numbered;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Context& context = first[ContextId(i)];
    const auto handle = numbered.add(context.parent.valid() ? context.parent.value : ContextTreeBuilder::kRoot,
                                     context.region, i, context.line, context.edge);
    if (const ContextDetails& details = first.details(ContextId(i)); !(details == ContextDetails())) {
      numbered.details(handle) = details;
    }
  }
  defs->contexts = std::move(numbered).build();
  const bool only_calls = defs->contexts.only_calls();
  for (Metric& metric : metrics_) {
    for (StoredScope& scope : metric.scopes) {
      if (scope.scope == Scope::exclusive && !only_calls) scope.scope = Scope::own;
    }
  }
  std::vector<std::uint32_t> nodes(numbers.size());  // by number
  for (std::uint32_t i = 0; i < numbers.size(); ++i) nodes[numbers[i].value] = i;
  values_.resize(system.location_count());
  std::vector<reduction::LocationValues> values(values_.size());
  std::atomic<std::uint64_t> overflows = 0;
  FATHOM_CHECK(parallel_for(values_.size(), [&](std::size_t i) -> Result<void> {
    reduction::LocationValues& out = values[i];
    values_[i].resize(slot_count_);
    out.begin.push_back(0);
    for (std::uint32_t slot = 0; slot < slot_count_; ++slot) {
      ValueColumn column = std::move(values_[i][slot]);
      const bool adds_up = kinds_[slot] == ValueKind::i64 || kinds_[slot] == ValueKind::f64;
      column.each(kinds_[slot], numbers, nodes, [&](std::uint32_t context, std::uint64_t bits) {
        if (bits == 0 && adds_up) return;
        out.contexts.push_back(context);
        out.values.push_back(bits);
      });
      overflows += column.cuts();
      out.begin.push_back(static_cast<std::uint32_t>(out.contexts.size()));
    }
    return {};
  }));
  if (overflows > 0) {
    FATHOM_CHECK(work_->diagnostics.add("profile.overflow", Severity::data_loss, Place::in(name_),
                                        "a sum does not fit into 64 bits; it is cut to the largest number that does",
                                        overflows));
  }
  defs->metrics = std::move(metrics_);
  defs->regions = std::move(regions_);
  defs->system = std::move(system);
  defs->attributes = std::move(attributes);
  std::vector<Budget::Reservation> kept;
  kept.push_back(std::move(reserved));
  auto profile = std::make_shared<Profile>();
  profile->definitions = std::move(defs);
  profile->values =
      std::make_shared<reduction::ReducedSource>(std::move(values), std::move(kept), std::move(first_slot_));
  profile->name = std::move(name_);
  profile->work = std::move(work_);
  return ProfilePtr(std::move(profile));
}

LocationId add_single_location(SystemTree& system, std::string_view process) {
  SystemNode machine;
  machine.type = "machine";
  machine.name = "machine";
  SystemNode group;
  group.parent = system.add(std::move(machine));
  group.kind = SystemKind::group;
  group.type = "process";
  group.name = std::string(process);
  group.rank = 0;
  SystemNode thread;
  thread.parent = system.add(std::move(group));
  thread.kind = SystemKind::location;
  thread.type = "thread";
  thread.name = "Thread 0";
  thread.rank = 0;
  return system.add_location(std::move(thread));
}

}  // namespace fathom
