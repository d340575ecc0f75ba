#include "io/unpack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "io/growth.hpp"
#include "io/inflate.hpp"
#include "io/mapped_file.hpp"
#include "io/spill_file.hpp"

namespace fathom {

namespace {

class Unpacker {
 public:
  Unpacker(const Blob& packed, const Work& work) : packed_(packed), work_(work), most_(work->budget.limit() / 4) {}

  Result<Blob> run() {
    std::optional<Error> stopped;
    auto done = gunzip_pieces(packed_, std::numeric_limits<std::uint64_t>::max(), [&](Bytes piece) -> Result<void> {
      auto kept = keep(piece);
      if (!kept.ok()) stopped = kept.error();
      return kept;
    });
    if (stopped) return *std::move(stopped);
    if (!done.ok()) {
      if (size_ == 0) return std::move(done).error();
      FATHOM_CHECK(
          work_->diagnostics.lost("gzip.damaged", done.error().place(),
                                  fmt::format("{}: the {} bytes before that are used", done.error().what(), size_)));
    }
    return spilling_ ? mapped() : in_memory();
  }

 private:
  struct InMemory {
    Budget::Reservation reservation;
    std::vector<std::byte> bytes;
  };

  Result<void> keep(Bytes piece) {
    size_ += piece.size();
    FATHOM_CHECK(check_growth(packed_.size(), size_, packed_.place(), work_));
    if (!spilling_ && !make_room()) {
      spilling_ = true;
      FATHOM_CHECK(file_.append(memory_->bytes));
      memory_ = {};
    }
    if (spilling_) {
      // Disks are no place for bombs either.
      constexpr std::uint64_t kMostTimes = 200;
      if (size_ / kMostTimes > packed_.size()) {
        return Error(fmt::format("unpacks to more than {} times its {} bytes", kMostTimes, packed_.size()),
                     packed_.place())
            .hint("if that is right, unpack it first");
      }
      return file_.append(piece);
    }
    memory_->bytes.insert(memory_->bytes.end(), piece.begin(), piece.end());
    return {};
  }

  // False = memory is better used for something else.
  bool make_room() {
    if (size_ <= memory_->bytes.capacity()) return true;
    if (size_ > most_) return false;
    const std::size_t room = std::max<std::size_t>(size_, memory_->bytes.capacity() * 2);
    auto reserved = work_->budget.reserve(room, "unpacking " + packed_.name());
    if (!reserved.ok()) return false;
    memory_->reservation = std::move(reserved).value();
    memory_->bytes.reserve(room);
    return true;
  }

  Result<Blob> in_memory() {
    const Bytes bytes(memory_->bytes);
    return Blob(packed_.name(), bytes, std::move(memory_));
  }
  Result<Blob> mapped() {
    auto mapping = map_guarded(file_.descriptor(), size_, packed_.name());
    if (mapping == nullptr) {
      return Error(fmt::format("cannot map what it unpacks to: {}", std::strerror(errno)), packed_.place());
    }
    const Bytes bytes(static_cast<const std::byte*>(mapping.get()), size_);
    return Blob(packed_.name(), bytes, std::move(mapping));
  }

  const Blob& packed_;
  Work work_;
  std::uint64_t most_;
  std::uint64_t size_ = 0;
  std::shared_ptr<InMemory> memory_ = std::make_shared<InMemory>();
  SpillFile file_;
  bool spilling_ = false;
};

}  // namespace

Result<Blob> unpack(const Blob& packed, const Work& work) { return Unpacker(packed, work).run(); }

}  // namespace fathom
