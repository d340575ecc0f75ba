#include "io/shared_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cancel.hpp"
#include "base/pack.hpp"
#include "io/temporary.hpp"

namespace fathom {

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Error SharedFile::failure(int code) const {
  return Error(fmt::format("cannot write: {}", std::strerror(code)), Place::in(final_path(shown_).string()));
}

Result<void> SharedFile::write(std::uint64_t offset, Bytes bytes) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 26;
  while (!bytes.empty()) {
    if (cancelled()) return cancelled_error();
    const ssize_t done = pwrite(descriptor_, bytes.data(), std::min(bytes.size(), kAtOnce), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failure(done < 0 ? errno : EIO);
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

Result<void> SharedFile::finish() {
  if (fsync(descriptor_) != 0) return failure(errno);
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) return failure(errno);
  return {};
}

Result<SharedFile> SharedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  SharedFile out(path, descriptor);
  if (descriptor < 0) return out.failure(errno);
  return out;
}

void SharedSequence::write(Bytes bytes) {
  constexpr std::size_t kBufferSize = std::size_t{1} << 20;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferSize) (void)flush();
}

Result<void> SharedSequence::flush() {
  if (status_.ok()) status_ = file_.write(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
  return status_;
}

Result<SharedOutput> SharedOutput::make(const std::function<Result<OutputSet>()>& make) {
  FATHOM_CHECK(team().assemble("output"));
  SharedOutput out;
  std::string path;
  if (team().first()) {
    FATHOM_TRY(OutputSet set, [&] {
      const TeamScope alone(nullptr);
      return make();
    }());
    path = std::filesystem::absolute(set.path()).string();
    out.path_ = set.path();
    out.set_.emplace(std::move(set));
  }
  FATHOM_TRY(const Parcel told, team().broadcast(packed(path)));
  FATHOM_TRY(path, unpacked<std::string>(told));
  if (!team().first()) out.path_ = path;
  return out;
}

Result<void> SharedOutput::all_written() {
  FATHOM_TRY(const auto everybody, team().sum({1}));
  (void)everybody;
  return first_goes_on();
}

}  // namespace fathom
