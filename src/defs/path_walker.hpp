// Call paths as text while going through contexts in ascending order: each step changes only the end of the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "defs/definitions.hpp"

namespace fathom {

class PathWalker {
 public:
  // Deeper paths leave out their middle, so that a degenerate tree does not make output quadratic.
  static constexpr std::size_t kDeepest = 200;

  explicit PathWalker(const Definitions& defs) : defs_(defs) {}

  // The path of a context; valid until the next call.
  std::string_view path(ContextId id);

 private:
  [[nodiscard]] std::string_view elided(ContextId id);

  const Definitions& defs_;
  std::string text_;
  std::string elided_;
  ContextId anchor_;  // upper half of the last elided path
  std::vector<ContextId> missing_;
  std::vector<std::pair<ContextId, std::size_t>> steps_;  // contexts on the path, and where their name ends
};

}  // namespace fathom
