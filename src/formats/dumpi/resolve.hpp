// What handles stand for. Ids are local to a process and come back after a free, so that their meaning depends on the
// place in the stream: it is worked out once, from the records that create things, and kept as a list of changes.
#pragma once

#include "formats/dumpi/rank_set.hpp"
#include "trace/trace.hpp"

namespace fathom::dumpi {

// From behind record `number` on, the local id means `value`.
struct Change {
  std::uint64_t number = 0;
  std::int32_t id = 0;
  std::int64_t value = 0;
};

struct RankChanges {
  std::vector<Change> communicators;   // value: position in Resolution::communicators, -1 = not known
  std::vector<Change> sizes;           // value: bytes of a datatype
  std::vector<Change> windows;         // value: communicator
  std::vector<Change> window_numbers;  // value: which one of the communicator's windows
  std::vector<Change> groups;  // that windows are used with; value: its ranks as an entry of Resolution::communicators
  std::vector<Change> files;   // value: communicator
};

struct Resolution {
  static constexpr std::uint32_t kWorld = 0;
  static constexpr std::uint32_t kSelf = 1;
  std::vector<Communicator> communicators;  // [0] = world, [1] = self, which is another one on each rank
  std::vector<RankChanges> ranks;           // as RankSet::files()
  std::vector<std::int64_t> unordered;      // communicators of which only members that have files are known, ascending
  Work work;                                // whose budget the lists of members count in
  std::vector<Budget::Reservation> reserved;
};

Result<Resolution> resolve(const RankSet& set, const std::vector<ScanResult>& scans);

// A communicator as one rank sees it.
struct CommunicatorView {
  std::int32_t global = -1;                          // -1 = not known
  std::int32_t own = -1;                             // own rank in it
  std::int32_t size = 0;                             // of the own group; 0 = not known
  const std::vector<std::int32_t>* peers = nullptr;  // ranks of the run by rank in the communicator
  bool self = false;
  bool inter = false;

  // Ranks that a collective exchanges data with: the own group, or the other one of an inter-communicator.
  [[nodiscard]] std::int64_t partners() const {
    return self ? 1 : peers != nullptr ? static_cast<std::int64_t>(peers->size()) : 0;
  }
};

// The meaning of handles at one place of a rank's stream. Cheap to move forward.
class Tables {
 public:
  Tables(const File& file, const Resolution& resolution, std::size_t file_index, std::uint32_t rank);

  // Everything that was created before record `number`. Only forward.
  void advance(std::uint64_t number) {
    if (number > next_change_) apply(number);
  }
  [[nodiscard]] const CommunicatorView& communicator(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < communicators_.size() ? communicators_[index] : unknown_;
  }
  [[nodiscard]] const CommunicatorView& window(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < windows_.size() ? windows_[index] : unknown_;
  }
  [[nodiscard]] std::int32_t window_number(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < window_numbers_.size() ? window_numbers_[index] : 0;
  }
  // The ranks of a group that a window is posted to or started with, among the communicators; -1 = not known.
  [[nodiscard]] std::int64_t group(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < groups_.size() ? groups_[index] : -1;
  }
  [[nodiscard]] const CommunicatorView& file(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < files_.size() ? files_[index] : unknown_;
  }
  [[nodiscard]] std::int64_t size_of(std::int64_t datatype) const {
    const auto index = static_cast<std::size_t>(datatype);
    return datatype >= 0 && index < sizes_.size() ? sizes_[index] : 0;
  }
  // The rank of the run behind a rank of a communicator.
  [[nodiscard]] std::int32_t world_rank(const CommunicatorView& view, std::int64_t rank) const {
    if (rank < 0) return kNoPeer;
    if (view.self) return static_cast<std::int32_t>(rank_);
    if (view.peers == nullptr || static_cast<std::size_t>(rank) >= view.peers->size()) return kUnknownPeer;
    return (*view.peers)[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return (communicators_.size() + windows_.size()) * sizeof(CommunicatorView) + sizes_.size() * sizeof sizes_[0];
  }

 private:
  void apply(std::uint64_t number);
  [[nodiscard]] CommunicatorView view_of(std::int64_t global) const;
  void find_next();

  const Resolution* resolution_;
  const RankChanges* changes_;
  std::uint32_t rank_;
  std::size_t next_communicator_ = 0;
  std::size_t next_size_ = 0;
  std::size_t next_window_ = 0;
  std::size_t next_file_ = 0;
  std::size_t next_window_number_ = 0;
  std::size_t next_group_ = 0;
  std::uint64_t next_change_ = 0;
  CommunicatorView unknown_;
  std::vector<CommunicatorView> communicators_;
  std::vector<CommunicatorView> windows_;
  std::vector<CommunicatorView> files_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int32_t> window_numbers_;
  std::vector<std::int64_t> groups_;
};

// How sizes of datatypes change along a stream.
std::vector<Change> size_changes(const File& file, const ScanResult& scan);

// Bytes of a new datatype from the record that makes it; nothing when the record makes none or it cannot be told.
struct NewSize {
  std::int64_t datatype;
  std::int64_t bytes;
};
std::optional<NewSize> created_size(const Call& call, const std::vector<std::int64_t>& sizes);

}  // namespace fathom::dumpi
