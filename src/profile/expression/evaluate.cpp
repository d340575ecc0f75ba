#include "profile/expression/evaluate.hpp"

namespace fathom::expression {

Result<Cells> evaluate(const Profile&, MetricId, const Selection&) {
  return Error("derived metrics cannot be evaluated yet");
}

}  // namespace fathom::expression
