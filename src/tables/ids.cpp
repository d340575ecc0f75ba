#include "tables/ids.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"

namespace fathom {

IdColumn::IdColumn(std::vector<std::string> labels) {
  numeric_ = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    const auto number = parse_integer<std::int64_t>(label);
    if (number && std::to_string(*number) == label) numbers_.push_back(*number);
    return numbers_.size() == static_cast<std::size_t>(&label - labels.data()) + 1;
  });
  if (!numeric_) labels_ = std::make_shared<const std::vector<std::string>>(std::move(labels));
}

std::vector<std::uint64_t> validity_of(std::span<const std::uint32_t> positions) {
  if (std::find(positions.begin(), positions.end(), IdColumn::kNone) == positions.end()) return {};
  std::vector<std::uint64_t> bits((positions.size() + 63) / 64);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] != IdColumn::kNone) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return bits;
}

Column IdColumn::at(std::vector<std::uint32_t> positions) const {
  std::vector<std::uint64_t> validity = validity_of(positions);
  Column column;
  if (numeric_) {
    std::vector<std::int64_t> numbers(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      numbers[i] = positions[i] == kNone ? 0 : numbers_[positions[i]];
    }
    column = Column::integers(std::move(numbers));
  } else {
    // An empty cell needs a code, too; any will do, and where there is none there are no labels either.
    for (std::uint32_t& position : positions) position = position == kNone ? 0 : position;
    column = Column::texts(std::move(positions), labels_);
  }
  return validity.empty() ? column : std::move(column).with_validity(std::move(validity));
}

Column IdColumn::repeated(std::uint32_t position, std::size_t rows) const {
  if (numeric_) return Column::integers(std::vector<std::int64_t>(rows, numbers_[position]));
  return Column::texts(std::vector<std::uint32_t>(rows, position), labels_);
}

IdColumn location_ids(const SystemTree& system) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < system.location_count(); ++i) labels.push_back(system.location_label(LocationId(i)));
  return IdColumn(std::move(labels));
}

namespace {

// Ids beyond 63 bits are shown as texts, exact.
template <class List>
IdColumn file_ids(const List& list) {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  for (const auto& one : list) {
    if (one.file_id > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) texts.emplace_back();
    numbers.push_back(static_cast<std::int64_t>(one.file_id));
  }
  if (texts.empty()) return IdColumn(std::move(numbers));
  texts.clear();
  for (const auto& one : list) texts.push_back(std::to_string(one.file_id));
  return IdColumn(std::move(texts));
}

}  // namespace

IdColumn context_ids(const ContextTree& contexts) { return file_ids(contexts.all()); }

IdColumn region_ids(const std::vector<Region>& regions) {
  std::unordered_set<std::uint64_t> seen;
  const bool unique = std::all_of(regions.begin(), regions.end(),
                                  [&](const Region& region) { return seen.insert(region.file_id).second; });
  if (unique) return file_ids(regions);
  std::vector<std::int64_t> numbers(regions.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  return IdColumn(std::move(numbers));
}

}  // namespace fathom
