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
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kWorthHugePages = std::size_t{8} << 20;
constexpr std::size_t kMostShared = std::size_t{32} << 20;
constexpr std::size_t kAligned = 64;

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

SharedPages::SharedPages(std::size_t bytes) {
  // One huge page more, to begin where one does.
  const std::size_t spare = bytes < kHugePage ? 0 : kHugePage;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return;
  data_ = mapped;
  size_ = bytes + spare;
  if (spare == 0) return;
  taken_ = (kHugePage - reinterpret_cast<std::uintptr_t>(mapped) % kHugePage) % kHugePage;
  madvise(static_cast<std::byte*>(mapped) + taken_, bytes, MADV_HUGEPAGE);
}

SharedPages::~SharedPages() {
  if (data_ != nullptr) munmap(data_, size_);
}

void* SharedPages::take(std::size_t bytes) {
  if (bytes > size_ - taken_) return nullptr;
  void* const found = static_cast<std::byte*>(data_) + taken_;
  taken_ += std::min((bytes + kAligned - 1) / kAligned * kAligned, size_ - taken_);
  return found;
}

// Each piece is as large as all before it, so that few arrays share little.
std::shared_ptr<SharedPages> ArrayPool::share(std::size_t bytes, void*& data) {
  const std::lock_guard lock(mutex_);
  data = pages_ == nullptr ? nullptr : pages_->take(bytes);
  if (data == nullptr) {
    const std::size_t size = std::clamp(shared_, kSmallest, kMostShared);
    pages_ = std::make_shared<SharedPages>(std::max((bytes + kPage - 1) / kPage * kPage, size));
    shared_ += size;
    data = pages_->take(bytes);
  }
  return data == nullptr ? nullptr : pages_;
}

LargeMemory::~LargeMemory() {
  release();
  if (descriptor_ < 0 && pool_ != nullptr) pool_->give_back(capacity_);
}

void LargeMemory::release() {
  if (shared_ == nullptr && data_ != nullptr) munmap(data_, capacity_);
  shared_ = nullptr;
}

void LargeMemory::swap(LargeMemory& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(shared_, other.shared_);
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
    release();
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
  const bool alone = data_ != nullptr && shared_ == nullptr;
  void* moved = alone ? mremap(data_, capacity_, wanted, MREMAP_MAYMOVE)
                      : mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (moved == MAP_FAILED) {
    pool_->fail(errno);
    pool_->give_back(wanted - capacity_);
    return false;
  }
  if (shared_ != nullptr) {
    std::memcpy(moved, data_, capacity_);
    release();
  }
  if (wanted >= kWorthHugePages) madvise(moved, wanted, MADV_HUGEPAGE);  // a wish: most of filling it is new pages
  data_ = moved;
  capacity_ = wanted;
  return true;
}

bool LargeMemory::fit(std::size_t bytes) {
  if (pool_ == nullptr) return false;
  if (!pool_->take(bytes)) return to_file(bytes);
  shared_ = pool_->share(bytes, data_);
  if (shared_ != nullptr) {
    capacity_ = bytes;
    return true;
  }
  pool_->give_back(bytes);
  pool_->fail(ENOMEM);
  return false;
}

}  // namespace fathom
