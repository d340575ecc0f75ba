// What the ids of diagnostics mean, for people and for whoever reads --json.
#pragma once

#include <span>
#include <string_view>

namespace fathom {

struct DiagnosticId {
  std::string_view id;  // one that ends in a dot stands for all that begin with it
  std::string_view meaning;
};

std::span<const DiagnosticId> all_diagnostic_ids();

}  // namespace fathom
