// Columns of ids: positions in a level's lists, shown as the ids that the file uses. Numbers where all are numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "defs/definitions.hpp"

namespace fathom {

// MT: safe (const).
class IdColumn {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  IdColumn() = default;
  // Texts by position; a column of numbers when every text is one.
  explicit IdColumn(std::vector<std::string> labels);
  explicit IdColumn(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)), numeric_(true) {}

  [[nodiscard]] ColumnType type() const { return numeric_ ? ColumnType::int64 : ColumnType::text; }
  // The ids at these positions; kNone = an empty cell.
  [[nodiscard]] Column at(std::vector<std::uint32_t> positions) const;
  // The same position `rows` times.
  [[nodiscard]] Column repeated(std::uint32_t position, std::size_t rows) const;

 private:
  std::vector<std::int64_t> numbers_;
  Dictionary labels_;
  bool numeric_ = false;
};

IdColumn location_ids(const SystemTree& system);
IdColumn context_ids(const ContextTree& contexts);
// As the file numbers them where that tells them apart, else by position.
IdColumn region_ids(const std::vector<Region>& regions);

// Bit i set where positions[i] is one; empty when all are.
std::vector<std::uint64_t> validity_of(std::span<const std::uint32_t> positions);

}  // namespace fathom
