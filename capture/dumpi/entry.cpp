// The calls that begin, end and steer a recording; all others are generated.
#include <cstdarg>

#include "dumpi/labels.hpp"
#include "dumpi/life.hpp"
#include "dumpi/recorder.hpp"

namespace fathom::capture {

struct Life {
  static void set_start(Call& call, const Moment& begin) {
    call.cpu_start_ = begin.cpu;
    call.wall_start_ = begin.wall;
  }
};

namespace {

// MPI_Init and MPI_Init_thread, after the library's own.
template <class Arguments>
void started(std::uint16_t id, const Moment& begin, int level, std::size_t bytes, Arguments&& arguments) {
  start(begin, true, level);
  Call call(id);
  if (!call.recording()) return;
  call.begin();
  Life::set_start(call, begin);
  call.end();
  Record out(call, bytes);
  if (!out) return;
  arguments(out);
  out.close();
}

struct Words {
  int count = 0;
  char** words = nullptr;
  Words(int* argc, char*** argv) {
    if (argc == nullptr || argv == nullptr || *argv == nullptr) return;
    words = *argv;
    while (count < *argc && words[count] != nullptr) ++count;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 4;
    for (int i = 0; i < count; ++i) sum += 4 + std::strlen(words[i]);
    return sum;
  }
  void put(Record& out) const {
    out.i32(count);
    for (int i = 0; i < count; ++i) out.str(text(words[i]));
  }
};

void record_init(const Moment& begin, const Words& words) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  started(124, begin, level, words.bytes(), [&](Record& out) { words.put(out); });
}

void record_init_thread(const Moment& begin, const Words& words, int required, int provided) {
  started(171, begin, provided, words.bytes() + 2, [&](Record& out) {
    words.put(out);
    out.u8(native::threadlevel(required));
    out.u8(native::threadlevel(provided));
  });
}

template <class Finalize>
int record_finalize(Finalize&& finalize) {
  if (g.phase == Phase::before) return finalize();
  before_end();
  int code = MPI_SUCCESS;
  {
    Call call(125);
    {
      // It may never come back.
      Lock lock;
      if (g.phase == Phase::running) g.stream.flush();
    }
    call.begin();
    code = finalize();
    call.end();
    if (call.keep(code) && g.phase == Phase::running) {
      Record out(call, 0);
      if (out) out.close();
    }
  }
  finish();
  return code;
}

void record_abort(MPI_Comm comm, int errorcode) {
  {
    Call call(127);
    if (call.recording()) {
      call.begin();
      call.end();
      Record out(call, 6);
      if (out) {
        out.i16(out.comm(comm));
        out.i32(errorcode);
        out.close();
      }
    }
  }
  finish();
}

}  // namespace

}  // namespace fathom::capture

using namespace fathom::capture;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init(int* argc, char*** argv) {
  find_library();
  const Moment begin = Moment::now();
  t.inside = true;
  const int code = PMPI_Init(argc, argv);
  t.inside = false;
  if (code == MPI_SUCCESS) record_init(begin, Words(argc, argv));
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  find_library();
  const Moment begin = Moment::now();
  t.inside = true;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  t.inside = false;
  if (code == MPI_SUCCESS) record_init_thread(begin, Words(argc, argv), required, *provided);
  return code;
}

int MPI_Finalize(void) {
  return record_finalize([] { return PMPI_Finalize(); });
}

int MPI_Abort(MPI_Comm comm, int errorcode) {
  record_abort(comm, errorcode);
  return PMPI_Abort(comm, errorcode);
}

int MPI_Pcontrol(const int level, ...) {
  std::va_list arguments;
  va_start(arguments, level);
  if (level == 0) {
    g.profiling = false;
  } else if (level == 1) {
    g.profiling = true;
  } else if (level == 2) {
    const char* format = va_arg(arguments, const char*);
    labels::annotate(0, format, arguments);
  } else if (level == 3) {
    const std::uint64_t key = va_arg(arguments, std::uint64_t);
    const char* format = va_arg(arguments, const char*);
    if (key >= 1 && key <= 4095) labels::annotate(key, format, arguments);
  }
  va_end(arguments);
  return PMPI_Pcontrol(level);
}

// The same switches as calls, under the names that programs made for the reference recorder use.
void libdumpi_enable_profiling(void) { g.profiling = true; }
void libdumpi_disable_profiling(void) { g.profiling = false; }
void libdumpi_set_profiling(int function, int setting) {
  if (function >= 0 && static_cast<std::size_t>(function) < kFunctions) {
    g.settings.function[function] = static_cast<Setting>(setting);
  }
}
void libdumpi_set_status_output(int setting) {
  g.settings.statuses = static_cast<Setting>(setting & 3);
  g.mask = static_cast<std::uint8_t>((g.mask & ~3) | (setting & 3));
}
void libdumpi_set_output(const char* root) {
  const Text wanted = text(root);
  if (g.phase != Phase::before || wanted.size == 0 || wanted.size >= sizeof g.settings.root) return;
  std::memcpy(g.settings.root, wanted.data, wanted.size + 1);
  g.settings.root_is_set = true;
}

// Fortran bindings that call the library past the wrappers of C: all of Open MPI's, mpi_f08 of MPICH.
static void fortran_init(MPI_Fint* ierr) {
  const int code = MPI_Init(nullptr, nullptr);
  if (ierr != nullptr) *ierr = code;
}
static void fortran_init_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierr) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (ierr != nullptr) *ierr = code;
}
static void fortran_finalize(MPI_Fint* ierr) {
  const int code = MPI_Finalize();
  if (ierr != nullptr) *ierr = code;
}
static void fortran_abort(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* ierr) {
  const int code = MPI_Abort(PMPI_Comm_f2c(*comm), *errorcode);
  if (ierr != nullptr) *ierr = code;
}
void mpi_init_f08_(MPI_Fint* ierr) { fortran_init(ierr); }
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierr) {
  fortran_init_thread(required, provided, ierr);
}
void mpi_finalize_f08_(MPI_Fint* ierr) { fortran_finalize(ierr); }
void mpi_abort_f08_(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* ierr) { fortran_abort(comm, errorcode, ierr); }
void mpi_pcontrol_f08_(MPI_Fint* level) { MPI_Pcontrol(*level); }
#ifdef OPEN_MPI
#define FATHOM_SPELLINGS(lower, upper, parameters, call) \
  void lower##_ parameters { call; }                     \
  void lower##__ parameters { call; }                    \
  void lower parameters { call; }                        \
  void upper parameters { call; }
FATHOM_SPELLINGS(mpi_init, MPI_INIT, (MPI_Fint * ierr), fortran_init(ierr))
FATHOM_SPELLINGS(mpi_init_thread, MPI_INIT_THREAD, (MPI_Fint * required, MPI_Fint* provided, MPI_Fint* ierr),
                 fortran_init_thread(required, provided, ierr))
FATHOM_SPELLINGS(mpi_finalize, MPI_FINALIZE, (MPI_Fint * ierr), fortran_finalize(ierr))
FATHOM_SPELLINGS(mpi_abort, MPI_ABORT, (MPI_Fint * comm, MPI_Fint* errorcode, MPI_Fint* ierr),
                 fortran_abort(comm, errorcode, ierr))
FATHOM_SPELLINGS(mpi_pcontrol, MPI_PCONTROL, (MPI_Fint * level), MPI_Pcontrol(*level))
#endif
}
#pragma GCC visibility pop
