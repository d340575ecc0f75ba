// What the level knows and Cube has no field for, as attributes of cnodes and regions that other readers pass by: of
// what kind an edge of the call tree is, and the module of a region whose file is known.
#pragma once

#include <string_view>

#include "defs/attributes.hpp"
#include "defs/context_tree.hpp"

namespace fathom::cube {

inline constexpr std::string_view kEdgeAttribute = "Fathom edge";
inline constexpr std::string_view kModuleAttribute = "Fathom module";

inline std::string_view edge_name(Edge edge) {
  return edge == Edge::lexical ? "lexical" : edge == Edge::inlined_call ? "inlined" : "call";
}

// Takes the attribute out; a call when there is none.
inline Edge take_edge(Attributes& attributes) {
  const std::string* value = find_attribute(attributes, kEdgeAttribute);
  if (value == nullptr) return Edge::call;
  const Edge edge = *value == "lexical" ? Edge::lexical : *value == "inlined" ? Edge::inlined_call : Edge::call;
  std::erase_if(attributes, [](const auto& pair) { return pair.first == kEdgeAttribute; });
  return edge;
}

inline std::string take_module(Attributes& attributes) {
  const std::string* value = find_attribute(attributes, kModuleAttribute);
  if (value == nullptr) return {};
  std::string module = *value;
  std::erase_if(attributes, [](const auto& pair) { return pair.first == kModuleAttribute; });
  return module;
}

}  // namespace fathom::cube
