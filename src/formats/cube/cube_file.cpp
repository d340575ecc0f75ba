#include "formats/cube/cube_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "profile/cubepl/type_names.hpp"

namespace fathom::cube {

std::vector<std::uint32_t> sibling_block_order(const std::vector<AnchorCnode>& cnodes) {
  const std::size_t count = cnodes.size();
  std::vector<std::uint32_t> sizes(count, 1);
  std::vector<std::uint32_t> children(count, 0);
  for (std::size_t i = count; i-- > 0;) {
    if (cnodes[i].parent == kNoIndex) continue;
    sizes[cnodes[i].parent] += sizes[i];
    ++children[cnodes[i].parent];
  }
  // Where the next child of a node goes, and where the block below that child begins.
  std::vector<std::uint32_t> next_child(count);
  std::vector<std::uint32_t> next_block(count);
  std::vector<std::uint32_t> order(count);
  std::uint32_t root_at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t parent = cnodes[i].parent;
    std::uint32_t at = root_at;
    std::uint32_t block = root_at + 1;
    if (parent == kNoIndex) {
      root_at += sizes[i];
    } else {
      at = next_child[parent]++;
      block = next_block[parent];
      next_block[parent] += sizes[i] - 1;
    }
    order[at] = static_cast<std::uint32_t>(i);
    next_child[i] = block;
    next_block[i] = block + children[i];
  }
  return order;
}

std::string member_stem(const AnchorMetric& metric) {
  return metric.ghost() ? fmt::format("ghost_{}", metric.id) : fmt::format("{}", metric.id);
}

Result<std::shared_ptr<const CubeFile>> CubeFile::open(const Blob& blob, const Work& work) {
  std::shared_ptr<CubeFile> file(new CubeFile());
  file->name_ = blob.name();
  file->work_ = work;
  FATHOM_TRY(file->archive_, TarArchive::read(blob, work));
  for (const TarMember& member : file->archive_.members()) file->by_name_[member.name] = &member;
  const TarMember* anchor = file->find(kAnchorName);
  if (anchor == nullptr) {
    return Error("the archive has no file 'anchor.xml'", Place::in(blob.name()))
        .hint("a Cube profile describes itself in that member");
  }
  FATHOM_TRY(file->anchor_, read_anchor(anchor->content, work));
  if (const std::string* clustered = find_attribute(file->anchor_.attributes, "CLUSTERING");
      clustered != nullptr && equal_ignoring_case(trim(*clustered), "ON")) {
    FATHOM_CHECK(work->diagnostics.warn("cube.clustering", Place::in(fmt::format("{}({})", file->name(), kAnchorName)),
                                        "iterations of this profile are clustered (CLUSTERING); expanding them is not "
                                        "supported: the call tree is shown "
                                        "as it is stored, each cluster once"));
  }
  file->find_types();
  file->block_order_ = sibling_block_order(file->anchor_.cnodes);
  file->block_position_.resize(file->block_order_.size());
  for (std::uint32_t i = 0; i < file->block_order_.size(); ++i) file->block_position_[file->block_order_[i]] = i;
  file->slots_ = std::vector<Slot>(file->anchor_.metrics.size());
  return std::shared_ptr<const CubeFile>(std::move(file));
}

// A derived metric with a parent has its parent's type.
void CubeFile::find_types() {
  types_.resize(anchor_.metrics.size());
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const AnchorMetric& metric = anchor_.metrics[i];
    types_[i] = cubepl::parse_dtype(metric.dtype);
    if (!metric.derived()) continue;
    if (metric.parent != kNoIndex) {
      types_[i] = types_[metric.parent];
    } else if (!types_[i]) {
      types_[i] = ValueType{ValueKind::f64, 0};
    }
  }
}

const TarMember* CubeFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const TarMember* CubeFile::member(std::size_t metric, std::string_view ending) const {
  const AnchorMetric& m = anchor_.metrics[metric];
  const TarMember* found = find(fmt::format("{}.{}", member_stem(m), ending));
  if (found == nullptr && m.ghost()) found = find(fmt::format("{}.{}", m.id, ending));
  return found;
}

const TarMember* CubeFile::index_member(std::size_t metric) const { return member(metric, "index"); }
const TarMember* CubeFile::data_member(std::size_t metric) const { return member(metric, "data"); }

std::uint32_t CubeFile::cnode_of(std::size_t metric, std::uint32_t number) const {
  return anchor_.metrics[metric].inclusive() ? block_order_[number] : number;
}

std::uint32_t CubeFile::number_of(std::size_t metric, std::uint32_t cnode) const {
  return anchor_.metrics[metric].inclusive() ? block_position_[cnode] : cnode;
}

std::vector<const TarMember*> CubeFile::extra_members() const {
  std::unordered_set<const TarMember*> own{find(kAnchorName)};
  for (std::size_t i = 0; i < anchor_.metrics.size(); ++i) {
    if (anchor_.metrics[i].derived()) continue;
    own.insert(index_member(i));
    own.insert(data_member(i));
  }
  std::vector<const TarMember*> extra;
  for (const TarMember& member : members()) {
    // Empty members of this name only fill up a block.
    if (member.name == ".slack" && member.content.size() == 0) continue;
    if (find(member.name) == &member && !own.contains(&member)) extra.push_back(&member);
  }
  return extra;
}

Result<CubeFile::Values> CubeFile::read_values(std::size_t metric) const {
  Values values;
  const AnchorMetric& m = anchor_.metrics[metric];
  const TarMember* index = index_member(metric);
  const TarMember* data = data_member(metric);
  if (m.derived() || index == nullptr || data == nullptr) return values;
  if (!types_[metric]) {
    return Error(fmt::format("data type '{}' is not known", m.dtype), Place::in(name_ + "(" + kAnchorName + ")"));
  }
  const MetricData::Shape shape{*types_[metric], anchor_.location_count, anchor_.cnodes.size()};
  FATHOM_TRY(values.data, MetricData::read(index->content, data->content, shape, work_));
  values.rows.resize(values.data.row_count());
  for (std::uint32_t row = 0; row < values.rows.size(); ++row) {
    values.rows[row] = {cnode_of(metric, values.data.number(row)), row};
  }
  std::sort(values.rows.begin(), values.rows.end(), [](const Row& a, const Row& b) { return a.cnode < b.cnode; });
  return values;
}

Result<const CubeFile::Values*> CubeFile::values(std::size_t metric) const {
  Slot& slot = slots_[metric];
  std::call_once(slot.once, [&] { slot.values.emplace(read_values(metric)); });
  if (!slot.values->ok()) return slot.values->error();
  return &slot.values->value();
}

}  // namespace fathom::cube
