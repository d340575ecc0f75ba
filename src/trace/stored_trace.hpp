// A trace whose events stand in a SliceStore: for formats that have them in no order that could be read in place.
#pragma once

#include "trace/slice_store.hpp"
#include "trace/trace.hpp"
#include "trace/window_index.hpp"

namespace fathom {

class StoredTrace : public Trace {
 public:
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override;
  [[nodiscard]] bool has_arrows() const override { return store_.has_arrows(); }
  [[nodiscard]] const SliceStore& store() const { return store_; }

  // A row and what it is in the system tree.
  struct RowNode {
    std::uint32_t row = 0;
    SystemNode node;
  };

 protected:
  explicit StoredTrace(const Work& work) : store_(work) { work_ = work; }

  // Arranges the rows and makes them locations: `order` has the rows in the order that locations shall have, and what
  // each is; its parents are in the system tree already. Rows that are not in it must be empty. What has no room in its
  // row becomes a location beside it. `shift_ns` is added to all times.
  Result<void> finish(std::vector<RowNode> order, std::uint32_t rows, const Place& place, std::int64_t shift_ns = 0);

  SliceStore store_;

 private:
  std::vector<StoredRow> by_location_;
  std::vector<std::optional<TimeWindow>> spans_;  // the same
  std::unique_ptr<WindowIndex[]> windows_;
  std::int64_t shift_ns_ = 0;
};

}  // namespace fathom
