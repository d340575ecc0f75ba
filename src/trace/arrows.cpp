#include "trace/arrows.hpp"

#include <algorithm>

namespace fathom {

namespace {

bool arrives(const Event& event) { return event.kind == EventKind::marker && event.origin != Event::kNoRecord; }

Result<void> for_each_event(const Trace& trace, const std::function<void(const Event&)>& take) {
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    FATHOM_TRY(auto stream, trace.open(LocationId(i), {}));
    EventCursor cursor(std::move(stream));
    while (const Event* event = cursor.next()) take(*event);
    FATHOM_CHECK(cursor.status());
  }
  return {};
}

}  // namespace

Arrows::Arrows(const Work& work) : pool_(work->budget.limit() / 8), tails_(pool_) {}

Result<void> Arrows::find(const Trace& trace) {
  if (!trace.has_arrows()) return {};
  FATHOM_CHECK(gather(trace));
  FATHOM_CHECK(for_each_event(trace, [&](const Event& event) { look_for_tail(event); }));
  for (std::size_t i = 0; i + 1 < tails_.size(); ++i) {
    if (tails_[i].found == 0) without_beginning_ += tails_[i + 1].first - tails_[i].first;
  }
  return {};
}

Result<void> Arrows::gather(const Trace& trace) {
  LargeArray<std::uint64_t> origins(pool_);
  FATHOM_CHECK(for_each_event(trace, [&](const Event& event) {
    if (arrives(event)) origins.push_back(event.origin);
  }));
  std::sort(origins.begin(), origins.end());
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (i == 0 || origins[i] != origins[i - 1]) tails_.push_back({origins[i], i + 1, 0, Leaves::nowhere, 0});
  }
  tails_.push_back({Event::kNoRecord, origins.size() + 1, 0, Leaves::nowhere, 0});
  return pool_.status();
}

Arrows::Tail* Arrows::tail_of(std::uint64_t record) {
  if (tails_.empty() || record == Event::kNoRecord) return nullptr;
  const auto found = std::lower_bound(tails_.begin(), tails_.end(), record,
                                      [](const Tail& tail, std::uint64_t wanted) { return tail.record < wanted; });
  return found->record == record ? found : nullptr;
}

// A slice and markers may be of one record. Who has made a marker for an end of an arrow has it there.
void Arrows::look_for_tail(const Event& event) {
  if (event.kind != EventKind::enter && event.kind != EventKind::marker) return;
  Tail* tail = tail_of(event.record);
  if (tail == nullptr) return;
  tail->found = 1;
  if (event.kind == EventKind::marker) {
    tail->from = Leaves::marker;
  } else if (tail->from == Leaves::nowhere) {
    tail->from = Leaves::enter;
  }
}

ArrowEnds Arrows::at(const Event& event) {
  ArrowEnds ends;
  const bool marker = event.kind == EventKind::marker;
  if (!marker && event.kind != EventKind::enter) return ends;
  Tail* own = tail_of(event.record);
  if (own != nullptr && own->from == (marker ? Leaves::marker : Leaves::enter)) {
    ends.first_leaving = own->first;
    ends.leaving = own[1].first - own->first;
    own->from = Leaves::nowhere;
  }
  if (!arrives(event)) return ends;
  Tail* other = tail_of(event.origin);
  if (other != nullptr && other->found != 0) ends.arriving = other->first + other->arrived++;
  return ends;
}

}  // namespace fathom
