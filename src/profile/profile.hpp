// Level 2: values over metric tree × calling-context tree × system tree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "defs/definitions.hpp"
#include "profile/source.hpp"
#include "profile/value.hpp"

namespace fathom {

namespace expression {
class Program;
}

// A statistic that a file stores beside the values (summary profiles, columns of classic XML).
struct StoredStatistic {
  StoredMetric metric;
  ContextId context;      // invalid: of the root above all, where a file has one
  std::string statistic;  // "sum", "mean", "stddev", ...
  double value = 0;
};

// MT: safe (const).
struct Profile {
  std::shared_ptr<const Definitions> definitions;
  std::shared_ptr<const ValueSource> values;
  // Compiled expressions of derived metrics; those without one here cannot be evaluated.
  std::map<MetricId, std::shared_ptr<const expression::Program>> programs;
  // Asked for with `table --summary` only, unless they are columns that stand for themselves (classic XML): then they
  // are shown under their metric's own name.
  std::function<Result<std::vector<StoredStatistic>>()> statistics;
  bool statistics_are_columns = false;
  std::string name;  // for messages: the file it came from
  Work work;

  [[nodiscard]] const Definitions& defs() const { return *definitions; }
};

using ProfilePtr = std::shared_ptr<const Profile>;

}  // namespace fathom
