// PAPI is loaded when a setting names a counter: the recorder neither needs it to be built nor to be loaded.
#include "dumpi/counters.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "dumpi/settings.hpp"

namespace fathom::capture::counters {

namespace {

struct Papi {
  int (*create_eventset)(int*) = nullptr;
  int (*add_named_event)(int, const char*) = nullptr;
  int (*start)(int) = nullptr;
  int (*read)(int, long long*) = nullptr;
} papi;
char names[kMost][80];
unsigned count = 0;
constexpr int kNone = -1;
thread_local int eventset __attribute__((tls_model("initial-exec"))) = kNone;
thread_local bool tried __attribute__((tls_model("initial-exec"))) = false;

unsigned long this_thread() { return static_cast<unsigned long>(pthread_self()); }

bool load(bool speak) {
  void* library = nullptr;
  for (const char* name : {"libpapi.so", "libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0", "libpapi.so.6"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    if (speak) std::fprintf(stderr, "fathom record: counters are left out: %s\n", dlerror());
    return false;
  }
  const auto find = [&](const char* name, auto& to) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(library, name));
    return to != nullptr;
  };
  int (*library_init)(int) = nullptr;
  int (*thread_init)(unsigned long (*)()) = nullptr;
  if (!find("PAPI_library_init", library_init) || !find("PAPI_thread_init", thread_init) ||
      !find("PAPI_create_eventset", papi.create_eventset) || !find("PAPI_add_named_event", papi.add_named_event) ||
      !find("PAPI_start", papi.start) || !find("PAPI_read", papi.read)) {
    if (speak) std::fprintf(stderr, "fathom record: counters are left out: libpapi lacks functions\n");
    return false;
  }
  // It wants to hear the version that it was made for: major and minor number in the upper bytes.
  for (const int version : {0x07020000, 0x07010000, 0x07000000, 0x06000000, 0x05070000, 0x05060000, 0x05050000}) {
    if (library_init(version) == version) {
      thread_init(this_thread);
      return true;
    }
  }
  if (speak) std::fprintf(stderr, "fathom record: counters are left out: PAPI does not start\n");
  return false;
}

void open_thread() {
  tried = true;
  int set = kNone;
  if (papi.create_eventset(&set) != 0) return;
  for (unsigned i = 0; i < count; ++i) {
    if (papi.add_named_event(set, names[i]) != 0) return;
  }
  if (papi.start(set) == 0) eventset = set;
}

}  // namespace

void start(const Settings& settings, bool speak) {
  if (settings.counters == 0 || !load(speak)) return;
  int set = kNone;
  if (papi.create_eventset(&set) != 0) return;
  for (std::size_t i = 0; i < settings.counters && count < kMost; ++i) {
    if (papi.add_named_event(set, settings.counter[i]) == 0) {
      std::snprintf(names[count++], sizeof names[0], "%s", settings.counter[i]);
    } else if (speak) {
      std::fprintf(stderr, "fathom record: counter %s is not to be had here and left out\n", settings.counter[i]);
    }
  }
  if (count > 0 && papi.start(set) == 0) {
    eventset = set;
    tried = true;
  } else {
    count = 0;
  }
}

unsigned number() { return count; }
const char* name(unsigned i) { return names[i]; }

void read(std::int64_t* values) {
  if (!tried) open_thread();
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  if (eventset == kNone || papi.read(eventset, reinterpret_cast<long long*>(values)) != 0) {
    std::memset(values, 0, count * sizeof *values);
  }
}

}  // namespace fathom::capture::counters
