#ifdef FATHOM_HAS_OTF2

#include "formats/otf2/trace_writer.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_Pthread_Locks.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/capped_sum.hpp"
#include "base/share_out.hpp"
#include "formats/otf2/anchor.hpp"
#include "formats/otf2/definition_writer.hpp"
#include "formats/otf2/rewrite.hpp"
#include "io/file.hpp"
#include "io/fingerprint.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "trace/extent.hpp"

namespace fathom::otf2 {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEventChunk = 1 << 20;
constexpr std::uint64_t kDefinitionChunk = 4 << 20;

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

// The library prints what goes wrong unless somebody listens; here errors are results.
struct Listener {
  std::mutex mutex;
  std::string text;
};
OTF2_ErrorCode listen(void* user, const char* file, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                      va_list arguments) {
  (void)file;
  auto& listener = *static_cast<Listener*>(user);
  char text[512];
  (void)std::vsnprintf(text, sizeof(text), format, arguments);
  const std::scoped_lock lock(listener.mutex);
  if (listener.text.empty()) listener.text = fmt::format("{}: {}", OTF2_Error_GetDescription(code), text);
  return code;
}

class ListenToLibrary {
 public:
  ListenToLibrary() : before_(OTF2_Error_RegisterCallback(listen, &listener_)) {}
  ~ListenToLibrary() { OTF2_Error_RegisterCallback(before_, nullptr); }
  ListenToLibrary(const ListenToLibrary&) = delete;
  ListenToLibrary& operator=(const ListenToLibrary&) = delete;
  [[nodiscard]] const std::string& text() const { return listener_.text; }

 private:
  Listener listener_;
  OTF2_ErrorCallback before_;
};

// The library gives every archive a number that is drawn by lot; one made from its definitions keeps the bytes of
// archives of the same trace the same.
Result<void> set_trace_id(const fs::path& anchor_file, const fs::path& definitions_file) {
  FATHOM_TRY(const Blob definitions, map_file(definitions_file));
  FATHOM_TRY(const Blob anchor_blob, map_file(anchor_file));
  FATHOM_TRY(const Anchor anchor, read_anchor(anchor_blob, make_work()));
  std::string text(anchor_blob.text());
  const auto bytes_of = [](std::uint64_t number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  };
  const std::size_t at = text.rfind(bytes_of(anchor.trace_id));
  if (at == std::string::npos) return {};
  Fingerprint print;
  print.add(definitions.text());
  const std::uint64_t hash = std::stoull(print.text().substr(0, 2 * sizeof(std::uint64_t)), nullptr, 16);
  text.replace(at, sizeof hash, bytes_of(hash));
  return write_file(anchor_file, text);
}

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { (void)OTF2_Archive_Close(archive); }
};

class Writer {
 public:
  Writer(const Trace& trace, const Work& work, WriterPlan plan)
      : trace_(trace), work_(work), plan_(std::move(plan)), ids_(trace), written_(plan_.locations.size()) {}

  // Locations are dealt out to the processes of a team. Files of events know nothing of each other: whoever is not the
  // first writes them in an archive of its own, and puts them into that of the first, which writes all definitions.
  Result<void> write(const std::filesystem::path& directory, const std::string& name) {
    FATHOM_TRY(Share share, Share::of("writing events", plan_.locations.size(), [&](std::size_t i) {
                 return i < trace_.location_count() ? extent(trace_, LocationId(i)) : 1;
               }));
    FATHOM_CHECK(find_start(share));
    const bool first = share.alone() || team().first();
    const fs::path place = first ? directory : directory / fmt::format("part-{}", team().rank());
    const bool writes = first || !share.mine().empty();
    if (writes) {
      FATHOM_CHECK(open(place, name));
      FATHOM_CHECK(write_events(share));
    }
    if (!share.alone()) {
      // The first has made the directory of its archive by then.
      FATHOM_CHECK(team().assemble("events are written"));
      if (writes && !first) FATHOM_CHECK(hand_over(place, name, directory));
      FATHOM_CHECK(bring_together(share, written_, Holder::first));
    }
    FATHOM_CHECK(write_local_definitions());
    FATHOM_CHECK(write_definitions());
    FATHOM_CHECK(
        must(OTF2_Archive_SetBoolProperty(archive_.get(), "OTF2::MPI_COMMUNICATION_COMPLETE", complete_, true)));
    FATHOM_CHECK(must(OTF2_Archive_Close(archive_.release())));
    if (first) FATHOM_CHECK(set_trace_id(directory / (name + ".otf2"), directory / (name + ".def")));
    return tell();
  }

 private:
  Result<void> open(const fs::path& directory, const std::string& name) {
    archive_.reset(OTF2_Archive_Open(directory.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, kEventChunk,
                                     kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
    if (!archive_) return failed("cannot create the archive");
    static const OTF2_FlushCallbacks kFlush = {always_flush, no_time};
    FATHOM_CHECK(must(OTF2_Archive_SetFlushCallbacks(archive_.get(), &kFlush, nullptr)));
    FATHOM_CHECK(must(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get())));
    FATHOM_CHECK(must(OTF2_Pthread_Archive_SetLockingCallbacks(archive_.get(), nullptr)));
    return must(OTF2_Archive_SetCreator(archive_.get(), "Fathom"));
  }

  Result<void> must(OTF2_ErrorCode code) const {
    if (code == OTF2_SUCCESS) return {};
    return failed(OTF2_Error_GetDescription(code));
  }
  [[nodiscard]] Error failed(std::string_view what) const {
    return Error(fmt::format("the OTF2 library: {}", listening_.text().empty() ? what : listening_.text()));
  }

  // Times of an archive are not negative; those of a trace may be.
  Result<void> find_start(const Share& share) {
    std::vector<std::int64_t> found;
    std::mutex mutex;
    const auto first = [&](std::size_t i) -> Result<void> {
      if (i >= trace_.location_count()) return {};
      FATHOM_TRY(auto stream, trace_.open(LocationId(i), {}));
      EventCursor cursor(std::move(stream), 16);
      while (const Event* event = cursor.next()) {
        if (!event->has_time) continue;
        const std::scoped_lock lock(mutex);
        found.push_back(event->time_ns);
        break;
      }
      return cursor.status();
    };
    const std::vector<std::size_t>& mine = share.mine();
    FATHOM_CHECK(parallel_for(mine.size(), [&](std::size_t n) { return first(mine[n]); }));
    FATHOM_TRY(const auto all, team().gather_all(packed(found)));
    found.clear();
    for (const Parcel& parcel : all) {
      FATHOM_TRY(const auto times, unpacked<std::vector<std::int64_t>>(parcel));
      found.insert(found.end(), times.begin(), times.end());
    }
    if (!found.empty()) start_ns_ = *std::min_element(found.begin(), found.end());
    zero_ns_ = std::min<std::int64_t>(start_ns_, 0);  // times have no sign there
    return {};
  }

  Result<void> write_events(Share& share) {
    FATHOM_CHECK(must(OTF2_Archive_OpenEvtFiles(archive_.get())));
    const auto write_one = [&](std::size_t i) -> Result<void> {
      OTF2_EvtWriter* const out = OTF2_Archive_GetEvtWriter(archive_.get(), plan_.locations[i].id);
      if (out == nullptr) return failed("cannot write events");
      if (i < trace_.location_count()) {
        EventWriter writer(trace_, plan_, ids_, LocationId(i), out, zero_ns_, start_ns_);
        FATHOM_TRY(written_[i], writer.write());
      }
      return must(OTF2_Archive_CloseEvtWriter(archive_.get(), out));
    };
    FATHOM_CHECK(share.each(write_one));
    return must(OTF2_Archive_CloseEvtFiles(archive_.get()));
  }

  Result<void> hand_over(const fs::path& own, const std::string& name, const fs::path& directory) {
    FATHOM_CHECK(must(OTF2_Archive_Close(archive_.release())));
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(own / name, status)) {
      if (entry.path().extension() != ".evt") continue;
      fs::rename(entry.path(), directory / name / entry.path().filename(), status);
      if (status) break;
    }
    if (status) {
      return Error(fmt::format("cannot be written: {}", status.message()), Place::in((directory / name).string()));
    }
    fs::remove_all(own, status);
    return {};
  }

  // Empty ones: other readers complain where there are none.
  Result<void> write_local_definitions() {
    FATHOM_CHECK(must(OTF2_Archive_OpenDefFiles(archive_.get())));
    for (const PlannedLocation& location : plan_.locations) {
      OTF2_DefWriter* const out = OTF2_Archive_GetDefWriter(archive_.get(), location.id);
      if (out == nullptr) return failed("cannot write definitions");
      FATHOM_CHECK(must(OTF2_Archive_CloseDefWriter(archive_.get(), out)));
    }
    return must(OTF2_Archive_CloseDefFiles(archive_.get()));
  }

  Result<void> write_definitions() {
    OTF2_GlobalDefWriter* const out = OTF2_Archive_GetGlobalDefWriter(archive_.get());
    if (out == nullptr) return failed("cannot write definitions");
    WrittenSpan span;
    bool any = false;
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t lost = 0;
    for (const WrittenLocation& location : written_) {
      sends += location.sends;
      receives += location.receives;
      lost += location.lost_peers;
      if (!location.any) continue;
      const std::uint64_t first = since(zero_ns_, location.first_ns);
      const std::uint64_t last = since(zero_ns_, location.last_ns);
      span.first_ns = any ? std::min(span.first_ns, first) : first;
      span.last_ns = any ? std::max(span.last_ns, last) : last;
      any = true;
    }
    complete_ = sends == receives && lost == 0;
    std::vector<std::uint64_t> events;
    for (const WrittenLocation& location : written_) events.push_back(location.events);
    DefinitionWriter writer(trace_, plan_, ids_, out);
    FATHOM_CHECK(must(writer.write(span, events)));
    return must(OTF2_Archive_CloseGlobalDefWriter(archive_.get(), out));
  }

  Result<void> tell() const {
    const auto sum = [&](std::uint64_t WrittenLocation::*member) {
      std::uint64_t total = 0;
      for (const WrittenLocation& location : written_) total += location.*member;
      return total;
    };
    const auto note = [&](std::string_view id, Severity severity, std::uint64_t count, std::string_view text) {
      return count == 0 ? Result<void>{} : work_->diagnostics.add(id, severity, Place{}, std::string(text), count);
    };
    FATHOM_CHECK(note("otf2.event_without_time", Severity::warning, sum(&WrittenLocation::timeless),
                      "events without a time get that of the event before them"));
    FATHOM_CHECK(note("otf2.resumed", Severity::data_loss, sum(&WrittenLocation::resumed),
                      "regions that go on behind the end of one they cross are written as calls of their own"));
    FATHOM_CHECK(note("otf2.cpu_times", Severity::data_loss, sum(&WrittenLocation::cpu_times),
                      "the CPU time of a region is not written"));
    FATHOM_CHECK(note("otf2.late_event", Severity::warning, sum(&WrittenLocation::backwards),
                      "events that come late get the time of the event before them"));
    FATHOM_CHECK(note("otf2.lost_peer", Severity::warning, sum(&WrittenLocation::lost_peers),
                      "messages whose peer is not in their communicator are written with an undefined rank"));
    FATHOM_CHECK(note("otf2.lost_peer", Severity::data_loss, sum(&WrittenLocation::null_peers),
                      "messages to and from nobody (the null process) are written with an undefined rank"));
    FATHOM_CHECK(note("otf2.nameless_event", Severity::data_loss, sum(&WrittenLocation::nameless),
                      "events of channels, metrics or markers that are not defined are left out"));
    FATHOM_CHECK(
        note("otf2.marker_detail", Severity::data_loss, sum(&WrittenLocation::details),
             "markers are written with their values alone: peer, bytes, communicator and origin have no place"));
    return note("otf2.unknown_operation", Severity::warning, sum(&WrittenLocation::unknown_operations),
                "collectives that OTF2 has no operation for are written as barrier or all-to-all");
  }

  const Trace& trace_;
  const Work& work_;
  WriterPlan plan_;
  WriterIds ids_;
  ListenToLibrary listening_;
  std::unique_ptr<OTF2_Archive, CloseArchive> archive_;
  std::vector<WrittenLocation> written_;
  std::int64_t start_ns_ = 0;
  std::int64_t zero_ns_ = 0;  // what is written as 0
  bool complete_ = false;
};

}  // namespace

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work) {
  // One at a time: whom the library tells its errors is a matter of the whole process.
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  FATHOM_TRY(WriterPlan plan, WriterPlan::of(trace, work));
  FATHOM_TRY(ArchiveTarget made, ArchiveTarget::at(target, work->options.flag(kForce)));
  Writer writer(trace, work, std::move(plan));
  if (auto written = writer.write(made.directory(), made.name()); !written) {
    return std::move(written).error().where(Place::in(target.string()));
  }
  return made.commit();
}

}  // namespace fathom::otf2

#endif
