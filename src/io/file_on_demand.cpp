#include "io/file_on_demand.hpp"

#include <atomic>
#include <deque>
#include <mutex>

#include "io/file.hpp"
#include "io/inflate.hpp"
#include "io/mapped_file.hpp"
#include "io/opened_files.hpp"
#include "io/unpack.hpp"

namespace fathom {

namespace {
// A process may have 65,530 mappings as a rule, and others need some.
std::atomic<std::size_t> most_open = 1024;
}  // namespace

class OpenFiles {
 public:
  void keep(std::shared_ptr<const Blob> blob) {
    std::shared_ptr<const Blob> oldest;  // goes when nobody waits for the lock
    const std::scoped_lock lock(mutex_);
    if (most_ == 0) return;
    latest_.push_back(std::move(blob));
    if (latest_.size() <= most_) return;
    oldest = std::move(latest_.front());
    latest_.pop_front();
  }

 private:
  std::size_t most_ = most_open.load();
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Blob>> latest_;
};

std::shared_ptr<OpenFiles> make_open_files() { return std::make_shared<OpenFiles>(); }
std::size_t keep_files_open(std::size_t most) { return most_open.exchange(most); }

struct FileOnDemand::State {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the bytes in what they are part of
  std::shared_ptr<OpenFiles> files;
  Work work;
  std::mutex mutex;
  std::weak_ptr<const Blob> mapped;
  std::shared_ptr<const Blob> kept;  // what costs more than to open it again

  // Under the lock.
  Result<std::shared_ptr<const Blob>> bytes() {
    if (kept != nullptr) return kept;
    if (auto still_there = mapped.lock()) return still_there;
    FATHOM_TRY(Blob blob, map_file(name));
    if (is_packed(blob.bytes())) {
      FATHOM_TRY(blob, unpack(blob, work));
      kept = std::make_shared<const Blob>(std::move(blob));
      return kept;
    }
    auto fresh = std::make_shared<const Blob>(std::move(blob));
    mapped = fresh;
    files->keep(fresh);
    return fresh;
  }
};

FileOnDemand::FileOnDemand(Blob blob) : state_(std::make_shared<State>()) {
  state_->name = blob.name();
  state_->size = blob.size();
  state_->offset = blob.offset();
  state_->kept = std::make_shared<const Blob>(std::move(blob));
}

FileOnDemand FileOnDemand::unopened(const std::filesystem::path& path, std::uint64_t size,
                                    std::shared_ptr<OpenFiles> files, const Work& work) {
  FileOnDemand file;
  file.state_ = std::make_shared<State>();
  file.state_->name = path.string();
  file.state_->size = size;
  file.state_->files = std::move(files);
  file.state_->work = work;
  return file;
}

FileOnDemand FileOnDemand::known(const std::filesystem::path& path, std::uint64_t size,
                                 std::shared_ptr<OpenFiles> files, const Work& work) {
  expect_input(path);
  return unopened(path, size, std::move(files), work);
}

Result<FileOnDemand> FileOnDemand::open(const std::filesystem::path& path, std::shared_ptr<OpenFiles> files,
                                        const Work& work) {
  FileOnDemand file = unopened(path, 0, std::move(files), work);
  const std::scoped_lock lock(file.state_->mutex);
  FATHOM_TRY(const auto blob, file.state_->bytes());
  file.state_->size = blob->size();
  return file;
}

const std::string& FileOnDemand::name() const {
  static const std::string kNone;
  return state_ == nullptr ? kNone : state_->name;
}
std::uint64_t FileOnDemand::size() const { return state_ == nullptr ? 0 : state_->size; }
Place FileOnDemand::place(std::uint64_t at) const {
  return Place::at_offset(name(), (state_ == nullptr ? 0 : state_->offset) + at);
}

std::shared_ptr<const Blob> FileOnDemand::hold() const {
  if (state_ == nullptr) return std::make_shared<const Blob>();
  const std::scoped_lock lock(state_->mutex);
  const auto blob = state_->bytes();
  if (blob && (*blob)->size() == state_->size) return *blob;
  // Somebody may still be writing: what was there at first is what is read.
  if (blob && (*blob)->size() > state_->size) {
    return std::make_shared<const Blob>(state_->name, (*blob)->bytes().first(state_->size), *blob, state_->offset);
  }
  auto zeros = lost_bytes(state_->name, blob ? (*blob)->size() : 0, state_->size);
  const Bytes bytes(static_cast<const std::byte*>(zeros.get()), state_->size);
  return std::make_shared<const Blob>(state_->name, bytes, std::move(zeros), state_->offset);
}

}  // namespace fathom
