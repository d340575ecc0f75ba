// The one table of what can be found: every kind, what it is found in and what it means.
#pragma once

#include <span>

#include "base/table.hpp"

namespace fathom {

enum class FoundIn : std::uint8_t { trace, threads, profile, experiment, runs, pair };

struct FindingKind {
  const char* name;
  FoundIn in;
  const char* what;
};

std::span<const FindingKind> finding_kinds();
// kind, found in, what happens
Table finding_kind_table();

}  // namespace fathom
