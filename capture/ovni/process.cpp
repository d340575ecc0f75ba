#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>
#include <vector>

#include "ovni/clock.hpp"
#include "ovni/runtime.hpp"

namespace fathom::ovni_runtime {

Process process;

namespace {

void say(const char* kind, const char* format, std::va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::fprintf(stderr, "ovni: %s%s\n", kind, text);
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : nullptr;
}

// What the threads of a process said, for its one file in the first version.
std::mutex said_lock;
Json said_cpus = Json::array();
int said_rank = -1;
int said_ranks = 0;

}  // namespace

void die(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say("fatal: ", format, arguments);
  va_end(arguments);
  std::abort();
}

void warn(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say("", format, arguments);
  va_end(arguments);
}

std::string join(const std::string& a, const std::string& b) { return a + "/" + b; }

void make_folders(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) die("%s: %s", part.c_str(), std::strerror(errno));
  }
}

void write_bytes(int descriptor, const unsigned char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(descriptor, data, size);
    if (done < 0) {
      if (errno == EINTR) continue;
      die("cannot write the stream: %s", std::strerror(errno));
    }
    data += done;
    size -= static_cast<std::size_t>(done);
  }
}

void write_text(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) die("%s: %s", path.c_str(), std::strerror(errno));
  write_bytes(descriptor, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  if (::close(descriptor) != 0) die("%s: %s", path.c_str(), std::strerror(errno));
}

// Between file systems: copied, then removed. What fails is said; the original stays.
void move_file(const std::string& from, const std::string& to) {
  const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = in >= 0 && out >= 0;
  std::vector<unsigned char> block(1 << 20);
  while (good) {
    const ssize_t got = ::read(in, block.data(), block.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    good = got > 0;
    for (ssize_t at = 0; good && at < got;) {
      const ssize_t put = ::write(out, block.data() + at, static_cast<std::size_t>(got - at));
      if (put < 0 && errno == EINTR) continue;
      good = put > 0;
      if (good) at += put;
    }
  }
  const int error = errno;
  if (in >= 0) ::close(in);
  if (out >= 0 && ::close(out) != 0) good = false;
  if (!good) {
    warn("cannot move %s to %s: %s", from.c_str(), to.c_str(), std::strerror(error));
    return;
  }
  ::unlink(from.c_str());
}

bool parse_version(const char* text, Version& out) {
  if (text == nullptr) return false;
  int used = 0;
  if (std::sscanf(text, "%d.%d.%d%n", &out.major, &out.minor, &out.patch, &used) != 3) return false;
  return out.major >= 0 && out.minor >= 0 && out.patch >= 0 && (text[used] == 0 || text[used] == '-');
}

void keep_for_process(const Details& mine) {
  const std::lock_guard guard(said_lock);
  for (const auto& cpu : mine.cpus) said_cpus.push_back(cpu);
  if (mine.rank >= 0) {
    said_rank = mine.rank;
    said_ranks = mine.ranks;
  }
}

void store_process_metadata() {
  const std::lock_guard guard(said_lock);
  Json metadata = Json::object();
  metadata["version"] = 1;
  metadata["app_id"] = process.app;
  if (said_rank >= 0) {
    metadata["rank"] = said_rank;
    metadata["nranks"] = said_ranks;
  }
  if (!said_cpus.empty()) metadata["cpus"] = said_cpus;
  write_text(join(process.final_folder, "metadata.json"), metadata.dump(4));
}

}  // namespace fathom::ovni_runtime

using namespace fathom::ovni_runtime;

#pragma GCC visibility push(default)
extern "C" {

void ovni_version_get(const char** version, const char** commit) {
  *version = OVNI_LIB_VERSION;
  *commit = OVNI_GIT_COMMIT;
}

void ovni_version_check_str(const char* version) {
  Version wanted, ours;
  if (!parse_version(version, wanted)) die("bad version: '%s'", version == nullptr ? "" : version);
  parse_version(OVNI_LIB_VERSION, ours);
  if (wanted.major != ours.major || wanted.minor > ours.minor) {
    die("the program was made for version %s, this library is %s", version, OVNI_LIB_VERSION);
  }
}

void ovni_proc_init(int app, const char* loom, int pid) {
  Stage expected = Stage::none;
  if (!process.stage.compare_exchange_strong(expected, Stage::starting)) {
    die(expected == Stage::gone ? "ovni_proc_init: the process has finished already"
                                : "ovni_proc_init: called before, or by another thread at once");
  }
  if (loom == nullptr || std::strlen(loom) >= OVNI_MAX_HOSTNAME) die("ovni_proc_init: the loom's name is too long");
  process.app = app;
  process.loom = loom;
  process.pid = pid;
  if (const char* layout = environment("FATHOM_OVNI_LAYOUT")) {
    if (std::strcmp(layout, "v1") == 0) {
      process.layout = Layout::v1;
    } else if (std::strcmp(layout, "v3") != 0) {
      die("FATHOM_OVNI_LAYOUT is '%s': v1 and v3 can be written", layout);
    }
  }
  const char* folder = environment("OVNI_TRACEDIR");
  const char* temporary = environment("OVNI_TMPDIR");
  const std::string inside = "loom." + process.loom + "/proc." + std::to_string(pid);
  process.final_folder = join(folder != nullptr ? folder : OVNI_TRACEDIR, inside);
  process.moves = temporary != nullptr;
  process.folder = process.moves ? join(temporary, inside) : process.final_folder;
  make_folders(process.final_folder);
  if (process.moves) make_folders(process.folder);
  start_clock();
  process.stage.store(Stage::ready);
}

void ovni_proc_fini(void) {
  Stage expected = Stage::ready;
  if (!process.stage.compare_exchange_strong(expected, Stage::gone))
    die("ovni_proc_fini: the process is not initialised");
  if (process.layout == Layout::v1) store_process_metadata();
  if (process.moves) {
    // Others may still be at work in the folders above.
    ::rmdir(process.folder.c_str());
    ::rmdir(process.folder.substr(0, process.folder.rfind('/')).c_str());
  }
}

void ovni_proc_set_rank(int rank, int nranks) {
  if (process.stage.load() != Stage::ready) die("ovni_proc_set_rank: the process is not initialised");
  Details& mine = details("ovni_proc_set_rank");
  mine.rank = rank;
  mine.ranks = nranks;
}

void ovni_add_cpu(int index, int phyid) {
  if (process.stage.load() != Stage::ready) die("ovni_add_cpu: the process is not initialised");
  Details& mine = details("ovni_add_cpu");
  if (index < 0 || phyid < 0) die("ovni_add_cpu: index %d, phyid %d: neither may be negative", index, phyid);
  Json cpu = Json::object();
  cpu["index"] = index;
  cpu["phyid"] = phyid;
  mine.cpus.push_back(std::move(cpu));
}
}
#pragma GCC visibility pop
