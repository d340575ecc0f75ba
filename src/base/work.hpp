// What every piece of work is handed: where to report to and what it may use.
#pragma once

#include <memory>

#include "base/budget.hpp"
#include "base/diagnostics.hpp"
#include "base/option.hpp"

namespace fathom {

// Shared by everything that works on one dataset; outlives it through shared_ptr.
struct WorkContext {
  explicit WorkContext(bool strict = false, std::uint64_t max_memory = Budget::default_limit())
      : diagnostics(strict), budget(max_memory) {}

  Diagnostics diagnostics;
  Budget budget;
  // What was asked beside the path; set before anything is opened, obeyed by whoever declares the option.
  OptionValues options;
};

using Work = std::shared_ptr<WorkContext>;

inline Work make_work(bool strict = false, std::uint64_t max_memory = Budget::default_limit()) {
  return std::make_shared<WorkContext>(strict, max_memory);
}

}  // namespace fathom
