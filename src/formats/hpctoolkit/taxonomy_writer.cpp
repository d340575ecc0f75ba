#include "formats/hpctoolkit/taxonomy_writer.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/hpctoolkit/derived_writer.hpp"

namespace fathom::hpctoolkit {

// Which statistics a viewer shows, and how they are worked out.
Result<std::string> taxonomy_text(const Profile& profile, const std::vector<MetricPlan>& plans) {
  static constexpr const char* kStatistics[] = {"sum", "count", "squares", "min", "max"};  // by Over
  static constexpr const char* kNames[] = {"point", "function", "lex_aware", "execution"};
  std::string inputs;
  std::string roots;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::string name = json_quote(profile.defs().metric(plans[i].metric).name);
    const auto input = [&](const char* anchor, const char* scope, const char* formula, const char* combine) {
      inputs += fmt::format("  - &m{}-{}-{}\n    metric: {}\n    scope: {}\n    formula: {}\n    combine: {}\n", i,
                            anchor, scope, name, scope, formula, combine);
    };
    for (const char* scope : {"execution", "function", "lex_aware"}) {
      input("sum", scope, "$$", "sum");
      input("count", scope, "1", "sum");
      input("squares", scope, "($$^2)", "sum");
      input("min", scope, "$$", "min");
      input("max", scope, "$$", "max");
    }
    roots += fmt::format("  - name: {0}\n    description: {0}\n    variants:\n", name);
    const auto variant = [&](const char* title, const char* render, auto&& formula) {
      roots += fmt::format(
          "      {}:\n        render: {}\n        formula:\n          inclusive:\n            standard: {}\n"
          "          exclusive:\n            custom: {}\n            standard: {}\n",
          title, render, formula("execution"), formula("lex_aware"), formula("function"));
    };
    const auto alias = [&](const char* anchor) {
      return [&, anchor](const char* scope) { return fmt::format("*m{}-{}-{}", i, anchor, scope); };
    };
    variant("Sum", "[number, percent]", alias("sum"));
    variant("Mean", "number",
            [&](const char* scope) { return fmt::format("{{/: [*m{0}-sum-{1} , *m{0}-count-{1} ]}}", i, scope); });
    variant("StdDev", "number", [&](const char* scope) {
      return fmt::format(
          "{{sqrt: [{{-: [{{/: [*m{0}-squares-{1} , *m{0}-count-{1} ]}}, {{^: [{{/: [*m{0}-sum-{1} , *m{0}-count-{1} "
          "]}}, "
          "2]}}]}}]}}",
          i, scope);
    });
    variant("Min", "number", alias("min"));
    variant("Max", "number", alias("max"));
  }
  FATHOM_TRY(const auto formulas,
             written_formulas(
                 profile, plans, FormulaStyle::yaml, [](std::size_t plan, WrittenScope scope, expression::Over over) {
                   return fmt::format("*m{}-{}-{}", plan, kStatistics[static_cast<std::size_t>(over)], kNames[scope]);
                 }));
  for (const WrittenFormula& formula : formulas) {
    const Metric& metric = profile.defs().metric(formula.metric);
    roots += fmt::format(
        "  - name: {}\n    description: {}\n    variants:\n      \"\":\n        render: number\n"
        "        formula:\n",
        json_quote(metric.name), json_quote(metric.description));
    if (!formula.inclusive.empty()) {
      roots += fmt::format("          inclusive:\n            standard: {}\n", formula.inclusive);
    }
    if (!formula.exclusive.empty()) {
      roots += fmt::format("          exclusive:\n            custom: {}\n            standard: {}\n", formula.custom,
                           formula.exclusive);
    }
  }
  const auto list = [](const std::string& items) { return items.empty() ? " []\n" : "\n" + items; };
  return fmt::format("version: 0\ninputs:{}roots:{}", list(inputs), list(roots));
}

}  // namespace fathom::hpctoolkit
