#include "model/growth.hpp"

#include <algorithm>

namespace fathom {

namespace {

// Nesting is one level deep: a factor's segments hold plain functions.
LeadingPowers of_terms(const std::vector<Term>& terms, std::uint32_t parameter, bool inside) {
  LeadingPowers best;
  bool any = false;
  for (const auto& term : terms) {
    for (const auto& factor : term.factors) {
      if (factor.parameter != parameter && !inside) continue;
      LeadingPowers growth{factor.power.value, factor.log.value};
      if (!factor.segments.empty() && !inside) {
        growth = of_terms(factor.segments.back().function.terms, parameter, true);
      }
      best = any ? std::max(best, growth) : growth;
      any = true;
    }
  }
  return best;
}

}  // namespace

LeadingPowers leading_growth(const Function& function, std::uint32_t parameter) {
  const auto& terms = function.segments.empty() ? function.terms : function.segments.back().function.terms;
  return of_terms(terms, parameter, false);
}

}  // namespace fathom
