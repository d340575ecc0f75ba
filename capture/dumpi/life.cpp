#include "dumpi/life.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <initializer_list>

#include "dumpi/labels.hpp"
#include "dumpi/recorder.hpp"

namespace fathom::capture {

namespace {

bool started_together = false;
std::uint64_t start_seconds = 0;

void predefine() {
  g.comms.set_range(4, 32767);
  g.comms.predefine(key(MPI_COMM_NULL), 1);
  g.comms.predefine(key(MPI_COMM_WORLD), 2);
  g.comms.predefine(key(MPI_COMM_SELF), 3);
  g.groups.set_range(3, 32767);
  g.groups.predefine(key(MPI_GROUP_NULL), 1);
  g.groups.predefine(key(MPI_GROUP_EMPTY), 2);
  g.files.set_range(1, 32767);
  g.files.predefine(key(MPI_FILE_NULL), 0);
  g.infos.set_range(1, 32767);
  g.infos.predefine(key(MPI_INFO_NULL), 0);
  g.wins.set_range(1, 32767);
  g.wins.predefine(key(MPI_WIN_NULL), 0);
  g.errhandlers.set_range(2, 32767);
  g.errhandlers.predefine(key(MPI_ERRHANDLER_NULL), 1);
  g.requests.set_null(key(MPI_REQUEST_NULL));

  g.ops.set_range(15, 255);
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                        MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_OP_NULL};
  for (std::int32_t i = 0; i < 14; ++i) g.ops.predefine(key(ops[i]), i + 1);

  g.keyvals.set_range(10, 32767);
  const int keyvals[] = {MPI_TAG_UB,       MPI_HOST,   MPI_IO,       MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE,
                         MPI_LASTUSEDCODE, MPI_APPNUM, MPI_WIN_BASE, MPI_WIN_SIZE,        MPI_WIN_DISP_UNIT};
  for (std::int32_t i = 0; i < 10; ++i) g.keyvals.predefine(key(keyvals[i]), i);

  g.datatypes.set_range(28, 32767);
  g.datatypes.predefine(key(MPI_DATATYPE_NULL), 1);
  g.datatype_sizes.resize(28);
  struct Named {
    MPI_Datatype type;
    std::int32_t id;
  };
  // Where two names are one handle the later one counts.
  const Named types[] = {
      {MPI_CHAR, 2},       {MPI_SIGNED_CHAR, 3},  {MPI_UNSIGNED_CHAR, 4},  {MPI_BYTE, 5},
      {MPI_WCHAR, 6},      {MPI_SHORT, 7},        {MPI_UNSIGNED_SHORT, 8}, {MPI_INT, 9},
      {MPI_UNSIGNED, 10},  {MPI_LONG, 11},        {MPI_UNSIGNED_LONG, 12}, {MPI_FLOAT, 13},
      {MPI_DOUBLE, 14},    {MPI_LONG_DOUBLE, 15}, {MPI_LONG_LONG_INT, 16}, {MPI_UNSIGNED_LONG_LONG, 17},
      {MPI_LONG_LONG, 18}, {MPI_PACKED, 19},      {MPI_FLOAT_INT, 22},     {MPI_DOUBLE_INT, 23},
      {MPI_LONG_INT, 24},  {MPI_SHORT_INT, 25},   {MPI_2INT, 26},          {MPI_LONG_DOUBLE_INT, 27}};
  for (const Named& named : types) {
    if (named.type == MPI_DATATYPE_NULL) continue;
    g.datatypes.predefine(key(named.type), named.id);
    int size = 0;
    if (named.id != 16 && PMPI_Type_size(named.type, &size) == MPI_SUCCESS) g.datatype_sizes[named.id] = size;
  }
#ifdef MPICH_VERSION
  g.datatypes.predefine(key(MPI_LB), 20);
  g.datatypes.predefine(key(MPI_UB), 21);
#endif
}

const char* user_name() {
  const char* name = std::getenv("LOGNAME");
  return name != nullptr && *name != 0 ? name : "<none>";
}

void host_name(char* to, std::size_t size) {
  if (gethostname(to, size - 1) != 0) std::snprintf(to, size, "unknown");
  to[size - 1] = 0;
}

// Rank 0: a name that nobody has yet, and the file that describes the run. False: errno says why.
bool make_metafile(bool dated) {
  time_t now = static_cast<time_t>(start_seconds);
  tm parts = {};
  localtime_r(&now, &parts);
  char date[64] = "";
  if (dated) strftime(date, sizeof date, "-%Y.%m.%d.%H.%M.%S", &parts);
  int descriptor = -1;
  char path[kTextLength + 16];
  for (int attempt = 1; attempt < 1000; ++attempt) {
    // Processes that the program spawns begin in the same second.
    char again[16] = "";
    if (attempt > 1) std::snprintf(again, sizeof again, "-%d", attempt);
    const int length = std::snprintf(g.prefix, sizeof g.prefix, "%s%s%s", g.settings.root, date, again);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof g.prefix) {
      errno = ENAMETOOLONG;
      return false;
    }
    std::snprintf(path, sizeof path, "%s.meta", g.prefix);
    descriptor = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  if (descriptor < 0) return false;
  const char* slash = std::strrchr(g.prefix, '/');
  char host[256];
  host_name(host, sizeof host);
  char content[2 * kTextLength + 512];
  const int size = std::snprintf(content, sizeof content,
                                 "hostname=%s\nnumprocs=%d\nusername=%s\nstartime=%llu\nfileprefix=%s\nversion=13\n"
                                 "subversion=0\nsubsubversion=0\n",
                                 host, g.size, user_name(), static_cast<unsigned long long>(start_seconds),
                                 slash != nullptr ? slash + 1 : g.prefix);
  const bool good = size > 0 && ::write(descriptor, content, static_cast<std::size_t>(size)) == size;
  const int error = good ? 0 : (errno != 0 ? errno : ENOSPC);
  ::close(descriptor);
  errno = error;
  return good;
}

// Signals that end a program: what is in the buffer is written before they do.
constexpr int kSignals[] = {SIGTERM, SIGINT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGHUP, SIGQUIT};
struct sigaction before_us[NSIG];

void on_signal(int number, siginfo_t* info, void* context) {
  if (g.phase == Phase::running) {
    g.stream.flush_in_signal();
    g.added.flush_in_signal();
  }
  const struct sigaction& old = before_us[number];
  if ((old.sa_flags & SA_SIGINFO) != 0 && old.sa_sigaction != nullptr) {
    old.sa_sigaction(number, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(number);
  } else {
    sigaction(number, &old, nullptr);
    raise(number);
  }
}

void watch_signals() {
  for (const int number : kSignals) {
    if (sigaction(number, nullptr, &before_us[number]) != 0) continue;
    const bool ignored = (before_us[number].sa_flags & SA_SIGINFO) == 0 && before_us[number].sa_handler == SIG_IGN;
    if (ignored) continue;
    struct sigaction ours = {};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | (before_us[number].sa_flags & (SA_ONSTACK | SA_RESTART | SA_NODEFER));
    ours.sa_mask = before_us[number].sa_mask;
    sigaction(number, &ours, nullptr);
  }
}

void in_child() {
  // The file belongs to the parent.
  if (g.phase != Phase::running) return;
  g.phase = Phase::over;
  g.threads = false;
  g.stream.abandon();
  g.added.abandon();
}

// A program that wraps MPI itself hides its calls from us.
void warn_of_other_wrappers() {
  int hidden = 0;
  const char* first = nullptr;
  for (const Wrapped* wrapped = kWrapped; wrapped->name != nullptr; ++wrapped) {
    void* found = dlsym(RTLD_DEFAULT, wrapped->name);
    if (found == nullptr || found == wrapped->address) continue;
    if (first == nullptr) first = wrapped->name;
    ++hidden;
  }
  if (hidden > 0) {
    std::fprintf(stderr, "fathom record: the program wraps %d MPI calls itself (%s, ...); these are not recorded\n",
                 hidden, first);
  }
}

bool put_text16(Stream& stream, const char* text) {
  const std::size_t length = std::strlen(text);
  unsigned char* at = stream.room(2 + length);
  if (at == nullptr) return false;
  at = put16(at, static_cast<std::uint16_t>(length));
  std::memcpy(at, text, length);
  stream.commit(at + length);
  return true;
}

bool put_header(Stream& stream) {
  unsigned char* at = stream.room(11);
  if (at == nullptr) return false;
  at = put8(put8(put8(at, 13), 0), 0);
  stream.commit(put64(at, start_seconds));
  char host[256];
  host_name(host, sizeof host);
  if (!put_text16(stream, host) || !put_text16(stream, user_name())) return false;
  at = stream.room(8);
  if (at == nullptr) return false;
  stream.commit(put32(put32(at, 0), 0));  // no mesh
  return true;
}

bool put_footer(Stream& stream) {
  for (std::size_t i = 0; i < kFunctions; ++i) {
    g.called[kFunctions] += g.called[i];
    g.ignored[kFunctions] += g.ignored[i];
  }
  unsigned char* at = stream.room(8 + 8 * (kFunctions + 1) + 4);
  if (at == nullptr) return false;
  at = put64(at, 0xF007FEE7);
  for (const std::uint32_t n : g.called) at = put32(at, n);
  for (const std::uint32_t n : g.ignored) at = put32(at, n);
  stream.commit(put32(at, 0));  // no keyvals
  return true;
}

bool put_counters(Stream& stream) {
  unsigned char* at = stream.room(4);
  if (at == nullptr) return false;
  stream.commit(put32(at, counters::number()));
  for (unsigned i = 0; i < counters::number(); ++i) {
    if (!put_text16(stream, counters::name(i))) return false;
  }
  return true;
}

bool put_sizes(Stream& stream) {
  const std::size_t count = g.datatype_sizes.size();
  unsigned char* at = stream.room(4 + 4 * count);
  if (at == nullptr) return false;
  at = put32(at, static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) at = put32(at, static_cast<std::uint32_t>(g.datatype_sizes[i]));
  stream.commit(at);
  return true;
}

constexpr std::uint64_t kMagic = 0xFFAADD44554D5049ULL;

bool put_rest(Stream& stream) {
  unsigned char* at = stream.room(2);
  if (at == nullptr) return false;
  stream.commit(put16(at, kEndOfStream));
  const std::uint64_t header = stream.position();
  if (!put_header(stream)) return false;
  const std::uint64_t footer = stream.position();
  if (!put_footer(stream)) return false;
  const std::uint64_t names = stream.position();
  if (!put_counters(stream)) return false;
  const std::uint64_t sizes = stream.position();
  if (!put_sizes(stream)) return false;
  const std::uint64_t addresses = stream.position();
  if (!labels::write(stream)) return false;
  at = stream.room(64);
  if (at == nullptr) return false;
  for (const std::uint64_t entry :
       {kMagic, sizes, addresses, names, header, std::uint64_t{8}, footer, std::uint64_t{0}}) {
    at = put64(at, entry);
  }
  stream.commit(at);
  return stream.flush();
}

// The names of calls that the format has no place for, in a file beside the trace.
void write_unrecorded(const std::uint64_t* counts, const char* path, bool speak) {
  std::uint64_t total = 0;
  std::size_t kinds = 0;
  for (std::size_t i = 0; i < kUnrecorded; ++i) {
    total += counts[i];
    kinds += counts[i] != 0;
  }
  if (total == 0) return;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "# calls that a DUMPI trace has no place for\n");
  for (std::size_t i = 0; i < kUnrecorded; ++i) {
    if (counts[i] != 0) {
      std::fprintf(file, "%s %llu\n", kUnrecordedNames[i], static_cast<unsigned long long>(counts[i]));
    }
  }
  std::fclose(file);
  if (speak && !g.settings.added_calls) {
    std::fprintf(stderr, "fathom record: %llu calls of %zu functions have no place in a DUMPI trace: see %s\n",
                 static_cast<unsigned long long>(total), kinds, path);
  }
}

// The file of calls without a place: when MPI_Init began, the names that its records count, then the records.
void open_added(const Moment& begin) {
  char path[kTextLength + 32];
  std::snprintf(path, sizeof path, "%s-%04d.calls", g.prefix, g.rank);
  constexpr std::size_t kBuffer = std::size_t{1} << 18;
  if (!g.added.open(path, kBuffer)) {
    std::fprintf(stderr, "fathom record: %s: %s\n", path, std::strerror(g.added.error()));
    return;
  }
  unsigned char* at = g.added.room(18);
  if (at == nullptr) return g.added.close();
  std::memcpy(at, "FATHOMC1", 8);
  at = put64(at + 8, static_cast<std::uint64_t>(begin.wall.tv_sec) * 1'000'000'000U +
                         static_cast<std::uint64_t>(begin.wall.tv_nsec));
  g.added.commit(put16(at, static_cast<std::uint16_t>(kUnrecorded)));
  for (std::size_t i = 0; i < kUnrecorded; ++i) {
    if (!put_text16(g.added, kUnrecordedNames[i])) return g.added.close();
  }
}

// Calls of our own at the beginning and end are not the program's.
class Inside {
 public:
  Inside() : before_(t.inside) { t.inside = true; }
  ~Inside() { t.inside = before_; }

 private:
  bool before_;
};

// The library ends with the program: one that leaves without MPI_Finalize has a whole trace, too.
__attribute__((destructor)) void at_exit() {
  if (g.phase != Phase::running) return;
  char path[kTextLength + 32];
  std::snprintf(path, sizeof path, "%s-%04d.unrecorded", g.prefix, g.rank);
  write_unrecorded(unrecorded_counts, path, false);
  finish();
}

}  // namespace

Moment Moment::now() {
  Moment moment;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment.cpu);
  clock_gettime(CLOCK_MONOTONIC, &moment.wall);
  return moment;
}

void start(const Moment& begin, bool together, int thread_level) {
  if (g.phase != Phase::before) return;
  const Inside inside;
#ifdef OPEN_MPI
  if (MPI_COMM_WORLD == nullptr) {
    // Found too late: what handles mean was settled when we were loaded.
    g.phase = Phase::over;
    std::fprintf(stderr, "fathom record: not recorded: put libmpi.so into LD_PRELOAD, too\n");
    return;
  }
#endif
  PMPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &g.size);
  g.settings.read(g.rank == 0);
  start_seconds = static_cast<std::uint64_t>(time(nullptr));
  started_together = together;

  struct Name {
    std::uint64_t seconds;
    int error;
    char prefix[kTextLength];
  } name = {};
  if (g.rank == 0 || !together) {
    if (g.rank == 0) {
      name.error = make_metafile(together) ? 0 : errno;
    } else {
      std::snprintf(g.prefix, sizeof g.prefix, "%s", g.settings.root);
    }
    name.seconds = start_seconds;
    std::memcpy(name.prefix, g.prefix, sizeof g.prefix);
  }
  if (together) PMPI_Bcast(&name, sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
  std::memcpy(g.prefix, name.prefix, sizeof g.prefix);
  start_seconds = name.seconds;

  char path[kTextLength + 32];
  std::snprintf(path, sizeof path, "%s-%04d.bin", g.prefix, g.rank);
  int error = name.error;
  if (error == 0 && !g.stream.open(path, g.settings.buffer_bytes)) error = g.stream.error();
  int lowest = error != 0 ? g.rank : INT_MAX;
  if (together) {
    const int mine = lowest;
    PMPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  if (error != 0) {
    g.phase = Phase::over;
    g.stream.close();
    if (g.rank == lowest) {
      std::fprintf(stderr, "fathom record: %s: %s; the program runs without being recorded\n",
                   name.error != 0 ? g.prefix : path, std::strerror(error));
    }
  } else {
    predefine();
    counters::start(g.settings, g.rank == 0);
    g.mask = static_cast<std::uint8_t>(0x40 | g.settings.statuses | (g.settings.cpu_time ? 0x04 : 0) |
                                       (g.settings.wall_time ? 0x08 : 0) | (counters::number() > 0 ? 0x80 : 0));
    g.head_bytes = 29 + 1 + 16 * std::size_t{counters::number()};
    g.wall_bias = static_cast<std::int32_t>(begin.wall.tv_sec);
    g.cpu_bias = static_cast<std::int32_t>(begin.cpu.tv_sec);
    g.next_flush_s = begin.wall.tv_sec + g.settings.flush_seconds;
    if (!t.numbered) number_this_thread();
    if (unsigned char* at = g.stream.room(16)) {
      at = put64(at, kMagic);
      at = put32(at, static_cast<std::uint32_t>(g.cpu_bias));
      g.stream.commit(put32(at, static_cast<std::uint32_t>(g.wall_bias)));
    }
    if (g.settings.added_calls) open_added(begin);
    g.threads = thread_level == MPI_THREAD_MULTIPLE;
    if (g.settings.handle_signals) watch_signals();
    pthread_atfork(nullptr, nullptr, in_child);
    if (g.rank == 0) warn_of_other_wrappers();
    g.phase = Phase::running;
  }
  // All clocks of a run meet here: the end of MPI_Init is the same moment everywhere.
  if (together) PMPI_Barrier(MPI_COMM_WORLD);
}

void find_library() {
  if (PMPI_Initialized != nullptr) return;
#ifdef OPEN_MPI
  const char* const names[] = {"libmpi.so.40", "libmpi.so.80", "libmpi.so.20", "libmpi.so"};
#else
  const char* const names[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"};
#endif
  for (const char* name : names) {
    if (dlopen(name, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD) != nullptr) return;
  }
}

bool start_late() {
  int initialized = 0;
  int finalized = 0;
  find_library();
  if (t.inside) return false;
  if (PMPI_Initialized(&initialized) != MPI_SUCCESS || initialized == 0) return false;
  if (PMPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return false;
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  start(Moment::now(), false, level);
  return g.phase == Phase::running;
}

void before_end() {
  if (!started_together) {
    if (g.phase == Phase::running) {
      char path[kTextLength + 32];
      std::snprintf(path, sizeof path, "%s-%04d.unrecorded", g.prefix, g.rank);
      write_unrecorded(unrecorded_counts, path, g.rank == 0);
    }
    return;
  }
  const Inside inside;
  Array<std::uint64_t> total;
  const bool room = total.resize(kUnrecorded + 1);
  int all = room ? 1 : 0;
  const int mine = all;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == 0) return;
  PMPI_Reduce(unrecorded_counts, total.data(), static_cast<int>(kUnrecorded), MPI_UNSIGNED_LONG, MPI_SUM, 0,
              MPI_COMM_WORLD);
  if (g.rank == 0) {
    char path[kTextLength + 32];
    std::snprintf(path, sizeof path, "%s.unrecorded", g.prefix);
    write_unrecorded(total.data(), path, true);
  }
  total.release();
}

void finish() {
  Lock lock;
  if (g.phase != Phase::running) return;
  if (!put_rest(g.stream)) {
    stop_recording();
    return;
  }
  g.phase = Phase::over;
  g.stream.close();
  if (g.added.is_open()) g.added.flush();
  g.added.close();
  if (g.settings.messages) std::fprintf(stderr, "fathom record: %s-%04d.bin is complete\n", g.prefix, g.rank);
}

}  // namespace fathom::capture
