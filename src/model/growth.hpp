// How fast functions grow with one parameter, and whether the measurements bear that out.
#pragma once

#include <optional>
#include <string>

#include "model/model.hpp"

namespace fathom {

// x^power * log2(x)^log.
struct Growth {
  Exponent power;
  Exponent log;
  [[nodiscard]] bool constant() const { return power.zero() && log.zero(); }
  [[nodiscard]] std::string text(const std::string& parameter) const;  // "p^(3/2) * log2(p)", "constant"
  friend bool operator==(const Growth& a, const Growth& b) {
    return a.power.value == b.power.value && a.log.value == b.log.value;
  }
};
bool grows_faster(const Growth& a, const Growth& b);

// Of the fastest term of a parameter; constant when the function does not depend on it. A piecewise function counts by
// its last piece, the one that holds at scale.
enum class Terms : std::uint8_t { all, positive };  // positive: only those that add to the value
Growth leading_growth(const Function& function, std::uint32_t parameter, Terms terms = Terms::all);

// The function that models a series, with `allowed` growth of one parameter in place of its own, where that explains
// the series as well as its noise lets one tell: the relative residuals grow by no more than chance gives 99 times in a
// hundred. The noise is what the repetitions show and what the model leaves. Nothing when the series outgrows that, or
// it cannot be judged: values that are not positive, or no degree of freedom.
std::optional<Function> within(const Growth& allowed, const Experiment& experiment, std::uint32_t series,
                               const Function& function, Measure measure, std::uint32_t parameter);

}  // namespace fathom
