#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/inflate.hpp"

namespace fathom {

namespace {

struct Mapping {
  void* address;
  std::size_t size;
  Mapping(void* a, std::size_t s) : address(a), size(s) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(address, size); }
};

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

Result<Blob> map_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto failed = [&](int code) {
    Error error(std::strerror(code), Place::in(name));
    return code == ENOENT ? std::move(error).as(ErrorKind::usage) : std::move(error);
  };
  const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failed(errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);
  if (!S_ISREG(status.st_mode)) return Error("is not a regular file", Place::in(name));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Blob(name, {}, nullptr);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return failed(errno);
  auto mapping = std::make_shared<const Mapping>(address, size);
  return Blob(name, Bytes(static_cast<const std::byte*>(address), size), std::move(mapping));
}

Result<Blob> open_file(const std::filesystem::path& path, const Work& work) {
  FATHOM_TRY(Blob blob, map_file(path));
  if (!is_gzip(blob.bytes())) return blob;
  return gunzip(blob, work, work->budget.limit());
}

}  // namespace fathom
