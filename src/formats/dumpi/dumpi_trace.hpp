// DUMPI at the trace level: calls as regions, with messages, collectives and completions between enter and leave.
#pragma once

#include <algorithm>
#include <map>
#include <unordered_map>

#include "formats/dumpi/resolve.hpp"
#include "trace/details.hpp"
#include "trace/window_index.hpp"

namespace fathom::dumpi {

// Receives from anybody without a status, while their senders are still being looked for, have peers from here down.
inline constexpr std::int32_t kFirstStranger = -3;

class DumpiTrace final : public Trace, public ManyDetails {
 public:
  static Result<std::shared_ptr<const DumpiTrace>> make(std::shared_ptr<const RankSet> set);

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  Result<void> detail(const Event& event, std::string& out) const override;
  Result<void> details(std::span<const Event> events, std::string& out, std::vector<std::int64_t>& ends) const override;
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId location) const override;
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override;

  [[nodiscard]] const RankSet& set() const { return *set_; }
  [[nodiscard]] const Resolution& resolution() const { return resolution_; }

  struct Where {
    std::size_t file = 0;
    std::uint16_t thread = 0;
  };
  [[nodiscard]] Where where(LocationId location) const { return where_[location.index()]; }
  [[nodiscard]] RegionId region_of(std::uint16_t id) const { return regions_[id]; }
  [[nodiscard]] RegionId region_of_address(std::size_t file, std::uint64_t address) const;
  [[nodiscard]] std::uint32_t marker_of(std::size_t file, std::uint64_t address) const;
  // Whether a send (Pending::sequence) was cancelled: nothing is sent then.
  [[nodiscard]] bool is_cancelled(std::size_t file, std::uint64_t sequence) const {
    const auto& list = cancelled_[file];
    return !list.empty() && std::binary_search(list.begin(), list.end(), sequence);
  }
  // Who sent what the n-th receive of the location from anybody without a status got.
  [[nodiscard]] std::int32_t sender_of_stranger(LocationId location, std::size_t n) const {
    if (senders_.empty()) return kFirstStranger - static_cast<std::int32_t>(n);
    const auto& list = senders_[location.index()];
    return n < list.size() ? list[n] : kUnknownPeer;
  }
  [[nodiscard]] std::span<const std::uint32_t> counters_of(std::size_t file) const { return counters_[file]; }

 private:
  // Where the last record that was asked for lies, so that reading details in order costs nothing.
  struct Position {
    std::mutex mutex;
    std::uint64_t number = 0;
    std::uint64_t offset = 0;
  };
  // Reads the record of an enter or a leave; `bytes` are of its file.
  Result<void> read_call(const Event& event, Bytes bytes, Call& call) const;
  Result<Call> call_at(std::size_t file, std::uint64_t number, Bytes bytes) const;

  std::shared_ptr<const RankSet> set_;
  const std::vector<ScanResult>* scans_ = nullptr;
  Resolution resolution_;
  std::vector<Where> where_;
  std::array<RegionId, kIds> regions_{};
  // Per file, by address: labels are local to a process.
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> address_regions_;
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> address_markers_;
  std::vector<std::vector<std::uint32_t>> counters_;   // metric of each counter of a file
  std::vector<std::vector<std::uint64_t>> cancelled_;  // sends of each file
  std::vector<std::vector<std::int32_t>> senders_;     // by location, as senders_of_strangers() gives them
  std::unique_ptr<Position[]> positions_;
  std::unique_ptr<WindowIndex[]> windows_;  // by location
};

}  // namespace fathom::dumpi
