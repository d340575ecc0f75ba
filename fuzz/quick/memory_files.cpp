// The files of a directory in memory, seen through the functions of the C library: more than half of the time of small
// datasets in directories is the system's, which is not what is tried. There are no other directories, which names in
// files would lead to; files elsewhere are the system's as ever.
#include "memory_files.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace fathom {

namespace {

constexpr std::size_t kPage = 4096;
constexpr int kFirstDescriptor = 1 << 28;
constexpr int kOpenDirectory = 0x7FADD112;  // where the system's own have a descriptor

struct Node {
  bool directory = false;
  std::string bytes;
  std::vector<std::string> names;  // of a directory
};
using Nodes = std::unordered_map<std::string, Node>;  // by path

// As the system's DIR it is only passed around.
struct OpenDirectory {
  int mark = kOpenDirectory;
  int descriptor = -1;
  std::vector<std::string> names;
  std::string path;
  std::size_t at = 0;
  dirent entry{};
};

struct Memory {
  std::mutex mutex;
  std::string root;
  Nodes nodes;
  std::vector<std::string> open;  // paths by descriptor; empty = free
  std::unordered_map<void*, std::size_t> mapped;
};
Memory* g_memory =
    nullptr;  // once there are files in it: allocators call some of these functions before anything is made

// An allocator may come back here while the files are looked at: then it is served by the system.
thread_local bool g_busy = false;
bool in_use() { return g_memory != nullptr && !g_busy; }
class Lock {
 public:
  explicit Lock(Memory& all) : lock_(all.mutex) { g_busy = true; }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { g_busy = false; }

 private:
  std::scoped_lock<std::mutex> lock_;
};

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

int fail(int code) {
  errno = code;
  return -1;
}

// The path below the root without doubled slashes, "." and ".."; nothing where it leads elsewhere. A slash at the end
// stays as one, since only directories may have it.
std::optional<std::string> inside(const Memory& all, const char* given) {
  if (all.root.empty() || std::strncmp(given, all.root.c_str(), all.root.size()) != 0) return std::nullopt;
  const char* rest = given + all.root.size();
  if (*rest != '\0' && *rest != '/') return std::nullopt;
  std::string path = all.root;
  while (*rest != '\0') {
    while (*rest == '/') ++rest;
    const char* const end = strchrnul(rest, '/');
    const std::string_view part(rest, static_cast<std::size_t>(end - rest));
    rest = end;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      path.append("/").append(part);
      continue;
    }
    path.resize(path.rfind('/'));
    if (path.size() < all.root.size()) return std::nullopt;
  }
  return path;
}

// The node of a path inside; null with errno otherwise.
const Node* find(const Memory& all, const std::string& path) {
  const auto found = all.nodes.find(path);
  if (found != all.nodes.end()) return &found->second;
  errno = ENOENT;
  for (std::size_t slash = path.rfind('/'); slash > all.root.size() && slash != std::string::npos;
       slash = path.rfind('/', slash - 1)) {
    if (path.find('/', slash + 1) == std::string::npos && path.size() - slash > 256) errno = ENAMETOOLONG;
    const auto above = all.nodes.find(path.substr(0, slash));
    if (above != all.nodes.end() && !above->second.directory) errno = ENOTDIR;
  }
  return nullptr;
}

const Node* find_given(const Memory& all, const std::string& path, const char* given) {
  const Node* const node = find(all, path);
  if (node == nullptr || node->directory || given[std::strlen(given) - 1] != '/') return node;
  errno = ENOTDIR;
  return nullptr;
}

void describe(const std::string& path, const Node& node, struct stat* out) {
  *out = {};
  out->st_dev = 1;
  out->st_ino = std::hash<std::string>()(path);
  out->st_mode = node.directory ? S_IFDIR | 0755 : S_IFREG | 0644;
  out->st_nlink = 1;
  out->st_size = static_cast<off_t>(node.bytes.size());
  out->st_blksize = kPage;
}

// What was opened with this number; null for the system's own.
const std::string* opened(const Memory& all, int descriptor) {
  if (descriptor < kFirstDescriptor) return nullptr;
  const auto at = static_cast<std::size_t>(descriptor - kFirstDescriptor);
  return at < all.open.size() && !all.open[at].empty() ? &all.open[at] : nullptr;
}

// Whether who opens with these flags says permissions, too; O_TMPFILE shares a bit with O_DIRECTORY.
bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int open_inside(Memory& all, const std::string& path, const char* given, int flags) {
  const Node* const node = find_given(all, path, given);
  if (node == nullptr) return -1;
  if ((flags & O_DIRECTORY) != 0 && !node->directory) return fail(ENOTDIR);
  std::size_t at = 0;
  while (at < all.open.size() && !all.open[at].empty()) ++at;
  if (at == all.open.size()) all.open.emplace_back();
  all.open[at] = path;
  return kFirstDescriptor + static_cast<int>(at);
}

int status(const char* given, struct stat* out, int flags) {
  if (in_use()) {
    Memory& all = *g_memory;
    const Lock lock(all);
    if (const auto path = inside(all, given)) {
      const Node* const node = find_given(all, *path, given);
      if (node == nullptr) return -1;
      describe(*path, *node, out);
      return 0;
    }
    return fail(ENOENT);
  }
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, given, out, flags));
}

OpenDirectory* ours(DIR* directory) {
  auto* const made = reinterpret_cast<OpenDirectory*>(directory);
  return made->mark == kOpenDirectory ? made : nullptr;
}

}  // namespace

void hold_in_memory(const std::string& root, const std::map<std::string, std::string_view>& files) {
  if (g_memory == nullptr) g_memory = new Memory;
  Memory& all = *g_memory;
  const Lock lock(all);
  all.root = root;
  all.nodes.clear();
  all.nodes[root].directory = true;
  for (const auto& [name, bytes] : files) {
    // Directories first; a file whose name is a directory's, or lies in a file, is left out.
    std::string at = root;
    bool usable = true;
    for (std::size_t begin = 0; usable && begin < name.size();) {
      const std::size_t end = std::min(name.find('/', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      begin = end + 1;
      if (part.empty() || part == ".") continue;
      const bool last = end == name.size();
      const std::string path = at + "/" + part;
      const auto [found, is_new] = all.nodes.try_emplace(path);
      if (is_new) {
        found->second.directory = !last;
        if (last) found->second.bytes = bytes;
        all.nodes[at].names.push_back(part);
      } else {
        usable = found->second.directory && !last;
      }
      at = path;
    }
  }
}

}  // namespace fathom

using fathom::fail;

extern "C" {

int stat(const char* path, struct stat* out) noexcept { return fathom::status(path, out, 0); }
int lstat(const char* path, struct stat* out) noexcept { return fathom::status(path, out, AT_SYMLINK_NOFOLLOW); }

int fstat(int descriptor, struct stat* out) noexcept {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const std::string* path = fathom::opened(all, descriptor)) {
      fathom::describe(*path, all.nodes.at(*path), out);
      return 0;
    }
  }
  return static_cast<int>(syscall(SYS_fstat, descriptor, out));
}

int openat(int directory, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (fathom::has_mode(flags)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  std::string full;  // outlives what is made of it
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const std::string* above = path[0] == '/' ? nullptr : fathom::opened(all, directory)) {
      full = *above + "/" + path;
      path = full.c_str();
    }
    if (const auto found = fathom::inside(all, path)) return fathom::open_inside(all, *found, path, flags);
    if ((flags & O_DIRECTORY) != 0) return fail(ENOENT);
  }
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (fathom::has_mode(flags)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return openat(AT_FDCWD, path, flags, mode);
}

int close(int descriptor) {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (fathom::opened(all, descriptor) != nullptr) {
      all.open[static_cast<std::size_t>(descriptor - fathom::kFirstDescriptor)].clear();
      return 0;
    }
  }
  return static_cast<int>(syscall(SYS_close, descriptor));
}

void* mmap(void* address, std::size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (descriptor >= fathom::kFirstDescriptor && fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const std::string* path = fathom::opened(all, descriptor)) {
      const std::string& bytes = all.nodes.at(*path).bytes;
      const std::size_t whole = (size + fathom::kPage - 1) / fathom::kPage * fathom::kPage;
      auto* const made = static_cast<char*>(std::aligned_alloc(fathom::kPage, whole));
      const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
      const std::size_t there = std::min(size, bytes.size() - from);
      std::memcpy(made, bytes.data() + from, there);
      std::memset(made + there, 0, whole - there);
      all.mapped.emplace(made, whole);
      return made;
    }
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, descriptor, offset));
}

int munmap(void* address, std::size_t size) noexcept {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (all.mapped.erase(address) > 0) {
      std::free(address);
      return 0;
    }
  }
  return static_cast<int>(syscall(SYS_munmap, address, size));
}

int access(const char* path, int mode) noexcept {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const auto found = fathom::inside(all, path)) return fathom::find_given(all, *found, path) != nullptr ? 0 : -1;
  }
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

ssize_t readlink(const char* path, char* out, std::size_t size) noexcept {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const auto found = fathom::inside(all, path)) {
      return fathom::find_given(all, *found, path) != nullptr ? fail(EINVAL) : -1;
    }
  }
  return syscall(SYS_readlinkat, AT_FDCWD, path, out, size);
}

char* realpath(const char* path, char* out) noexcept {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const auto found = fathom::inside(all, path)) {
      if (fathom::find_given(all, *found, path) == nullptr) return nullptr;
      return out == nullptr ? strdup(found->c_str()) : std::strcpy(out, found->c_str());
    }
  }
  static auto* const usual = fathom::real<char*(const char*, char*)>("realpath");
  return usual(path, out);
}

DIR* fdopendir(int descriptor) {
  if (fathom::in_use()) {
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    if (const std::string* path = fathom::opened(all, descriptor)) {
      auto* const made = new fathom::OpenDirectory;
      made->descriptor = descriptor;
      made->path = *path;
      made->names = all.nodes.at(*path).names;
      return reinterpret_cast<DIR*>(made);
    }
  }
  static auto* const usual = fathom::real<DIR*(int)>("fdopendir");
  return usual(descriptor);
}

DIR* opendir(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return descriptor < 0 ? nullptr : fdopendir(descriptor);
}

dirent* readdir(DIR* directory) {
  if (fathom::OpenDirectory* const made = fathom::ours(directory)) {
    if (made->at == made->names.size()) return nullptr;
    const std::string& name = made->names[made->at++];
    auto& all = *fathom::g_memory;
    const fathom::Lock lock(all);
    const auto found = all.nodes.find(made->path + "/" + name);
    made->entry.d_type = found != all.nodes.end() && found->second.directory ? DT_DIR : DT_REG;
    made->entry.d_ino = made->at;
    std::strncpy(made->entry.d_name, name.c_str(), sizeof made->entry.d_name - 1);
    return &made->entry;
  }
  static auto* const usual = fathom::real<dirent*(DIR*)>("readdir");
  return usual(directory);
}

int dirfd(DIR* directory) noexcept {
  if (fathom::OpenDirectory* const made = fathom::ours(directory)) return made->descriptor;
  static auto* const usual = fathom::real<int(DIR*)>("dirfd");
  return usual(directory);
}

int closedir(DIR* directory) {
  if (fathom::OpenDirectory* const made = fathom::ours(directory)) {
    close(made->descriptor);
    delete made;
    return 0;
  }
  static auto* const usual = fathom::real<int(DIR*)>("closedir");
  return usual(directory);
}

}  // extern "C"
