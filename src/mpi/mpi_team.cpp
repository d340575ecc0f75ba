#include "mpi/mpi_team.hpp"

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/pack.hpp"
#include "io/opened_files.hpp"
#include "mpi/news.hpp"

namespace fathom::mpi {

namespace {

using Clock = std::chrono::steady_clock;

// MPI counts in int; more goes in several messages.
constexpr std::uint64_t kMostPerMessage = std::uint64_t{1} << 29;
constexpr int kDataTag = 1;
constexpr int kAskTag = 3;
constexpr std::uint64_t kNoMore = ~std::uint64_t{0};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What a process is about to do, as all others must see it before anything is exchanged.
enum class State : std::uint8_t { goes_on, finished, failed };

class Processes final : public MpiTeam {
 public:
  Processes(int* count, char*** arguments) : start_(Clock::now()) {
    int provided = 0;
    MPI_Init_thread(count, arguments, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &everybody_);
    int size = 1;
    int rank = 0;
    MPI_Comm_size(everybody_, &size);
    MPI_Comm_rank(everybody_, &rank);
    size_ = all_ = static_cast<unsigned>(size);
    rank_ = static_cast<unsigned>(rank);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(everybody_, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    int here = 1;
    MPI_Comm_size(machine, &here);
    on_this_machine_ = static_cast<unsigned>(here);
    MPI_Comm_free(&machine);
    news_.begin(rank_, size_);
    threads_may_send_ = provided >= MPI_THREAD_SERIALIZED;
  }

  ~Processes() override {
    // Those who are done wait here without using the processor until the first one is.
    if (news_.last_word() != MPI_REQUEST_NULL) wait_for(news_.last_word());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(everybody_, &request);
    wait_for(request);
    news_.end();
    MPI_Comm_free(&everybody_);
    MPI_Finalize();
  }

  Result<void> assemble(std::string_view label) override { return agree(State::goes_on, label); }

  Result<std::vector<Parcel>> gather(Parcel own) override {
    FATHOM_CHECK(agree(State::goes_on, "gather"));
    if (alone()) return Team::gather(std::move(own));
    const std::vector<std::uint64_t> sizes = sizes_of_all(own.size());
    std::vector<Parcel> all;
    if (!first()) {
      send(own, 0);
      return all;
    }
    all.resize(size_);
    all[0] = std::move(own);
    for (unsigned i = 1; i < size_; ++i) receive(all[i], sizes[i], i);
    return all;
  }

  Result<std::vector<Parcel>> gather_all(Parcel own) override {
    FATHOM_CHECK(agree(State::goes_on, "gather all"));
    if (alone()) return Team::gather_all(std::move(own));
    const std::vector<std::uint64_t> sizes = sizes_of_all(own.size());
    account_.bytes_sent += own.size() * (size_ - 1);
    std::vector<Parcel> all(size_);
    for (unsigned i = 0; i < size_; ++i) {
      if (i == rank_) {
        all[i] = std::move(own);
      } else {
        all[i].resize(sizes[i]);
      }
      spread(all[i], i);
    }
    return all;
  }

  Result<Parcel> broadcast(Parcel of_first) override {
    FATHOM_CHECK(agree(State::goes_on, "broadcast"));
    if (alone()) return of_first;
    return broadcast_from(std::move(of_first), 0);
  }

  Result<std::vector<Parcel>> exchange(std::vector<Parcel> runs) override {
    runs.resize(size_);
    FATHOM_CHECK(agree(State::goes_on, "exchange"));
    if (alone()) {
      runs.resize(1);
      return runs;
    }
    std::vector<std::uint64_t> to(size_);
    std::vector<std::uint64_t> from(size_);
    for (unsigned i = 0; i < size_; ++i) to[i] = runs[i].size();
    MPI_Alltoall(to.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, everybody_);
    std::vector<Parcel> got(size_);
    got[rank_] = std::move(runs[rank_]);
    // In rounds of pairs: what is on its way is bounded, and nobody is everybody's target at once.
    for (unsigned step = 1; step < size_; ++step) {
      const unsigned target = (rank_ + step) % size_;
      const unsigned source = (rank_ + size_ - step) % size_;
      got[source].resize(from[source]);
      swap_runs(runs[target], target, got[source], source);
      runs[target] = {};
    }
    return got;
  }

  Result<void> relay(const std::function<Result<bool>(Parcel&)>& next,
                     const std::function<bool(const Parcel&)>& take) override {
    FATHOM_CHECK(agree(State::goes_on, "relay"));
    if (alone()) return Team::relay(next, take);
    Parcel parcel;
    if (!first()) {
      // As often as the first one asks.
      while (true) {
        std::uint64_t wanted = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&wanted, 1, MPI_UINT64_T, 0, kAskTag, everybody_, &request);
        wait_for(request);
        if (wanted == 0) break;
        auto more = next(parcel);
        std::uint64_t size = !more.ok() || !*more ? kNoMore : parcel.size();
        MPI_Send(&size, 1, MPI_UINT64_T, 0, kDataTag, everybody_);
        if (!more.ok()) return std::move(more).error();
        if (!*more) break;
        send(parcel, 0);
      }
      return agree(State::goes_on, "relay end");
    }
    bool enough = false;
    Result<void> own;
    while (own.ok() && !enough) {
      auto more = next(parcel);
      if (!more.ok()) own = std::move(more).error();
      if (!own.ok() || !*more) break;
      enough = !take(parcel);
    }
    for (unsigned i = 1; i < size_; ++i) {
      while (true) {
        const std::uint64_t wanted = enough || !own.ok() ? 0 : 1;
        MPI_Send(&wanted, 1, MPI_UINT64_T, static_cast<int>(i), kAskTag, everybody_);
        if (wanted == 0) break;
        std::uint64_t size = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&size, 1, MPI_UINT64_T, static_cast<int>(i), kDataTag, everybody_, &request);
        wait_for(request);
        if (size == kNoMore) break;
        receive(parcel, size, i);
        enough = !take(parcel);
      }
    }
    FATHOM_CHECK(std::move(own));
    return agree(State::goes_on, "relay end");
  }

  Result<std::vector<std::int64_t>> sum(std::vector<std::int64_t> values) override {
    FATHOM_CHECK(agree(State::goes_on, "sum"));
    if (alone() || values.empty()) return values;
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, everybody_);
    account_.bytes_sent += values.size() * sizeof values[0];
    return values;
  }

  std::optional<Error> conclude(const Error* error) override {
    const bool failed = error != nullptr && !is_elsewhere(*error);
    if (failed) mine_ = *error;
    if (over_) {
      if (failure_) return failure_;
      if (failed) return mine_;
      return std::nullopt;
    }
    if (auto agreed = agree(failed ? State::failed : State::finished, "end"); !agreed) {
      if (!is_elsewhere(agreed.error())) return std::move(agreed).error();
    }
    over_ = true;
    if (failed) return mine_;
    return std::nullopt;
  }

  void worked(double seconds, double cpu_seconds, std::uint64_t weight) override {
    account_.shared_seconds += seconds;
    account_.shared_cpu_seconds += cpu_seconds;
    account_.shared_weight += weight;
  }

  std::vector<Account> accounts() override {
    account_.wall_seconds = seconds_since(start_);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    account_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    account_.files_opened = opened_files();
    std::vector<Account> all(rank_ == 0 ? all_ : 0);
    static_assert(std::is_trivially_copyable_v<Account>);
    MPI_Gather(&account_, sizeof account_, MPI_BYTE, all.data(), sizeof account_, MPI_BYTE, 0, everybody_);
    return all;
  }

  void show_progress(ProgressSink sink) override { news_.show(std::move(sink), threads_may_send_); }
  ProgressSink progress(ProgressSink) override { return news_.reporter(); }

 private:
  // --- what everybody must know before they exchange anything ---

  // All processes meet here, whatever they are about to do: with work, at their end, or with an error. So a process
  // that fails leaves nobody waiting for it.
  Result<void> agree(State state, std::string_view label) {
    if (over_) return failure_ ? *failure_ : elsewhere();
    if (alone()) return {};
    ++account_.steps;
    // Equal labels have equal codes; the square tells unequal ones apart after summing.
    std::int64_t code = 7;
    for (const char c : label) code = (code * 31 + static_cast<unsigned char>(c)) % 10007;
    const bool finished = state == State::finished;
    if (state != State::goes_on) code = 0;
    std::array<std::int64_t, 6> all = {state == State::failed ? 1 : 0,
                                       finished ? 1 : 0,
                                       finished && first() ? 1 : 0,
                                       state == State::goes_on ? 1 : 0,
                                       code,
                                       code * code};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, everybody_, &request);
    wait_for(request);
    const auto [failing, finishing, first_finishes, going_on, codes, squares] = all;
    if (failing > 0) return share_failure(state == State::failed);
    if (finishing == static_cast<std::int64_t>(size_) || first_finishes == 1) {
      over_ = true;
      return elsewhere();
    }
    if (finishing == static_cast<std::int64_t>(size_) - 1) {
      // The others have done their part.
      if (finished) {
        over_ = true;
        return elsewhere();
      }
      size_ = 1;
      return {};
    }
    if (finishing > 0 || going_on * squares != codes * codes) {
      over_ = true;
      failure_ = Error("the processes of the team do not agree on what comes next (at '" + std::string(label) + "')")
                     .hint("this is a fault of the program; 'fathom' does the same with one process");
      return *failure_;
    }
    return {};
  }

  Error share_failure(bool mine) {
    over_ = true;
    int lowest = mine ? static_cast<int>(rank_) : static_cast<int>(size_);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, everybody_);
    const Parcel bytes = broadcast_from(packed(mine_), lowest);
    Unpacker unpacker(bytes);
    unpacker(failure_.emplace());
    return *failure_;
  }

  // Sleeps more the longer it takes: whoever waits leaves the cores to those who work.
  void wait_for(MPI_Request& request) {
    const auto begin = Clock::now();
    int done = 0;
    for (unsigned tries = 0; done == 0; ++tries) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) break;
      if (tries < 64) {
        std::this_thread::yield();
      } else {
        news_.hear();
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(50U * (tries - 63), 2000U)));
      }
    }
    account_.waiting_seconds += seconds_since(begin);
  }

  // --- bytes ---

  std::vector<std::uint64_t> sizes_of_all(std::uint64_t own) {
    std::vector<std::uint64_t> sizes(size_);
    MPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, everybody_);
    return sizes;
  }

  void send(const Parcel& bytes, unsigned to) {
    for (std::uint64_t at = 0; at < bytes.size(); at += kMostPerMessage) {
      const std::uint64_t part = std::min<std::uint64_t>(kMostPerMessage, bytes.size() - at);
      MPI_Send(bytes.data() + at, static_cast<int>(part), MPI_BYTE, static_cast<int>(to), kDataTag, everybody_);
    }
    account_.bytes_sent += bytes.size();
  }

  void receive(Parcel& bytes, std::uint64_t size, unsigned from) {
    bytes.resize(size);
    for (std::uint64_t at = 0; at < size; at += kMostPerMessage) {
      const std::uint64_t part = std::min<std::uint64_t>(kMostPerMessage, size - at);
      MPI_Recv(bytes.data() + at, static_cast<int>(part), MPI_BYTE, static_cast<int>(from), kDataTag, everybody_,
               MPI_STATUS_IGNORE);
    }
  }

  // One process's bytes to all; everybody knows how many.
  void spread(Parcel& bytes, unsigned from) {
    for (std::uint64_t at = 0; at < bytes.size(); at += kMostPerMessage) {
      const std::uint64_t part = std::min<std::uint64_t>(kMostPerMessage, bytes.size() - at);
      MPI_Bcast(bytes.data() + at, static_cast<int>(part), MPI_BYTE, static_cast<int>(from), everybody_);
    }
  }

  Parcel broadcast_from(Parcel bytes, int from) {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, from, everybody_);
    if (static_cast<int>(rank_) == from) account_.bytes_sent += size * (all_ - 1);
    bytes.resize(size);
    spread(bytes, static_cast<unsigned>(from));
    return bytes;
  }

  void swap_runs(const Parcel& to, unsigned target, Parcel& from, unsigned source) {
    std::vector<MPI_Request> requests;
    for (std::uint64_t at = 0; at < from.size(); at += kMostPerMessage) {
      const std::uint64_t part = std::min<std::uint64_t>(kMostPerMessage, from.size() - at);
      MPI_Irecv(from.data() + at, static_cast<int>(part), MPI_BYTE, static_cast<int>(source), kDataTag, everybody_,
                &requests.emplace_back());
    }
    for (std::uint64_t at = 0; at < to.size(); at += kMostPerMessage) {
      const std::uint64_t part = std::min<std::uint64_t>(kMostPerMessage, to.size() - at);
      MPI_Isend(to.data() + at, static_cast<int>(part), MPI_BYTE, static_cast<int>(target), kDataTag, everybody_,
                &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    account_.bytes_sent += to.size();
  }

  Clock::time_point start_;
  MPI_Comm everybody_ = MPI_COMM_NULL;
  unsigned all_ = 1;  // that were started
  bool over_ = false;
  Error mine_;
  std::optional<Error> failure_;
  Account account_;
  bool threads_may_send_ = false;
  News news_;
};

}  // namespace

std::shared_ptr<MpiTeam> MpiTeam::start(int* count, char*** arguments) {
  return std::make_shared<Processes>(count, arguments);
}

}  // namespace fathom::mpi
