// Which views an emulation has, and how the machine's channels reach them.
#pragma once

#include "formats/ovni/channels.hpp"

namespace fathom::ovni {

struct EmulationViews {
  std::vector<View> views;  // thread, cpu, then the breakdowns
  ChannelNet net;
};

// `breakdown`: which models get one.
EmulationViews connect_views(const System& system, const ChannelMap& map,
                             const std::array<bool, kModelCount>& breakdown);

// An error when the metadata give a mark or a counter a name that is too long for the files.
Result<void> judge_labels(const std::vector<View>& views, const Place& place);

// Adds the task types that the run has seen to the views. An error when two labels share a value or one is too long.
Result<void> add_task_types(std::vector<View>& views, const System& system, const Machine& machine, Model model);

}  // namespace fathom::ovni
