// What every piece of work is handed: where to report to and what it may use.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/budget.hpp"
#include "base/diagnostics.hpp"

namespace fathom {

// Shared by everything that works on one dataset; outlives it through shared_ptr.
struct WorkContext {
  explicit WorkContext(bool strict = false, std::uint64_t max_memory = Budget::default_limit())
      : diagnostics(strict), budget(max_memory) {}

  Diagnostics diagnostics;
  Budget budget;
  // What was asked of readers beside the path: "scaling", "use-inclusive-measurements", "keep-values",
  // "allow-incomplete", ...; set before anything is opened, judged by the formats that know them.
  std::map<std::string, std::string, std::less<>> options;

  [[nodiscard]] std::string option(std::string_view name, std::string_view otherwise = {}) const {
    const auto found = options.find(name);
    return found == options.end() ? std::string(otherwise) : found->second;
  }
  [[nodiscard]] bool flag(std::string_view name) const { return option(name) == "true"; }
};

using Work = std::shared_ptr<WorkContext>;

inline Work make_work(bool strict = false, std::uint64_t max_memory = Budget::default_limit()) {
  return std::make_shared<WorkContext>(strict, max_memory);
}

}  // namespace fathom
