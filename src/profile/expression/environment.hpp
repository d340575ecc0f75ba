// Names that a language predefines (CubePL's cube:: and calculation:: variables): the language supplies them, the
// engine only asks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "defs/definitions.hpp"
#include "profile/expression/datum.hpp"

namespace fathom {
struct Profile;
}

namespace fathom::expression {

enum class State : std::uint8_t { inclusive, exclusive, same };
enum class Varies : std::uint8_t { never, by_row, by_cell };

// What is being worked out.
struct Point {
  const Profile* profile = nullptr;
  MetricId metric;
  std::span<const ContextId> contexts;    // of the row
  std::span<const LocationId> locations;  // of the column
  bool whole_system = false;              // the column is all locations together
  SystemNodeId resource;                  // the process or node that several locations of a column make up
  State state = State::same;
};

// MT: safe (const).
class Environment {
 public:
  virtual ~Environment() = default;
  // What the value depends on besides the position.
  [[nodiscard]] virtual Varies varies(std::uint32_t id) const = 0;
  [[nodiscard]] virtual Datum value(std::uint32_t id, std::int64_t position, const Point& point) const = 0;
  [[nodiscard]] virtual std::size_t size(std::uint32_t id, const Point& point) const = 0;
  // A property of a metric ("uom", "display name"); empty when unknown.
  [[nodiscard]] virtual std::string property(const Profile& profile, std::string_view metric,
                                             std::string_view name) const = 0;
};

}  // namespace fathom::expression
