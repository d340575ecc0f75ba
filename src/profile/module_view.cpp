// The view by static structure: module, file, function, loops and lines.
#include <map>
#include <unordered_map>

#include "profile/aggregate.hpp"
#include "profile/views.hpp"

namespace fathom {

namespace {

constexpr std::uint32_t kNone = TreeView::kNone;

class ModuleView {
 public:
  ModuleView(const Profile& profile, const ViewInput& input)
      : profile_(profile), defs_(profile.defs()), input_(input) {}

  Result<TreeView> make() {
    const ContextTree& tree = defs_.contexts;
    std::vector<std::uint32_t> node_of(tree.size(), kNone);
    for (std::uint32_t i = 0; i < tree.size(); ++i) {
      const ContextId id{i};
      const Context& context = tree[id];
      const bool counted = !input_.filter || input_.filter(id);
      const bool lexical = context.edge == Edge::lexical && context.parent.valid();
      if (lexical) {
        const std::uint32_t around = node_of[context.parent.index()];
        // What is called from a line is in the line's own values already.
        const bool own_node = defs_.region_of(id).role != "call site" && around != kNone && counted;
        node_of[i] = own_node ? child(around, context.region) : around;
        if (own_node) add(node_of[i], id);
        continue;
      }
      if (!counted) continue;
      const Region& region = defs_.region_of(id);
      const std::uint32_t module = named(kNone, region.module.empty() ? "<unknown module>" : region.module);
      const std::uint32_t file = named(module, region.file.empty() ? "<unknown file>" : region.file);
      node_of[i] = child(file, context.region);
      for (const std::uint32_t node : {module, file, node_of[i]}) add(node, id);
    }
    return build();
  }

 private:
  struct Made {
    RegionId region;
    std::string label;
    std::vector<ContextId> all;
    std::vector<ContextId> outermost;
    std::uint32_t open_until = 0;
  };

  std::uint32_t append(std::uint32_t parent, RegionId region, std::string label) {
    const auto handle = builder_.add(parent == kNone ? ContextTreeBuilder::kRoot : parent, region, made_.size());
    made_.push_back({region, std::move(label), {}, {}, 0});
    return handle;
  }
  std::uint32_t named(std::uint32_t parent, const std::string& name) {
    const auto [at, fresh] = by_name_.try_emplace({parent, name}, 0);
    if (fresh) at->second = append(parent, {}, name);
    return at->second;
  }
  std::uint32_t child(std::uint32_t parent, RegionId region) {
    const auto [at, fresh] = by_region_.try_emplace(std::uint64_t{parent} << 32 | region.value, 0);
    if (fresh) at->second = append(parent, region, {});
    return at->second;
  }
  void add(std::uint32_t node, ContextId id) {
    Made& made = made_[node];
    made.all.push_back(id);
    if (id.value < made.open_until) return;
    made.open_until = defs_.contexts[id].end;
    made.outermost.push_back(id);
  }

  Result<TreeView> build() {
    std::vector<ContextId> numbers;
    const ContextTree shape = std::move(builder_).build(&numbers);
    TreeView out;
    out.nodes.resize(shape.size());
    std::vector<std::vector<ContextId>> all(shape.size());
    std::vector<std::vector<ContextId>> outermost(shape.size());
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const std::size_t number = numbers[i].index();
      const Context& at = shape[numbers[i]];
      Made& made = made_[i];
      out.nodes[number] = {at.parent.valid() ? at.parent.value : kNone,
                           at.end,
                           at.depth,
                           made.region,
                           made.region.valid() && made.all.size() == 1 ? made.all[0] : ContextId(),
                           made.all.size(),
                           std::move(made.label)};
      all[number] = std::move(made.all);
      outermost[number] = std::move(made.outermost);
    }
    FATHOM_TRY(out.exclusive, column(Flavour::Kind::exclusive, std::move(all)));
    FATHOM_TRY(out.inclusive, column(Flavour::Kind::inclusive, std::move(outermost)));
    return out;
  }

  Result<Cells> column(Flavour::Kind flavour, std::vector<std::vector<ContextId>> rows) const {
    if (rows.empty()) return Cells(defs_.metric(input_.metric).type, 0, 1);
    Grouping grouping = Grouping::over_whole_system(defs_);
    if (!input_.locations.empty()) grouping.columns[0] = input_.locations;
    grouping.rows = std::move(rows);
    return compute_groups(profile_, input_.metric, {flavour, {}}, grouping);
  }

  const Profile& profile_;
  const Definitions& defs_;
  const ViewInput& input_;
  ContextTreeBuilder builder_;
  std::vector<Made> made_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> by_name_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_region_;
};

}  // namespace

Result<TreeView> by_module(const Profile& profile, const ViewInput& input) { return ModuleView(profile, input).make(); }

}  // namespace fathom
