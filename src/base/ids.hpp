// Indices that cannot be mixed up: Id<struct RegionTag> is a position in one table of one dataset.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace fathom {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace fathom

template <class Tag>
struct std::hash<fathom::Id<Tag>> {
  std::size_t operator()(fathom::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
