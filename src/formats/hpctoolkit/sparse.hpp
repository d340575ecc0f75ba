// What profile.db and cct.db have in common in both generations: blocks of sparse values with an index.
//
// A block of profile.db holds the values of one profile: entries (metric id, value) grouped by context, and an index of
// (context id, position of its first entry). A block of cct.db holds the values of one context: entries (profile index,
// value) grouped by metric, and an index of (metric id, first entry). The generations differ in byte order and in the
// order of an entry's two members; the XML generation ends an index with a terminator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/work.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

enum class Generation : std::uint8_t {
  xml,   // 4.0: experiment.xml beside big-endian files
  meta,  // 4.x: meta.db beside little-endian files
};

inline Endian order_of(Generation generation) { return generation == Generation::xml ? Endian::big : Endian::little; }

// Widths of an entry's id and of the index key, in bytes.
struct ProfileBlockShape {
  using Id = std::uint16_t;   // metric
  using Key = std::uint32_t;  // context
  static constexpr Key kTerminator = 0x656E6421;
};
struct ContextBlockShape {
  using Id = std::uint32_t;   // profile
  using Key = std::uint16_t;  // metric
  static constexpr Key kTerminator = 0x6564;
};

template <class Shape>
class SparseBlock {
 public:
  using Id = typename Shape::Id;
  using Key = typename Shape::Key;
  static constexpr std::size_t kEntrySize = sizeof(Id) + sizeof(double);
  static constexpr std::size_t kIndexSize = sizeof(Key) + sizeof(std::uint64_t);

  SparseBlock() = default;
  // Both pointers must have the room that the counts need.
  SparseBlock(Generation generation, const std::byte* values, std::uint64_t value_count, const std::byte* indices,
              std::uint64_t index_count)
      : values_(values),
        indices_(indices),
        value_count_(value_count),
        index_count_(index_count),
        order_(order_of(generation)),
        id_at_(generation == Generation::xml ? sizeof(double) : 0),
        number_at_(generation == Generation::xml ? 0 : sizeof(Id)) {}

  [[nodiscard]] std::uint64_t value_count() const { return value_count_; }
  [[nodiscard]] std::uint64_t index_count() const { return index_count_; }

  [[nodiscard]] Id id(std::uint64_t entry) const {
    return load_unchecked<Id>(values_ + entry * kEntrySize + id_at_, order_);
  }
  [[nodiscard]] double number(std::uint64_t entry) const {
    return load_unchecked<double>(values_ + entry * kEntrySize + number_at_, order_);
  }
  [[nodiscard]] Key key(std::uint64_t slot) const { return load_unchecked<Key>(indices_ + slot * kIndexSize, order_); }
  // Entries of an index slot; a range that lies is cut to what exists.
  [[nodiscard]] std::uint64_t begin(std::uint64_t slot) const { return std::min(start(slot), value_count_); }
  [[nodiscard]] std::uint64_t end(std::uint64_t slot) const {
    const std::uint64_t stop = slot + 1 < index_count_ ? start(slot + 1) : value_count_;
    return std::max(std::min(stop, value_count_), begin(slot));
  }
  [[nodiscard]] std::uint64_t start(std::uint64_t slot) const {
    return load_unchecked<std::uint64_t>(indices_ + slot * kIndexSize + sizeof(Key), order_);
  }

  // The first slot whose key is not below `wanted`; keys ascend.
  [[nodiscard]] std::uint64_t lower_bound(Key wanted) const {
    std::uint64_t low = 0;
    std::uint64_t high = index_count_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (key(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  [[nodiscard]] std::optional<std::uint64_t> find(Key wanted) const {
    const std::uint64_t slot = lower_bound(wanted);
    if (slot < index_count_ && key(slot) == wanted) return slot;
    return std::nullopt;
  }
  // The first entry of [from, to) whose id is not below `wanted`; ids ascend there.
  [[nodiscard]] std::uint64_t entry_lower_bound(std::uint64_t from, std::uint64_t to, Id wanted) const {
    while (from < to) {
      const std::uint64_t middle = from + (to - from) / 2;
      if (id(middle) < wanted) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

 private:
  const std::byte* values_ = nullptr;
  const std::byte* indices_ = nullptr;
  std::uint64_t value_count_ = 0;
  std::uint64_t index_count_ = 0;
  Endian order_ = Endian::little;
  std::size_t id_at_ = 0;
  std::size_t number_at_ = 0;
};

using ProfileBlock = SparseBlock<ProfileBlockShape>;
using ContextBlock = SparseBlock<ContextBlockShape>;

// Checks that [at, at + count × size) lies inside `total` bytes.
inline bool fits(std::uint64_t at, std::uint64_t count, std::uint64_t size, std::uint64_t total) {
  return at <= total && count <= (total - at) / size;
}

// Where a block is said to lie.
struct BlockPlace {
  std::uint64_t value_count = 0;
  std::uint64_t values_at = 0;
  std::uint64_t index_count = 0;
  std::uint64_t indices_at = 0;
};

// The block, or nothing when it does not lie inside the file or, in the XML generation, is not terminated.
template <class Shape>
std::optional<SparseBlock<Shape>> locate_block(const Blob& blob, Generation generation, const BlockPlace& place) {
  using Block = SparseBlock<Shape>;
  const std::byte* base = blob.bytes().data();
  if (!fits(place.values_at, place.value_count, Block::kEntrySize, blob.size()) ||
      !fits(place.indices_at, place.index_count, Block::kIndexSize, blob.size())) {
    return std::nullopt;
  }
  if (generation == Generation::xml) {
    const std::uint64_t at = place.indices_at + place.index_count * Block::kIndexSize;
    if (!fits(at, 1, Block::kIndexSize, blob.size()) ||
        load_unchecked<typename Block::Key>(base + at, Endian::big) != Shape::kTerminator ||
        load_unchecked<std::uint64_t>(base + at + sizeof(typename Block::Key), Endian::big) != place.value_count) {
      return std::nullopt;
    }
  }
  return Block(generation, base + place.values_at, place.value_count, base + place.indices_at, place.index_count);
}

// Reports keys that do not ascend and ranges that do not fit: `owner` ("profile 3") has entries of `key` ("context").
template <class Shape>
Result<void> check_index(const SparseBlock<Shape>& block, const Blob& blob, std::uint64_t indices_at,
                         const std::string& owner, const char* key, const Work& work);

}  // namespace fathom::hpctoolkit
