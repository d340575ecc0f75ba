// The elements of an anchor and what they are called, in old and new files.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/cube/anchor.hpp"

namespace fathom::cube {

enum class Element : std::uint8_t {
  document,
  cube,
  doc,
  mirrors,
  metrics,
  metric,
  program,
  region,
  cnode,
  system,
  system_node,  // systemtreenode, locationgroup, location, and machine, node, process, thread of old files
  topologies,
  cart,
  text,  // an element that holds text only
  leaf,  // an element that holds nothing
};

struct Frame {
  Element element;
  std::uint32_t index = kNoIndex;  // in the table of its kind
  std::string* text = nullptr;     // Element::text: where the text goes
  bool one_line = false;           // line breaks in it count as blanks
};

// How an element of the system tree is called, old and new.
struct SystemName {
  std::string_view element;
  AnchorSystemNode::Kind kind;
  std::string_view type;  // what the name says about it
};
inline constexpr std::array<SystemName, 7> kSystemNames = {{
    {"systemtreenode", AnchorSystemNode::Kind::tree_node, ""},
    {"locationgroup", AnchorSystemNode::Kind::group, ""},
    {"location", AnchorSystemNode::Kind::location, ""},
    {"machine", AnchorSystemNode::Kind::tree_node, "machine"},
    {"node", AnchorSystemNode::Kind::tree_node, "node"},
    {"process", AnchorSystemNode::Kind::group, "process"},
    {"thread", AnchorSystemNode::Kind::location, "thread"},
}};

// Which attribute of a coordinate refers to which element.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCoordinateIds = {{
    {"locId", "location"},
    {"lgId", "locationgroup"},
    {"stnId", "systemtreenode"},
    {"thrdId", "location"},
    {"procId", "locationgroup"},
    {"nodeId", "node"},
    {"machId", "machine"},
}};

// Old and new names of groups and locations share one numbering; tree nodes have one for each name.
inline std::string_view numbering_of(std::string_view element) {
  if (element == "process") return "locationgroup";
  if (element == "thread") return "location";
  return element;
}

// The attributes of one element, consumed one by one; what is left is unknown.
class ElementAttributes {
 public:
  explicit ElementAttributes(const char** list) {
    for (; *list != nullptr; list += 2) all_.emplace_back(list[0], list[1]);
  }
  std::optional<std::string> take(std::string_view name) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& a) { return a.first == name; });
    if (found == all_.end()) return std::nullopt;
    std::string value = std::move(found->second);
    all_.erase(found);
    return value;
  }
  Attributes rest() && { return std::move(all_); }

 private:
  Attributes all_;
};

}  // namespace fathom::cube
