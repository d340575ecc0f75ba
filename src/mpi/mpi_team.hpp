// The team of processes over MPI. This folder is all that knows MPI.
#pragma once

#include <memory>
#include <string>

#include "base/execution.hpp"
#include "base/team.hpp"

namespace fathom::mpi {

// How the processes of a team spent their time: for --timing.
struct Account {
  double wall_seconds = 0;
  double cpu_seconds = 0;
  double shared_seconds = 0;      // in work that was split
  double shared_cpu_seconds = 0;  // likewise
  double waiting_seconds = 0;     // for the others
  std::uint64_t shared_weight = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t steps = 0;  // calls in which all took part
  std::uint64_t files_opened = 0;
};

class MpiTeam : public Team {
 public:
  // MPI must be initialised; this does it, and ends it in its destructor.
  static std::shared_ptr<MpiTeam> start(int* count, char*** arguments);

  // All processes' accounts at the first one.
  virtual std::vector<Account> accounts() = 0;
  // What the first process shows, where it shows anything: told to all before the command begins.
  virtual void show_progress(ProgressSink sink) = 0;
};

}  // namespace fathom::mpi
