#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "io/inflate.hpp"
#include "io/mapped_file.hpp"
#include "io/opened_files.hpp"
#include "io/unpack.hpp"

namespace fathom {

namespace {

std::atomic<std::uint64_t> files_opened = 0;

namespace fs = std::filesystem;

// What a file was when it was opened first.
struct Opened {
  fs::path path;
  off_t size = 0;
  timespec time{};       // of its last change
  bool changed = false;  // when it was opened again

  [[nodiscard]] bool differs(const struct stat& now) const {
    return now.st_size != size || now.st_mtim.tv_sec != time.tv_sec || now.st_mtim.tv_nsec != time.tv_nsec;
  }
};

struct Inputs {
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, Opened> seen;                                            // by device and number
  std::map<fs::path, std::map<std::string, std::function<bool(const fs::path&)>>> expected;  // by directory
};
Inputs& inputs() {
  static Inputs all;
  return all;
}

bool is_expected(const Inputs& all, const fs::path& path) {
  std::error_code status;
  const fs::path real = fs::canonical(path, status);
  if (status) return false;
  for (const auto& [directory, sets] : all.expected) {
    const fs::path inside = real.lexically_relative(fs::weakly_canonical(directory, status));
    if (status || inside.empty() || *inside.begin() == "..") continue;
    for (const auto& [what, owns] : sets) {
      if (owns(inside)) return true;
    }
  }
  return false;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::uint64_t opened_files() { return files_opened.load(std::memory_order_relaxed); }

void expect_inputs(const fs::path& directory, const std::string& what, std::function<bool(const fs::path&)> owns) {
  const fs::path place = directory.empty() ? fs::path(".") : directory;
  Inputs& all = inputs();
  const std::scoped_lock lock(all.mutex);
  all.expected[place][what] = std::move(owns);
}

void expect_input(const fs::path& file) {
  const fs::path name = file.filename();
  expect_inputs(file.parent_path(), name.string(), [name](const fs::path& relative) { return relative == name; });
}

bool is_input(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  Inputs& all = inputs();
  const std::scoped_lock lock(all.mutex);
  return all.seen.contains({status.st_dev, status.st_ino}) || is_expected(all, path);
}

std::vector<fs::path> changed_inputs() {
  Inputs& all = inputs();
  const std::scoped_lock lock(all.mutex);
  std::vector<fs::path> changed;
  for (const auto& [id, file] : all.seen) {
    if (file.path.extension() == ".fathom-index") continue;  // ours: its time says when it was used last
    struct stat now {};
    // Another file in its place, or none, is no change: what is mapped stays what it was.
    const bool still_there = stat(file.path.c_str(), &now) == 0 && std::pair(now.st_dev, now.st_ino) == id;
    if (file.changed || (still_there && file.differs(now))) changed.push_back(file.path);
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

Result<void> spare_inputs(const fs::path& target) {
  std::error_code none;  // what is not there is not replaced
  if (!fs::is_regular_file(target, none) || !is_input(target)) return {};
  return Error::usage(fmt::format("{} is being read, and would be replaced by something else", target.string()))
      .hint("choose another place to write to");
}

Result<void> check_path(const std::filesystem::path& path) {
  if (path.native().find('\0') == std::string::npos) return {};
  return Error("no file has a name with a NUL byte in it", Place::in(path.string()));
}

Result<Blob> map_file(const std::filesystem::path& path) {
  FATHOM_CHECK(check_path(path));
  const std::string name = path.string();
  const auto failed = [&](int code) {
    Error error(std::strerror(code), Place::in(name));
    return code == ENOENT ? std::move(error).as(ErrorKind::usage) : std::move(error);
  };
  // A FIFO that nobody writes to must not hold us up.
  files_opened.fetch_add(1, std::memory_order_relaxed);
  const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed(errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);
  if (!S_ISREG(status.st_mode)) {
    const bool pipe = S_ISFIFO(status.st_mode);
    return Error(pipe ? "is a pipe, not a file" : "is a device, not a file", Place::in(name))
        .hint("save what comes out of it to a file first");
  }
  {
    Inputs& all = inputs();
    const std::scoped_lock lock(all.mutex);
    const Opened now{path, status.st_size, status.st_mtim};
    const auto [found, is_first] = all.seen.try_emplace({status.st_dev, status.st_ino}, now);
    Opened& before = found->second;
    if (!is_first && before.differs(status)) {
      // Under another name it is a new file, which got the number of one that was removed.
      if (before.path == path) {
        before.changed = true;
      } else {
        before = now;
      }
    }
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Blob(name, {}, nullptr);
  auto mapping = map_guarded(file.get(), size, name);
  if (mapping == nullptr) {
    const int code = errno;
    if (code != ENOMEM) return failed(code);
    return Error("cannot be mapped: the system allows a process no further mapping, or no more address space",
                 Place::in(name))
        .hint("a run of very many files needs a larger vm.max_map_count (sysctl), or is read in parts");
  }
  const Bytes bytes(static_cast<const std::byte*>(mapping.get()), size);
  return Blob(name, bytes, std::move(mapping));
}

Result<Blob> open_file(const std::filesystem::path& path, const Work& work) {
  FATHOM_TRY(Blob blob, map_file(path));
  if (!is_packed(blob.bytes())) return blob;
  return unpack(blob, work);
}

}  // namespace fathom
