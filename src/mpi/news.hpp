// How far all processes are: what each tells the first one while it works.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/progress.hpp"

namespace fathom::mpi {

class News {
 public:
  void begin(unsigned rank, unsigned processes);
  // What must be over before MPI ends: the last word that was sent, null where there is none.
  MPI_Request& last_word() { return word_; }
  void end() { MPI_Comm_free(&everybody_); }

  // The sink of the first process hears it; all processes call this.
  void show(ProgressSink sink, bool threads_may_send);
  // Who reports to this reports to all; empty = nobody listens.
  ProgressSink reporter();
  // For the first process while it waits.
  void hear();

 private:
  struct Word {
    std::array<char, 48> label{};
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };
  void send_word(const ProgressReport& report);
  void heard_here(const ProgressReport& report);
  bool listen();
  void tell(bool finished);

  MPI_Comm everybody_ = MPI_COMM_NULL;
  unsigned rank_ = 0;
  bool listens_ = false;
  std::mutex mutex_;
  ProgressSink sink_;
  MPI_Request word_ = MPI_REQUEST_NULL;
  Word sent_;
  std::string label_;
  std::chrono::steady_clock::time_point started_;
  std::vector<Word> told_;  // by rank
};

}  // namespace fathom::mpi
