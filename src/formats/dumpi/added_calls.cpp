#include "formats/dumpi/added_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "io/file.hpp"

namespace fathom::dumpi {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "FATHOMC1";
constexpr std::size_t kRecordBytes = 20;  // which, thread, start, stop

std::uint64_t big_endian(const std::byte* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(at[i]);
  return value;
}

struct AddedCall {
  std::uint32_t region = 0;
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
};

struct SideFile {
  std::int64_t rank = 0;
  std::int64_t init_ns = 0;  // when MPI_Init was entered, on the clock of the process
  std::vector<std::string> names;
  Blob blob;
  std::size_t records_at = 0;
};

Result<SideFile> read_head(const fs::path& path, std::int64_t rank) {
  SideFile out;
  out.rank = rank;
  FATHOM_TRY(out.blob, map_file(path));
  const Bytes bytes = out.blob.bytes();
  const auto cut = [&](std::size_t at) {
    return Error("the file ends inside its head", Place::at_offset(out.blob.name(), at));
  };
  if (bytes.size() < kMagic.size() + 10) return cut(bytes.size());
  if (as_text(bytes.first(kMagic.size())) != kMagic) {
    return Error("not a file of calls of the recorder", Place::at_offset(out.blob.name(), 0));
  }
  out.init_ns = static_cast<std::int64_t>(big_endian(bytes.data() + 8, 8));
  const std::size_t names = big_endian(bytes.data() + 16, 2);
  std::size_t at = 18;
  for (std::size_t i = 0; i < names; ++i) {
    if (bytes.size() - at < 2) return cut(at);
    const std::size_t length = big_endian(bytes.data() + at, 2);
    at += 2;
    if (bytes.size() - at < length) return cut(at);
    out.names.emplace_back(as_text(bytes.subspan(at, length)));
    at += length;
  }
  out.records_at = at;
  return out;
}

class TraceWithCalls final : public Trace {
 public:
  TraceWithCalls(std::shared_ptr<const Trace> base, std::vector<std::string> names, Work work)
      : base_(std::move(base)), calls_(base_->location_count()) {
    definitions_ = base_->definitions();  // locations of threads that only made added calls come after the trace's own
    channels_.assign(base_->channels().begin(), base_->channels().end());
    markers_.assign(base_->markers().begin(), base_->markers().end());
    handles_.assign(base_->handles().begin(), base_->handles().end());
    communicators_.assign(base_->communicators().begin(), base_->communicators().end());
    activity_channels_.assign(base_->activity_channels().begin(), base_->activity_channels().end());
    has_cpu_time_ = base_->has_cpu_time();
    work_ = std::move(work);
    for (std::string& name : names) {
      Region region;
      region.name = std::move(name);
      region.paradigm = "mpi";
      region.role = "function";
      definitions_.regions.push_back(std::move(region));
    }
  }
  // A thread of a rank's process that the trace itself does not know.
  LocationId add_thread(LocationId of_rank, std::int64_t rank, std::int64_t thread) {
    SystemNode node;
    node.parent = definitions_.system.location(of_rank).parent;
    node.kind = SystemKind::location;
    node.type = "thread";
    node.name = fmt::format("thread {}", thread);
    node.rank = thread;
    node.label = fmt::format("{}.{}", rank, thread);
    calls_.emplace_back();
    return definitions_.system.add_location(std::move(node));
  }
  void add(LocationId location, AddedCall call) { calls_[location.index()].push_back(call); }
  void sort() {
    for (auto& list : calls_) {
      std::stable_sort(list.begin(), list.end(),
                       [](const AddedCall& a, const AddedCall& b) { return a.start_ns < b.start_ns; });
    }
  }

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    std::unique_ptr<EventStream> stream;
    if (of_base(location)) {
      FATHOM_TRY(stream, base_->open(location, window));
    }
    return std::unique_ptr<EventStream>(new Merged(std::move(stream), calls_[location.index()], location, window));
  }
  Result<void> detail(const Event& event, std::string& out) const override {
    return event.record == Event::kNoRecord ? Result<void>() : base_->detail(event, out);
  }
  // A call that was added may lie outside of what the base says of itself.
  [[nodiscard]] std::optional<TimeWindow> known_span() const override {
    std::optional<TimeWindow> span = base_->known_span();
    for (const auto& calls : calls_) span = widened(span, calls);
    return span;
  }
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId id) const override {
    return of_base(id) ? widened(base_->location_span(id), calls_[id.index()]) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId id) const override {
    return of_base(id) && calls_[id.index()].empty() ? base_->known_records(id) : std::nullopt;
  }

 private:
  [[nodiscard]] bool of_base(LocationId id) const { return id.index() < base_->location_count(); }
  static std::optional<TimeWindow> widened(std::optional<TimeWindow> span, const std::vector<AddedCall>& calls) {
    if (!span || calls.empty()) return span;
    span->from_ns = std::min(span->from_ns, calls.front().start_ns);
    for (const AddedCall& call : calls) span->to_ns = std::max(span->to_ns, call.stop_ns);
    return span;
  }

  // Calls of a location do not overlap: an enter and a leave go where their times are.
  class Merged final : public EventStream {
   public:
    Merged(std::unique_ptr<EventStream> base, const std::vector<AddedCall>& calls, LocationId location,
           TimeWindow window)
        : base_over_(base == nullptr), base_(std::move(base)), calls_(calls), location_(location), window_(window) {}

    Result<std::size_t> next(std::span<Event> out) override {
      std::size_t filled = 0;
      while (filled < out.size()) {
        FATHOM_CHECK(base_.status());
        if (own_ == nullptr && !base_over_) {
          own_ = base_.next();
          base_over_ = own_ == nullptr;
          FATHOM_CHECK(base_.status());
        }
        Event added;
        const bool any = next_added(added);
        // What is in effect comes first, and at one time what the trace says.
        if (own_ != nullptr && (!any || own_->carried || !own_->has_time || own_->time_ns <= added.time_ns)) {
          out[filled++] = *own_;
          own_ = nullptr;
          continue;
        }
        if (!any) break;
        advance();
        if (window_.contains(added)) out[filled++] = added;
      }
      return filled;
    }

   private:
    bool next_added(Event& event) const {
      if (at_ == calls_.size()) return false;
      const AddedCall& call = calls_[at_];
      event.time_ns = inside_ ? call.stop_ns : call.start_ns;
      event.kind = inside_ ? EventKind::leave : EventKind::enter;
      event.name = call.region;
      event.location = location_;
      event.has_value = false;
      return true;
    }
    void advance() {
      if (inside_) ++at_;
      inside_ = !inside_;
    }

    bool base_over_;  // also where the base has no such location
    EventCursor base_;
    const Event* own_ = nullptr;
    const std::vector<AddedCall>& calls_;
    std::size_t at_ = 0;
    bool inside_ = false;
    LocationId location_;
    TimeWindow window_;
  };

  std::shared_ptr<const Trace> base_;
  std::vector<std::vector<AddedCall>> calls_;  // by location
};

// Locations by rank and thread.
std::map<std::pair<std::int64_t, std::int64_t>, LocationId> locations_of(const Trace& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, LocationId> out;
  const SystemTree& system = trace.definitions().system;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const SystemNode& location = system.location(LocationId(i));
    const SystemNode& process = system.nodes[location.parent.index()];
    out[{process.rank.value_or(0), location.rank.value_or(0)}] = LocationId(i);
  }
  return out;
}

// When MPI_Init began, on the clock of the trace: the time of the first event of the rank.
Result<std::optional<std::int64_t>> first_time(const Trace& trace, LocationId location) {
  FATHOM_TRY(auto stream, trace.open(location, {}));
  EventCursor cursor(std::move(stream), 16);
  while (const Event* event = cursor.next()) {
    if (event->has_time) return std::optional(event->time_ns);
  }
  FATHOM_CHECK(cursor.status());
  return std::optional<std::int64_t>();
}

}  // namespace

Result<AddedCalls> with_added_calls(std::shared_ptr<const Trace> trace, const fs::path& metafile, const Work& work) {
  AddedCalls out;
  out.trace = trace;
  const std::string prefix = metafile.stem().string() + "-";
  std::vector<SideFile> sides;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(metafile.parent_path(), status)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".calls")) continue;
    const auto rank = parse_integer<std::int64_t>(entry.path().stem().string().substr(prefix.size()));
    if (!rank) continue;
    FATHOM_TRY(SideFile side, read_head(entry.path(), *rank));
    sides.push_back(std::move(side));
    out.files.push_back(entry.path());
  }
  std::sort(sides.begin(), sides.end(), [](const SideFile& a, const SideFile& b) { return a.rank < b.rank; });
  if (sides.empty()) return out;

  // The names that were used, after the trace's own regions.
  const std::size_t own = trace->definitions().regions.size();
  std::map<std::string, std::uint32_t, std::less<>> regions;
  std::vector<std::string> names;
  auto locations = locations_of(*trace);
  struct Placed {
    std::int64_t rank;
    std::int64_t thread;
    AddedCall call;
  };
  std::vector<Placed> placed;
  std::uint64_t lost = 0;
  for (const SideFile& side : sides) {
    const auto main = locations.find({side.rank, 0});
    std::int64_t shift = 0;
    if (main != locations.end()) {
      FATHOM_TRY(const auto begin, first_time(*trace, main->second));
      if (begin) shift = *begin - side.init_ns;
    }
    const Bytes bytes = side.blob.bytes();
    for (std::size_t at = side.records_at; bytes.size() - at >= kRecordBytes; at += kRecordBytes) {
      const std::size_t which = big_endian(bytes.data() + at, 2);
      const auto thread = static_cast<std::int64_t>(big_endian(bytes.data() + at + 2, 2));
      if (which >= side.names.size() || main == locations.end()) {
        ++lost;
        continue;
      }
      const auto [region, fresh] =
          regions.try_emplace(side.names[which], static_cast<std::uint32_t>(own + names.size()));
      if (fresh) names.push_back(side.names[which]);
      placed.push_back({side.rank,
                        thread,
                        {region->second, static_cast<std::int64_t>(big_endian(bytes.data() + at + 4, 8)) + shift,
                         static_cast<std::int64_t>(big_endian(bytes.data() + at + 12, 8)) + shift}});
    }
  }
  out.lost = lost;
  auto merged = std::make_shared<TraceWithCalls>(std::move(trace), std::move(names), work);
  for (const Placed& one : placed) {
    const auto [location, fresh] = locations.try_emplace({one.rank, one.thread});
    if (fresh) location->second = merged->add_thread(locations.at({one.rank, 0}), one.rank, one.thread);
    merged->add(location->second, one.call);
  }
  merged->sort();
  out.calls = placed.size();
  out.trace = std::move(merged);
  return out;
}

}  // namespace fathom::dumpi
