#include "mpi/news.hpp"

#include <algorithm>

namespace fathom::mpi {

namespace {
constexpr int kProgressTag = 2;
}

void News::begin(unsigned rank, unsigned processes) {
  MPI_Comm_dup(MPI_COMM_WORLD, &everybody_);
  rank_ = rank;
  told_.resize(processes);
}

void News::show(ProgressSink sink, bool threads_may_send) {
  int listens = sink && threads_may_send ? 1 : 0;
  MPI_Bcast(&listens, 1, MPI_INT, 0, everybody_);
  listens_ = listens == 1;
  sink_ = std::move(sink);
}

ProgressSink News::reporter() {
  if (!listens_) return {};
  if (rank_ == 0) return [this](const ProgressReport& report) { heard_here(report); };
  return [this](const ProgressReport& report) { send_word(report); };
}

// MT: one at a time; the thread that runs the command is then in the same loop, not in MPI.
void News::send_word(const ProgressReport& report) {
  const std::scoped_lock lock(mutex_);
  int done = 1;
  if (word_ != MPI_REQUEST_NULL) MPI_Test(&word_, &done, MPI_STATUS_IGNORE);
  if (done == 0) return;  // the first one has not yet heard what was said before
  sent_ = {};
  std::copy_n(report.label.begin(), std::min(report.label.size(), sent_.label.size() - 1), sent_.label.begin());
  sent_.done = report.done;
  sent_.total = report.total;
  MPI_Isend(&sent_, sizeof sent_, MPI_BYTE, 0, kProgressTag, everybody_, &word_);
}

void News::heard_here(const ProgressReport& report) {
  const std::scoped_lock lock(mutex_);
  label_ = std::string(report.label);
  started_ = std::chrono::steady_clock::now() - std::chrono::milliseconds(report.elapsed_ms);
  Word own;
  own.done = report.done;
  own.total = report.total;
  told_[0] = own;
  listen();
  tell(report.finished);
}

void News::hear() {
  if (rank_ != 0 || !sink_ || told_.size() == 1) return;
  const std::scoped_lock lock(mutex_);
  if (listen() && !label_.empty()) tell(false);
}

bool News::listen() {
  bool any = false;
  while (true) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kProgressTag, everybody_, &there, &status);
    if (there == 0) return any;
    Word word;
    MPI_Recv(&word, sizeof word, MPI_BYTE, status.MPI_SOURCE, kProgressTag, everybody_, MPI_STATUS_IGNORE);
    // Word of another piece of work comes too late or too early.
    if (label_ != word.label.data()) continue;
    told_[static_cast<std::size_t>(status.MPI_SOURCE)] = word;
    any = true;
  }
}

void News::tell(bool finished) {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  for (const Word& word : told_) {
    done += word.done;
    // Who has said nothing yet has about as much to do as this process.
    total += word.total > 0 ? word.total : told_[0].total;
  }
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started_).count();
  sink_({label_, std::min(done, total), std::max<std::uint64_t>(total, 1), elapsed, finished});
  if (finished) {
    label_.clear();
    told_.assign(told_.size(), Word{});
  }
}

}  // namespace fathom::mpi
