#include "base/diagnostic_ids.hpp"

namespace fathom {

std::span<const DiagnosticId> all_diagnostic_ids() {
  static constexpr DiagnosticId kIds[] = {
#define DIAGNOSTIC(id, meaning) {id, meaning},
#include "base/diagnostic_ids.inc"
#undef DIAGNOSTIC
  };
  return kIds;
}

}  // namespace fathom
