// Who calls whom: the contexts of a profile as a graph of functions.
#pragma once

#include "base/capped_sum.hpp"
#include "profile/export/stack_export.hpp"

namespace fathom {

// An attribute of a context that stands for a function of a call graph (formats that know no paths): another function
// that it calls, as "ID CALLS COST COST …": the callee's id, how often, and what these calls cost in all of each metric
// in the order of the profile.
inline constexpr const char* kCallAttribute = "call";

struct CallGraph {
  struct Node {
    std::string name;
    std::string file;
    std::string module;
    std::int64_t line = -1;
    CappedSum calls;                  // that are known to arrive here
    std::vector<std::int64_t> self;   // by exported metric
    std::vector<std::int64_t> total;  // with all that it calls; recursion counts once
  };
  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    CappedSum calls;
    std::vector<std::int64_t> cost;  // of the callee when called from there
  };
  std::vector<Node> nodes;  // in the order of the contexts
  std::vector<Arc> arcs;
  std::vector<std::int64_t> sum;  // of all self values
  bool counts_calls = false;      // the profile has visits; otherwise calls are numbers of contexts
};

// Over all locations together; `values` must have been planned so.
Result<CallGraph> call_graph(const Profile& profile, const StackExport& values);

}  // namespace fathom
