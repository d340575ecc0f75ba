// The trace level of an archive.
#pragma once

#include <atomic>
#include <mutex>

#include "formats/otf2/mapping.hpp"
#include "trace/window_index.hpp"

namespace fathom::otf2 {

class Otf2Trace : public Trace {
 public:
  static Result<std::shared_ptr<const Otf2Trace>> make(std::shared_ptr<const Archive> archive);

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  Result<void> detail(const Event& event, std::string& out) const override;
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override;
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId location) const override;

  // Of a location's file of events, for dealing out work.
  [[nodiscard]] std::uint64_t event_bytes(LocationId location) const;

  // For streams.
  [[nodiscard]] const Archive& archive() const { return *archive_; }
  [[nodiscard]] const Mapping& mapping() const { return mapping_; }
  [[nodiscard]] const LocalDefinitions& local(LocationId location) const { return locals_[location.index()]; }
  // Damage at an offset of a location's events is told once, however many streams come across it.
  Result<void> report(LocationId location, const Blob& blob, std::uint64_t offset, Severity severity,
                      std::string_view id, std::string text) const;
  // True once per location: what was counted over all of it is told by the first stream that reaches the end.
  [[nodiscard]] bool first_to_finish(LocationId location) const { return !finished_[location.index()].exchange(true); }

 private:
  Result<void> read_locals();
  Result<void> find_lost_regions();
  Result<void> read_notes();
  // Of a location's file of events, from its two ends; nothing = not without a pass.
  [[nodiscard]] std::optional<TimeWindow> span_of(std::size_t location) const;
  [[nodiscard]] std::optional<TimeWindow> read_span(std::size_t location, const LocalDefinitions& local) const;

  std::shared_ptr<const Archive> archive_;
  Mapping mapping_;
  std::vector<LocalDefinitions> locals_;
  // What one process of a team found at the ends of a file of events, for all; without a team it is looked up when it
  // is asked for.
  struct Ends {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> records;
    std::optional<TimeWindow> span;
  };
  std::vector<Ends> ends_;  // by location, or empty
  struct Read;
  std::vector<std::vector<Event>> notes_;                   // of the file of markers, by location
  std::unique_ptr<std::atomic<std::uint64_t>[]> reported_;  // offsets below are told
  std::unique_ptr<std::atomic<bool>[]> finished_;
  std::unique_ptr<WindowIndex[]> windows_;  // by location
  // Files that details were asked of.
  [[nodiscard]] Result<Blob> kept_events(std::size_t location) const;
  mutable std::mutex blobs_mutex_;
  mutable std::map<std::size_t, Blob> blobs_;
  mutable std::once_flag span_once_;
  mutable std::optional<TimeWindow> span_;
};

}  // namespace fathom::otf2
