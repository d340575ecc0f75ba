#include "formats/ovni/native_trace.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/pack.hpp"
#include "base/share_out.hpp"
#include "base/text.hpp"
#include "io/file.hpp"
#include "io/file_sizes.hpp"
#include "io/temporary.hpp"

namespace fathom::ovni {

template <class Pack>
static void pack_fields(Pack& pack, MarkType& mark) {
  pack(mark.type, mark.title, mark.channel, mark.labels);
}
template <class Pack>
static void pack_fields(Pack& pack, Metadata& data) {
  pack(data.version, data.part, data.loom, data.tid, data.pid, data.app_id, data.rank, data.nranks, data.cpus,
       data.require, data.lib_version, data.lib_commit, data.finished, data.marks, data.can_breakdown, data.counters,
       data.model_version, data.attributes, data.defects);
}
// Without the bytes.
template <class Pack>
static void pack_fields(Pack& pack, Stream& stream) {
  pack(stream.path, stream.file, stream.metadata_file, stream.order, stream.begin, stream.metadata,
       stream.metadata_text);
}

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHeaderSize = 8;
constexpr std::uint32_t kStreamVersion = 1;
constexpr int kEntriesToLookAt = 20000;

// What names say about a version 1 or 2 stream.
struct OldName {
  std::string loom, pid, tid;
};

std::optional<std::string> behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return {};
  return std::string(name.substr(prefix.size()));
}

// "thread.T" or "thread.T.obs" in "proc.P"; the loom's name may be out of sight when a part of a trace is opened.
std::optional<OldName> old_name(const fs::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".obs")) name.resize(name.size() - 4);
  const auto tid = behind(name, "thread.");
  if (!tid || tid->find_first_not_of("0123456789") != std::string::npos) return {};
  std::error_code status;
  const fs::path process = fs::absolute(file, status).lexically_normal().parent_path();
  const auto pid = behind(process.filename().string(), "proc.");
  if (!pid) return {};
  return OldName{behind(process.parent_path().filename().string(), "loom.").value_or(""), *pid, *tid};
}

// "incomplete stream header" and the like; fills in order and begin.
Result<void> read_header(Stream& stream, bool may_lack_header) {
  const Bytes bytes = stream.blob.bytes();
  const bool magic = stream.blob.starts_with("ovni");
  if (!magic && may_lack_header) {
    // Without a header the byte order shows in the first clock: it counts nanoseconds since boot, so its upper bytes
    // are zero and the right reading is the smaller one.
    if (bytes.size() >= kEventHeader) {
      const auto little = load_unchecked<std::uint64_t>(bytes.data() + 4, Endian::little);
      const auto big = load_unchecked<std::uint64_t>(bytes.data() + 4, Endian::big);
      stream.order = big < little ? Endian::big : Endian::little;
    }
    return {};
  }
  if (bytes.empty()) return Error("stream is empty: expected a header of 8 bytes", stream.blob.place());
  if (bytes.size() < kHeaderSize) {
    return Error(fmt::format("incomplete stream header: expected 8 bytes, found {}", bytes.size()),
                 stream.blob.place());
  }
  if (!magic) return Error("bad stream header: expected 'ovni'", stream.blob.place());
  const auto version = load_unchecked<std::uint32_t>(bytes.data() + 4, Endian::little);
  if (version == kStreamVersion) {
    stream.order = Endian::little;
  } else if (byte_swapped(version) == kStreamVersion) {
    stream.order = Endian::big;
  } else {
    return Error(fmt::format("stream version mismatch: expected {}, found {}", kStreamVersion, version),
                 stream.blob.place(4));
  }
  stream.begin = kHeaderSize;
  return {};
}

struct Found {
  fs::path file;
  fs::path metadata;  // stream.json, or metadata.json of the process
  std::string path;   // as printed
};

std::string relative_path(const fs::path& path, const fs::path& root) {
  return path.lexically_relative(root).generic_string();
}

struct Finding {
  std::vector<Found> streams;       // of version 3
  std::vector<Found> old;           // of versions 1 and 2
  std::vector<fs::path> orphans;    // events of version 3 without their metadata
  std::optional<fs::path> foreign;  // a file that has no place in a trace
  std::vector<fs::path> closed;     // directories that may not be read
};

template <class Pack>
void pack_fields(Pack& pack, Found& found) {
  pack(found.file, found.metadata, found.path);
}
template <class Pack>
void pack_fields(Pack& pack, Finding& finding) {
  pack(finding.streams, finding.old, finding.orphans, finding.foreign, finding.closed);
}

// What may lie in a trace besides streams: the table of offsets, metadata, and views that were written into it.
bool belongs_to_trace(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string extension = file.extension().string();
  return name == "clock-offsets.txt" || name == "metadata.json" || name.starts_with("thread.") || extension == ".prv" ||
         extension == ".pcf" || extension == ".row" || extension == ".cfg";
}

enum class Step : std::uint8_t { on, around, stop };

// Shows all entries below a directory to `look`. Directories are entered once, those that links lead to as well: a
// trace may be put together from the disks of several nodes.
template <class Look>
std::error_code walk_through(const fs::path& root, const Look& look) {
  std::set<std::pair<dev_t, ino_t>> entered;
  const auto is_new = [&](const fs::path& directory) {
    struct stat about = {};
    return ::stat(directory.c_str(), &about) == 0 && entered.emplace(about.st_dev, about.st_ino).second;
  };
  std::vector<fs::path> tops{root};  // behind the first one: links to directories
  for (std::size_t i = 0; i < tops.size(); ++i) {
    if (!is_new(tops[i])) continue;
    std::error_code status;
    fs::recursive_directory_iterator walk(tops[i], fs::directory_options::skip_permission_denied, status);
    while (!status && walk != fs::recursive_directory_iterator()) {
      std::error_code ignored;
      const Step step = look(*walk);
      if (step == Step::stop) return {};
      if (!walk->is_directory(ignored) || step == Step::around) {
        walk.disable_recursion_pending();
      } else if (walk->is_symlink(ignored)) {
        tops.push_back(walk->path());
      } else if (!is_new(walk->path())) {
        walk.disable_recursion_pending();
      }
      walk.increment(status);
    }
    if (status) return status;
    std::sort(tops.begin() + static_cast<std::ptrdiff_t>(i) + 1, tops.end());
  }
  return {};
}

Result<Finding> find_streams(const fs::path& root) {
  Finding finding;
  const auto look_at = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    if (name == "stream.json") {
      finding.streams.push_back({file.parent_path() / "stream.obs", file, relative_path(file.parent_path(), root)});
    } else if (old_name(file)) {
      std::string path = relative_path(file, root);
      if (path.ends_with(".obs")) path.resize(path.size() - 4);
      finding.old.push_back({file, file.parent_path() / "metadata.json", std::move(path)});
    } else if (name == "stream.obs") {
      std::error_code ignored;
      if (!fs::exists(file.parent_path() / "stream.json", ignored)) finding.orphans.push_back(file);
    } else if (!belongs_to_trace(file) && !finding.foreign) {
      finding.foreign = file;
    }
  };
  // What has the name of a stream counts whatever it is: a pipe, say, is told when it cannot be opened.
  const auto has_name_of_stream = [](const fs::path& file) {
    return file.filename() == "stream.json" || file.filename() == "stream.obs" || old_name(file);
  };
  const auto status = walk_through(root, [&](const fs::directory_entry& entry) {
    std::error_code ignored;
    if (is_temporary_name(entry.path().filename().native())) return Step::around;
    if (entry.is_regular_file(ignored) || (!entry.is_directory(ignored) && has_name_of_stream(entry.path()))) {
      look_at(entry.path());
    } else if (entry.is_directory(ignored) && access(entry.path().c_str(), R_OK | X_OK) != 0) {
      finding.closed.push_back(entry.path());
      return Step::around;
    }
    return Step::on;
  });
  if (status) return Error(fmt::format("cannot read the directory: {}", status.message()), Place::in(root.string()));
  return finding;
}

// The first process walks through the directories, for all.
Result<Finding> find_streams_once(const fs::path& root) {
  FATHOM_CHECK(team().assemble("finding streams"));
  Finding finding;
  if (team().first()) {
    FATHOM_TRY(finding, find_streams(root));
  }
  if (team().alone()) return finding;
  FATHOM_TRY(const Parcel told, team().broadcast(packed(finding)));
  return unpacked<Finding>(told);
}

// Where the files of streams are kept open, and who is told.
struct Opening {
  std::shared_ptr<OpenFiles> files;
  Work work;

  [[nodiscard]] Result<StreamBytes> open(const fs::path& file) const {
    FATHOM_TRY(FileOnDemand opened, FileOnDemand::open(file, files, work));
    return StreamBytes(std::move(opened));
  }
  [[nodiscard]] StreamBytes known(const fs::path& file, std::uint64_t size) const {
    return StreamBytes(FileOnDemand::known(file, size, files, work));
  }
};

Result<Stream> open_new(const Found& found, const Opening& opening) {
  Stream stream;
  stream.path = found.path;
  stream.file = found.file;
  stream.metadata_file = found.metadata;
  FATHOM_TRY(const Blob json, map_file(found.metadata));
  FATHOM_TRY(stream.metadata, read_stream_metadata(json));
  stream.metadata_text = std::string(json.text());
  FATHOM_TRY(stream.blob, opening.open(found.file));
  FATHOM_CHECK(read_header(stream, false));
  return stream;
}

Result<Stream> open_old(const Found& found, const Metadata* process, const Opening& opening) {
  Stream stream;
  stream.path = found.path;
  stream.file = found.file;
  stream.metadata_file = found.metadata;
  if (process != nullptr) stream.metadata = *process;
  const OldName name = *old_name(found.file);
  stream.metadata.part = "thread";
  if (!name.loom.empty()) stream.metadata.loom = name.loom;
  stream.metadata.pid = parse_integer<std::int64_t>(name.pid);
  stream.metadata.tid = parse_integer<std::int64_t>(name.tid);
  if (stream.metadata.version == 2) {
    const fs::path thread = found.file.parent_path() / fmt::format("thread.{}.json", name.tid);
    FATHOM_TRY(const Blob json, map_file(thread));
    FATHOM_CHECK(add_thread_metadata(stream.metadata, json));
    stream.metadata_text = std::string(json.text());
  }
  FATHOM_TRY(stream.blob, opening.open(found.file));
  FATHOM_CHECK(read_header(stream, true));
  return stream;
}

// What became of a stream, as a process tells the others: one of the two.
struct Opened {
  std::optional<Stream> stream;
  std::optional<Error> failed;
  std::uint64_t size = 0;
};
template <class Pack>
void pack_fields(Pack& pack, Opened& opened) {
  pack(opened.stream, opened.failed, opened.size);
}

// Each by one process of the team, which reads it later on, too: work is dealt out by bytes from here on.
Result<std::vector<Opened>> open_streams(const std::vector<Found>& found, bool is_new, const Work& work) {
  std::vector<fs::path> files;
  for (const Found& one : found) files.push_back(one.file);
  FATHOM_TRY(const auto sizes, sizes_of_files(files));
  FATHOM_TRY(Share share, Share::of("opening streams", found.size(), [&](std::size_t i) { return sizes[i]; }));
  std::map<fs::path, Result<Metadata>> processes;
  for (const std::size_t i : share.mine()) {
    if (is_new || processes.contains(found[i].metadata)) continue;
    auto blob = map_file(found[i].metadata);
    processes.emplace(found[i].metadata, blob ? read_process_metadata(*blob) : Result<Metadata>(blob.error()));
  }
  const Opening opening{make_open_files(), work};
  const auto open = [&](std::size_t i) -> Result<Stream> {
    if (is_new) return open_new(found[i], opening);
    const auto& process = processes.at(found[i].metadata);
    return process ? open_old(found[i], &*process, opening) : Result<Stream>(process.error());
  };
  std::vector<Opened> all(found.size());
  FATHOM_CHECK(share.each([&](std::size_t i) -> Result<void> {
    auto stream = open(i);
    if (stream) {
      all[i].size = stream->blob.size();
      all[i].stream = *std::move(stream);
    } else {
      all[i].failed = std::move(stream).error();
    }
    return {};
  }));
  if (share.alone()) return all;
  FATHOM_CHECK(bring_together(share, all, Holder::all));
  std::vector<bool> here(found.size());
  for (const std::size_t i : share.mine()) here[i] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!here[i] && all[i].stream) all[i].stream->blob = opening.known(found[i].file, all[i].size);
  }
  return all;
}

Layout old_layout(const std::vector<Stream>& streams) {
  Layout layout = Layout::v1_a;
  for (const Stream& stream : streams) {
    if (stream.metadata.version == 2) return Layout::v2;
    if (stream.file.extension() == ".obs") {
      layout = std::max(layout, Layout::v1_c);
    } else if (stream.begin != 0) {
      layout = std::max(layout, Layout::v1_b);
    }
  }
  return layout;
}

}  // namespace

std::string_view to_string(Layout layout) {
  constexpr std::string_view kNames[] = {"v1-a", "v1-b", "v1-c", "v2", "v3"};
  return kNames[static_cast<std::size_t>(layout)];
}

std::optional<Layout> find_layout(std::string_view name) {
  for (const Layout layout : {Layout::v1_a, Layout::v1_b, Layout::v1_c, Layout::v2, Layout::v3}) {
    if (to_string(layout) == name) return layout;
  }
  return std::nullopt;
}

Result<NativeTrace> open_native(const fs::path& path, const Work& work) {
  NativeTrace trace;
  std::error_code status;
  Finding finding;
  if (fs::is_directory(path, status)) {
    trace.root = path;
    FATHOM_TRY(finding, find_streams_once(path));
  } else if (path.filename() == "stream.obs" || path.filename() == "stream.json") {
    trace.root = path.parent_path();
    finding.streams.push_back({trace.root / "stream.obs", trace.root / "stream.json", "."});
  } else if (old_name(path)) {
    trace.root = path.parent_path();
    std::string name = path.filename().string();
    if (name.ends_with(".obs")) name.resize(name.size() - 4);
    finding.old.push_back({path, trace.root / "metadata.json", name});
  } else {
    return Error("is neither a trace directory nor the file of a stream", Place::in(path.string()));
  }

  for (const fs::path& directory : finding.closed) {
    FATHOM_CHECK(work->diagnostics.lost("ovni.unreadable_directory", Place::in(directory.string()),
                                        "the directory may not be read: what is in it is left out"));
  }
  for (const fs::path& file : finding.orphans) {
    FATHOM_CHECK(work->diagnostics.lost("ovni.no_metadata", Place::in(file.string()),
                                        "events without a stream.json beside them: left out"));
  }
  if (!finding.streams.empty()) {
    for (const Found& old : finding.old) {
      FATHOM_CHECK(work->diagnostics.lost("ovni.two_layouts", Place::in(old.file.string()),
                                          "a stream of an older layout among those of version 3: left out"));
    }
  }
  if (finding.streams.empty() && finding.old.empty() && finding.orphans.empty() && finding.foreign) {
    return Error(fmt::format("is not an ovni trace: it holds no streams, but {}",
                             finding.foreign->lexically_relative(path).generic_string()),
                 Place::in(path.string()))
        .hint("a trace has stream.json and stream.obs, or loom.L/proc.P/thread.T, at any depth");
  }

  const bool is_new = !finding.streams.empty() || finding.old.empty();
  std::vector<Found>& found = is_new ? finding.streams : finding.old;
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.path < b.path; });

  FATHOM_TRY(std::vector<Opened> opened, open_streams(found, is_new, work));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (opened[i].stream) {
      Stream& stream = *opened[i].stream;
      if (stream.blob.size() == stream.begin) {
        FATHOM_CHECK(work->diagnostics.warn("ovni.no_events", stream.blob.place(), "stream has zero events"));
      }
      trace.streams.push_back(std::move(stream));
      continue;
    }
    Error error = std::move(*opened[i].failed).where(Place::in(found[i].file.string()));
    FATHOM_CHECK(work->diagnostics.lost("ovni.stream_unusable", error.place(),
                                        fmt::format("stream {} left out: {}", found[i].path, error.what())));
    trace.unusable.push_back(std::move(error));
  }
  if (trace.streams.empty() && !trace.unusable.empty()) {
    return Error(trace.unusable.front()).with("no stream of the trace can be used");
  }
  trace.layout = is_new ? Layout::v3 : old_layout(trace.streams);
  return trace;
}

bool looks_like_trace(const fs::path& path) {
  std::error_code status;
  if (!fs::is_directory(path, status)) {
    return path.filename() == "stream.obs" || (old_name(path) && fs::exists(path.parent_path() / "metadata.json"));
  }
  int seen = 0;
  bool found = false;
  (void)walk_through(path, [&](const fs::directory_entry& item) {
    const fs::path& entry = item.path();
    if (is_temporary_name(entry.filename().native())) return Step::around;
    found = entry.filename() == "stream.json" ||
            (old_name(entry) && fs::exists(entry.parent_path() / "metadata.json", status));
    return found || ++seen >= kEntriesToLookAt ? Step::stop : Step::on;
  });
  return found;
}

Result<Stream> stream_of(Blob blob, bool may_lack_header) {
  Stream stream;
  stream.path = blob.name();
  stream.file = blob.name();
  stream.blob = StreamBytes(std::move(blob));
  FATHOM_CHECK(read_header(stream, may_lack_header));
  return stream;
}

Error refuse_event(const Stream& stream, const Event& event, std::int64_t clock, std::string_view why) {
  std::array<char, 3> code;
  return Error::refused(
      fmt::format("stream {}, clock {}, event {}: {}", stream.path, clock, mcv_text(event.mcv(), code), why),
      place_in(stream, event.at));
}

}  // namespace fathom::ovni
