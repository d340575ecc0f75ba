// A Cube 4 archive: its anchor, its members, and the values of its metrics, which are looked at on first use.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/cube/anchor.hpp"
#include "formats/cube/metric_data.hpp"
#include "io/tar.hpp"

namespace fathom::cube {

// Which cnode (position in the document) a row number means, for the two ways in which metrics number their rows.
// Exclusive metrics count cnodes depth first, which is document order. Inclusive ones count them in sibling blocks: all
// children of a node, then the blocks below each of them.
std::vector<std::uint32_t> sibling_block_order(const std::vector<AnchorCnode>& cnodes);

// MT: safe (const).
class CubeFile {
 public:
  static Result<std::shared_ptr<const CubeFile>> open(const Blob& blob, const Work& work);

  struct Row {
    std::uint32_t cnode;  // position in the document
    std::uint32_t row;    // in the data member
  };
  // The values of a metric, its rows by cnode.
  struct Values {
    MetricData data;
    std::vector<Row> rows;
  };

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Anchor& anchor() const { return anchor_; }
  [[nodiscard]] const std::vector<TarMember>& members() const { return archive_.members(); }
  [[nodiscard]] const Work& work() const { return work_; }

  // What a value of this metric (position in the document) is; nothing when its data type is not known.
  [[nodiscard]] std::optional<ValueType> type(std::size_t metric) const { return types_[metric]; }
  [[nodiscard]] const TarMember* index_member(std::size_t metric) const;
  [[nodiscard]] const TarMember* data_member(std::size_t metric) const;
  // The cnode of a row number of this metric.
  [[nodiscard]] std::uint32_t cnode_of(std::size_t metric, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t number_of(std::size_t metric, std::uint32_t cnode) const;
  // Members that belong to no metric and are not the anchor; the last one of each name.
  [[nodiscard]] std::vector<const TarMember*> extra_members() const;

  // Index and layout of a metric's values, read on first use; an error with its place when they are damaged.
  [[nodiscard]] Result<const Values*> values(std::size_t metric) const;

 private:
  CubeFile() = default;
  [[nodiscard]] const TarMember* find(const std::string& name) const;
  [[nodiscard]] const TarMember* member(std::size_t metric, std::string_view ending) const;
  [[nodiscard]] Result<Values> read_values(std::size_t metric) const;
  void find_types();

  struct Slot {
    std::once_flag once;
    std::optional<Result<Values>> values;
  };

  std::string name_;
  Work work_;
  TarArchive archive_;
  std::unordered_map<std::string_view, const TarMember*> by_name_;  // the last one of each name
  Anchor anchor_;
  std::vector<std::optional<ValueType>> types_;
  std::vector<std::uint32_t> block_order_;     // row number -> cnode
  std::vector<std::uint32_t> block_position_;  // cnode -> row number
  mutable std::vector<Slot> slots_;
};

// The name that a metric's members begin with: "7" or "ghost_7".
std::string member_stem(const AnchorMetric& metric);

inline constexpr const char* kAnchorName = "anchor.xml";

}  // namespace fathom::cube
