#include "formats/otf2/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/share_out.hpp"
#include "formats/otf2/event_file.hpp"

namespace fathom::otf2 {

namespace {

// Whether enters and leaves of a location fit together.
class Nesting {
 public:
  explicit Nesting(const Otf2Trace& trace) : trace_(trace) {}

  void take(const Event& event) {
    if (event.kind == EventKind::enter) {
      stack_.push_back(event.name);
      ++open_[event.name];
    } else if (event.kind == EventKind::leave) {
      leave(event);
    } else if (event.kind == EventKind::marker) {
      const MarkerMeaning meaning = trace_.meaning(event);
      if (meaning == MarkerMeaning::task_switch) switch_task(event.value);
      if (meaning == MarkerMeaning::task_end && event.value == task_) switch_task(0);
    }
  }
  Result<void> tell(const std::string& file, Diagnostics& diagnostics) const {
    std::uint64_t still_open = stack_.size();
    for (const auto& [task, stack] : suspended_) still_open += stack.size();
    const auto note = [&](std::string_view id, std::uint64_t count, std::string_view text) -> Result<void> {
      if (count == 0) return {};
      return diagnostics.add(id, Severity::warning, Place::in(file), std::string(text), count);
    };
    FATHOM_CHECK(note("otf2.leave_out_of_order", out_of_order_, "leaves of a region that is not the innermost one"));
    FATHOM_CHECK(note("otf2.leave_unmatched", unmatched_, "leaves of a region that is not open"));
    return note("otf2.open_at_end", still_open, "regions are never left");
  }

 private:
  void leave(const Event& event) {
    if (open_[event.name] == 0) {
      ++unmatched_;
      return;
    }
    if (!stack_.empty() && stack_.back() != event.name) ++out_of_order_;
    while (!stack_.empty()) {
      const std::uint32_t top = stack_.back();
      stack_.pop_back();
      --open_[top];
      if (top == event.name) break;
    }
  }
  void switch_task(std::int64_t task) {
    if (task == task_) return;
    suspended_[task_] = std::move(stack_);
    stack_ = std::move(suspended_[task]);
    suspended_.erase(task);
    task_ = task;
  }

  const Otf2Trace& trace_;
  std::vector<std::uint32_t> stack_;
  std::unordered_map<std::uint32_t, std::uint64_t> open_;
  std::unordered_map<std::int64_t, std::vector<std::uint32_t>> suspended_;
  std::int64_t task_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t unmatched_ = 0;
};

Result<void> check_location(const Otf2Trace& trace, LocationId location) {
  const Archive& archive = trace.archive();
  const LocationDef& def = archive.definitions.locations.all[location.index()];
  const std::string file = archive.files->name(def.id, "evt");
  FATHOM_TRY(auto stream, trace.open(location, {}));
  EventCursor cursor(std::move(stream), 1024);
  Nesting nesting(trace);
  while (const Event* event = cursor.next()) nesting.take(*event);
  FATHOM_CHECK(cursor.status());
  FATHOM_CHECK(nesting.tell(file, archive.work->diagnostics));
  const auto recorded = trace.known_records(location);
  if (recorded && *recorded != def.events) {
    FATHOM_CHECK(archive.work->diagnostics.warn(
        "otf2.event_count", Place::in(file),
        fmt::format("location {} has {} events where its definition says {}", def.id, *recorded, def.events)));
  }
  return {};
}

// Names of things that nothing defines.
Result<void> check_references(const Archive& archive) {
  const GlobalDefinitions& native = archive.definitions;
  std::uint64_t strings = 0;
  const auto text = [&](std::uint32_t id) {
    if (id != kUndefined32 && native.strings.find(id) == nullptr) ++strings;
  };
  for (const auto& def : native.regions.all) text(def.name);
  for (const auto& def : native.nodes.all) text(def.name);
  for (const auto& def : native.groups.all) text(def.name);
  for (const auto& def : native.locations.all) text(def.name);
  for (const auto& def : native.members.all) text(def.name);
  for (const auto& def : native.comms.all) text(def.name);
  std::uint64_t groups = 0;
  for (const auto& def : native.comms.all) groups += native.sets.find(def.group) == nullptr ? 1 : 0;
  const auto note = [&](std::string_view id, std::uint64_t count, std::string_view what) -> Result<void> {
    if (count == 0) return {};
    return archive.work->diagnostics.add(id, Severity::warning, native.blob.place(), std::string(what), count);
  };
  FATHOM_CHECK(note("otf2.undefined_string", strings, "definitions whose name is not defined"));
  FATHOM_CHECK(note("otf2.undefined_comm_group", groups, "communicators whose group is not defined"));
  if (archive.anchor.locations != native.locations.size()) {
    FATHOM_CHECK(archive.work->diagnostics.warn(
        "otf2.location_count", native.blob.place(),
        fmt::format("{} locations where the anchor counts {}", native.locations.size(), archive.anchor.locations)));
  }
  return {};
}

}  // namespace

Result<void> check_archive(const Otf2Trace& trace) {
  FATHOM_CHECK(check_references(trace.archive()));
  if (!trace.archive().definitions.damaged) FATHOM_CHECK(note_stray_files(trace.archive()));
  const auto bytes = [&](std::size_t i) { return trace.event_bytes(LocationId(i)); };
  FATHOM_CHECK(share_each("checking events", trace.location_count(), bytes,
                          [&](std::size_t i) { return check_location(trace, LocationId(i)); }));
  std::uint64_t backwards = 0;
  FATHOM_CHECK(trace.messages({}, [&](const Message& message) {
    if (message.sent_ns && message.received_ns && *message.received_ns < *message.sent_ns) ++backwards;
    return true;
  }));
  if (backwards == 0) return {};
  return trace.archive().work->diagnostics.add("otf2.clock_error", Severity::warning,
                                               trace.archive().definitions.blob.place(),
                                               "messages arrive before they were sent: clocks disagree", backwards);
}

}  // namespace fathom::otf2
