// How a trace is laid out as an archive: ids of locations, processes under nodes, ranks and communicators. All of it
// follows from the definitions of the trace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "trace/trace.hpp"

namespace fathom::otf2 {

struct PlannedNode {
  std::string name;
  std::string type;
  std::uint32_t parent;  // kUndefined32 = root
};
struct PlannedGroup {
  std::string name;
  bool accelerator = false;
  std::uint32_t node = 0;
  std::uint32_t creator = 0xFFFFFFFF;
};
struct PlannedLocation {
  std::uint64_t id = 0;
  std::string name;
  std::uint8_t type = 1;
  std::uint32_t group = 0;
};

// A communicator, and how ranks of the whole run are counted in it.
class PlannedComm {
 public:
  PlannedComm(std::string name, std::vector<std::int32_t> ranks, std::vector<std::int32_t> remote, bool self,
              bool world)
      : name_(std::move(name)), self_(self), world_(world), ranks_(std::move(ranks)), remote_(std::move(remote)) {
    index(ranks_, by_rank_);
    index(remote_, by_remote_);
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool self() const { return self_; }    // every rank alone
  [[nodiscard]] bool world() const { return world_; }  // all ranks in their order
  [[nodiscard]] const std::vector<std::int32_t>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<std::int32_t>& remote() const { return remote_; }
  // Of a peer as the caller of rank `own` sees it; kUndefined32 = it is not in it.
  [[nodiscard]] std::uint32_t rank_in(std::int32_t rank, std::int32_t own) const;

 private:
  using Index = std::vector<std::pair<std::int32_t, std::uint32_t>>;
  static void index(const std::vector<std::int32_t>& ranks, Index& made);
  static std::uint32_t find(const Index& index, std::int32_t rank);
  std::string name_;
  bool self_;
  bool world_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::int32_t> remote_;
  Index by_rank_;
  Index by_remote_;
};

struct WriterPlan {
  std::vector<PlannedNode> nodes;
  std::vector<PlannedGroup> groups;
  std::vector<PlannedLocation> locations;      // those of the trace, then those of ranks that are not in it
  std::vector<std::int32_t> rank_of_location;  // kUnknownPeer = none
  std::vector<std::uint64_t> rank_locations;   // location of each rank; empty = nothing here has ranks
  std::vector<PlannedComm> comms;              // those of the trace, then the world where none of them is it
  std::uint32_t world = 0;                     // among comms

  static Result<WriterPlan> of(const Trace& trace, const Work& work);
};

}  // namespace fathom::otf2
