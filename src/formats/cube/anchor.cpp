#include "formats/cube/anchor.hpp"

#include "base/text.hpp"

namespace fathom::cube {

bool AnchorMetric::ghost() const { return equal_ignoring_case(viztype, "GHOST"); }

bool AnchorMetric::derived() const {
  return type == "POSTDERIVED" || type == "DERIVED" || type == "PREDERIVED_INCLUSIVE" || type == "PREDERIVED_EXCLUSIVE";
}

bool AnchorMetric::inclusive() const { return type == "INCLUSIVE" || type == "SIMPLE"; }

const CnodeDetails& Anchor::details(const AnchorCnode& cnode) const {
  static const CnodeDetails kNone;
  return cnode.details == kNoIndex ? kNone : cnode_details[cnode.details];
}

}  // namespace fathom::cube
