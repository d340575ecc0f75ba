#include "dumpi/recorder.hpp"

#include <cstdio>

namespace fathom::capture {

State g;
thread_local Thread t __attribute__((tls_model("initial-exec")));

namespace {

pthread_key_t at_thread_end;
pthread_once_t once = PTHREAD_ONCE_INIT;

void free_thread(void* thread) {
  auto& mine = *static_cast<Thread*>(thread);
  mine.ids.release();
  mine.keys.release();
  mine.integers.release();
  mine.statuses.release();
  mine.fortran_statuses.release();
}
void make_key() { pthread_key_create(&at_thread_end, free_thread); }

// Room in one of the thread's arrays; freed when the thread ends.
template <class T>
T* room(Array<T>& array, std::size_t count) {
  if (count > array.size()) {
    pthread_once(&once, make_key);
    pthread_setspecific(at_thread_end, &t);
    if (!array.resize(count)) return nullptr;
  }
  return array.data();
}

}  // namespace

void number_this_thread() {
  t.number = g.next_thread++;
  t.numbered = true;
}

void stop_recording() {
  if (g.phase != Phase::running) return;
  g.phase = Phase::over;
  const int error = g.stream.error();
  g.stream.close();
  g.added.close();
  std::fprintf(stderr, "fathom record: rank %d: %s-%04d.bin: %s; recording ends here, the program goes on\n", g.rank,
               g.prefix, g.rank, error != 0 ? std::strerror(error) : "out of memory");
}

void Record::flush_now(std::int64_t now_s) {
  if (g.settings.flush_seconds == 0) {
    g.next_flush_s = INT64_MAX;
    return;
  }
  g.next_flush_s = now_s + g.settings.flush_seconds;
  if (!g.stream.flush()) stop_recording();
}

void Record::strs(char* const* list) {
  std::int32_t count = 0;
  while (list != nullptr && list[count] != nullptr) ++count;
  i32(count);
  for (std::int32_t i = 0; i < count; ++i) str(text(list[i]));
}

void Record::status(const MPI_Status* statuses, int count, bool errors) {
  i32(count);
  for (int i = 0; i < count; ++i) {
    int bytes = 0;
    int cancelled = 0;
    if (PMPI_Get_count(&statuses[i], MPI_BYTE, &bytes) != MPI_SUCCESS) bytes = 0;
    PMPI_Test_cancelled(&statuses[i], &cancelled);
    i32(bytes);
    i32(native::rank(statuses[i].MPI_SOURCE));
    u8(cancelled != 0 ? 1 : 0);
    // Only calls that fail in some of their operations set it.
    u8(errors ? static_cast<std::uint8_t>(statuses[i].MPI_ERROR) : 0);
    i32(native::tag(statuses[i].MPI_TAG));
  }
}

std::int32_t new_datatype(MPI_Datatype datatype, std::int32_t id) {
  g.datatypes.clear_new();
  int size = 0;
  if (id <= 0 || PMPI_Type_size(datatype, &size) != MPI_SUCCESS) return id;
  const auto index = static_cast<std::size_t>(id);
  if (index >= g.datatype_sizes.size() && !g.datatype_sizes.resize(index + 1)) return id;
  g.datatype_sizes[index] = size;
  return id;
}

Text fortran_text(const char* data, std::size_t length) {
  if (data == nullptr) return {};
  while (length > 0 && (data[length - 1] == ' ' || data[length - 1] == 0)) --length;
  return {data, length};
}

bool requests_before(std::size_t count) {
  return room(t.ids, count + 1) != nullptr && room(t.keys, count + 1) != nullptr;
}

void one_request_before(std::uint64_t handle) {
  if (!requests_before(1)) return;
  Lock lock;
  g.requests.begin_list();
  t.keys[0] = handle;
  t.ids[0] = g.requests.waited_for(handle);
}

void request_after(std::size_t index, std::uint64_t handle) {
  if (index >= t.ids.size() || t.ids[index] <= RequestTable::kNull) return;
  if (g.requests.is_null(handle)) {
    g.requests.over(t.keys[index], t.ids[index]);
  } else {
    g.requests.still_there(t.ids[index]);
  }
}

MPI_Status* own_statuses(std::size_t count) { return room(t.statuses, count + 1); }

MPI_Fint* own_fortran_statuses(std::size_t count) {
  return room(t.fortran_statuses, (count + 1) * (sizeof(MPI_Status) / sizeof(MPI_Fint) + 1));
}

const MPI_Status* converted(const MPI_Fint* statuses, std::size_t count) {
  MPI_Status* const out = own_statuses(count);
#ifdef OPEN_MPI
  constexpr std::size_t kEach = sizeof(MPI_Status) / sizeof(MPI_Fint);
#else
  constexpr std::size_t kEach = MPI_F_STATUS_SIZE;
#endif
  for (std::size_t i = 0; out != nullptr && i < count; ++i) PMPI_Status_f2c(statuses + i * kEach, &out[i]);
  return out;
}

int* own_integers(std::size_t count) { return room(t.integers, count + 1); }

int rank_in(MPI_Comm comm) {
  int rank = 0;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS ? rank : 0;
}

int rank_beside_root(MPI_Comm comm, int root) {
  const int rank = rank_in(comm);
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter == 0) return rank;
  // The root says so itself and belongs to the other group; who has its rank here is somebody else.
  if (root == MPI_ROOT) return root;
  return rank == root ? -1 : rank;
}

int members(MPI_Comm comm) {
  int inter = 0;
  int size = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  const int code = inter != 0 ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return code == MPI_SUCCESS ? size : 0;
}

int cartesian_dimensions(MPI_Comm comm) {
  int count = 0;
  return PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS ? count : 0;
}

Envelope envelope(MPI_Datatype datatype) {
  Envelope answer;
  int combiner = 0;
  if (PMPI_Type_get_envelope(datatype, &answer.integers, &answer.addresses, &answer.datatypes, &combiner) !=
      MPI_SUCCESS) {
    return {};
  }
  return answer;
}

Unrecorded::Unrecorded(std::uint16_t which) {
  if (g.phase == Phase::before) find_library();
  if (g.phase != Phase::running || t.inside) return;
  outermost_ = t.inside = true;
  __atomic_fetch_add(&unrecorded_counts[which], 1, __ATOMIC_RELAXED);
  which_ = which;
  if (g.added.is_open()) clock_gettime(CLOCK_MONOTONIC, &start_);
}

void Unrecorded::write() {
  timespec stop;
  clock_gettime(CLOCK_MONOTONIC, &stop);
  if (!g.profiling) return;
  const auto ns = [](const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
  };
  Lock lock;
  if (g.phase != Phase::running) return;
  if (!t.numbered) number_this_thread();
  unsigned char* at = g.added.room(20);
  if (at == nullptr) {
    std::fprintf(stderr, "fathom record: rank %d: %s-%04d.calls: %s; calls without a place in a DUMPI trace are lost\n",
                 g.rank, g.prefix, g.rank, std::strerror(g.added.error()));
    g.added.close();
    return;
  }
  at = put16(put16(at, which_), t.number);
  g.added.commit(put64(put64(at, ns(start_)), ns(stop)));
}

}  // namespace fathom::capture
