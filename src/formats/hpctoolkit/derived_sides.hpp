// What the formulas of all generations become: a derived metric with an inclusive and an exclusive side.
#pragma once

#include <optional>
#include <string>

#include "formats/hpctoolkit/formula.hpp"
#include "formats/hpctoolkit/mapping.hpp"

namespace fathom::hpctoolkit {

// A metric of a formula for inclusive, or exclusive, values. The same flavour is left to what is asked for.
expression::MetricReference reference_to(std::string name, bool to_inclusive, bool in_inclusive,
                                         expression::Over over = expression::Over::sum);

// The statistic over profiles that a name of StatisticColumn means.
std::optional<expression::Over> over_named(std::string_view statistic);

struct Sides {
  std::optional<expression::Tree> inclusive;
  std::optional<expression::Tree> exclusive;

  // In deviations (NAME:StdDev, NAME:CfVar) a variance below this, in proportion to the square of the mean, is
  // rounding.
  double least_variance = 1e-12;

  // The only metric that it is made of, when it is nothing but that metric.
  [[nodiscard]] const std::string* alias() const;
};

void add_derived_metric(std::string name, const std::string& description, Sides sides, Mapping& mapping);

Result<void> report_formula(const Work& work, const Place& place, const std::string& metric, const Error& error);

}  // namespace fathom::hpctoolkit
