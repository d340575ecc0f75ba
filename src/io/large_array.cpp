#include "io/large_array.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace fathom {

namespace {

constexpr std::size_t kSmallest = std::size_t{16} << 10;
constexpr std::size_t kPage = std::size_t{4} << 10;
constexpr std::size_t kWorthHugePages = std::size_t{8} << 20;

std::filesystem::path directory() {
  std::error_code ignored;
  auto found = std::filesystem::temp_directory_path(ignored);
  return ignored ? std::filesystem::path("/tmp") : found;
}

}  // namespace

Result<void> ArrayPool::status() const {
  const int code = error_.load();
  if (code == 0) return {};
  return Error(fmt::format("cannot keep what does not fit into memory in a temporary file: {}", std::strerror(code)),
               Place::in(directory().string()))
      .hint("set TMPDIR to a directory with room, or raise --max-memory");
}

LargeMemory::~LargeMemory() {
  if (data_ != nullptr) munmap(data_, capacity_);
  if (descriptor_ < 0 && pool_ != nullptr) pool_->give_back(capacity_);
}

void LargeMemory::swap(LargeMemory& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(descriptor_, other.descriptor_);
}

// Blocks are taken before they are used: a full disk is an error here and not a signal later. The mapping alone keeps
// the file, so that thousands of arrays need no descriptors.
bool LargeMemory::to_file(std::size_t bytes) {
  std::string pattern = (directory() / "fathom.XXXXXX").string();
  const int made = mkostemp(pattern.data(), O_CLOEXEC);
  if (made < 0) {
    pool_->fail(errno);
    return false;
  }
  unlink(pattern.c_str());
  int code = posix_fallocate(made, 0, static_cast<off_t>(bytes));
  void* mapped = MAP_FAILED;
  if (code == 0) {
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    if (mapped == MAP_FAILED) code = errno;
  }
  close(made);
  if (code != 0) {
    pool_->fail(code);
    return false;
  }
  if (data_ != nullptr) {
    std::memcpy(mapped, data_, capacity_);
    munmap(data_, capacity_);
  }
  if (descriptor_ < 0) pool_->give_back(capacity_);
  pool_->count_file(bytes - (descriptor_ < 0 ? 0 : capacity_));
  descriptor_ = 0;
  data_ = mapped;
  capacity_ = bytes;
  return true;
}

bool LargeMemory::grow(std::size_t bytes) {
  if (bytes <= capacity_) return true;
  if (pool_ == nullptr) return false;
  const std::size_t wanted = std::max({kSmallest, capacity_ * 2, (bytes + kPage - 1) / kPage * kPage});
  if (descriptor_ >= 0 || !pool_->take(wanted - capacity_)) return to_file(wanted);
  void* moved = data_ == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) {
    pool_->fail(errno);
    pool_->give_back(wanted - capacity_);
    return false;
  }
  if (wanted >= kWorthHugePages) madvise(moved, wanted, MADV_HUGEPAGE);  // a wish: most of filling it is new pages
  data_ = moved;
  capacity_ = wanted;
  return true;
}

}  // namespace fathom
