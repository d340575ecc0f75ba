// Any bytes as a formula, and as a taxonomy that holds formulas.
#include <cstdint>

#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/formula.hpp"

using namespace fathom;
using namespace fathom::hpctoolkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto work = make_work(false, std::uint64_t{256} << 20);
  const Blob blob("input", Bytes(reinterpret_cast<const std::byte*>(data), size), nullptr);
  const auto anything = [](char, std::int64_t) -> Result<expression::MetricReference> {
    return expression::MetricReference{"m", expression::Reach::here, expression::Wanted::running,
                                       expression::Wanted::running};
  };
  if (const auto tree = compile_formula(blob.text(), anything)) {
    for (const FormulaStyle style : {FormulaStyle::infix, FormulaStyle::yaml}) {
      (void)formula_text(*tree, style, [](const expression::MetricReference& one) { return "$" + one.metric; });
    }
  }
  if (const auto taxonomy = Taxonomy::read(blob)) {
    Mapping mapping;
    (void)add_derived(*taxonomy, "input", mapping, work);
  }
  return 0;
}
