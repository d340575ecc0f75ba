// Where two locations last had something in common before one of them waits for the other: what each did since then is
// compared to find out who caused the wait.
#pragma once

#include "trace/analysis/waits.hpp"

namespace fathom::analysis {

// Goes with the calls of one location, the victim's. MT: externally synchronised.
class CommonPoints {
 public:
  CommonPoints(const RunCalls& run, const std::vector<GroupInstances>& instances, std::uint32_t location);

  // What the location has done; told after the call's own wait was set.
  void received(const Receive& half);
  void sent(const SendDone& done);
  void took_part(const Part& part);

  // Sets where the comparison begins.
  void set(Wait& wait) const;

 private:
  // Calls on both sides.
  struct Pair {
    std::uint32_t own = kNone;
    std::uint32_t other = kNone;
    bool from_entry = false;  // of the call behind `other`, as in Wait
  };
  struct LastTwo {
    Pair last, before;
    void add(Pair pair) {
      if (last.own != pair.own) before = last;
      last = pair;
    }
  };
  struct Seen {
    std::uint32_t group;
    std::uint32_t instance;
    std::uint32_t call;
  };
  static void remember(std::vector<Seen>& list, const Part& part);
  void consider(Pair pair, const Wait& wait, Pair& best) const;
  void consider(const std::vector<Seen>& list, const Wait& wait, Pair& best) const;

  const RunCalls& run_;
  const std::vector<GroupInstances>& instances_;
  const LocationCalls& here_;
  std::uint32_t location_;
  // By the other's location.
  std::vector<LastTwo> from_;
  std::vector<LastTwo> to_;
  std::vector<Pair> roots_;
  // The last one of each group, the latest first.
  std::vector<Seen> symmetric_;
  std::vector<Seen> to_root_;  // with this location as the root
  std::vector<Seen> scans_;
};

}  // namespace fathom::analysis
