// Profiles made from profiles. Trees are matched node by node (metrics by unique name; contexts by the regions, call
// sites, parameters and attributes on their way from the root; the system as the options say), results are numbered
// depth first in the order of first appearance over the inputs, and values are combined when they are asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace fathom::algebra {

enum class SystemMatch : std::uint8_t {
  strict,    // one tree must contain the other
  reduce,    // only machine and node levels are kept above the groups, and united
  collapse,  // all groups below one virtual machine and node
};

struct Options {
  SystemMatch system = SystemMatch::strict;
};

using Inputs = std::vector<ProfilePtr>;

// a - b, cell by cell in the metric's own flavour. Unsigned metrics become signed, minima and maxima plain doubles.
Result<ProfilePtr> diff(const ProfilePtr& a, const ProfilePtr& b, const Options& options = {});
// All metrics; where several inputs cover a cell the last one has it.
Result<ProfilePtr> merge(const Inputs& inputs, const Options& options = {});
// Sum over the number of inputs; integers become doubles, minima and maxima are taken as they are.
Result<ProfilePtr> mean(const Inputs& inputs, const Options& options = {});
// The inputs' locations side by side.
Result<ProfilePtr> join_locations(const Inputs& inputs);

struct CutOptions {
  std::vector<std::string> roots = {};  // region names (or patterns): each context of such a region becomes a root
  std::vector<std::string> prune = {};  // such contexts vanish with all below them; their values go to the parent
  std::vector<std::string> elide =
      {};  // such contexts vanish, what they call hangs below the parent; values as with prune
  std::vector<std::string> fold = {};  // what lies below such contexts vanishes; its values go to the context
  // Calls of such regions from inside of themselves vanish, directly or by way of others: they and what they call are
  // one with the outermost call.
  std::vector<std::string> collapse = {};
  bool keep_ids = false;  // contexts keep the ids that the file uses instead of being numbered anew
};
Result<ProfilePtr> cut(const ProfilePtr& profile, const CutOptions& options);
// The subtree below one context as a profile of its own.
Result<ProfilePtr> subtree(const ProfilePtr& profile, ContextId root);

}  // namespace fathom::algebra
