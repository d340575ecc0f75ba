#include "formats/hpctoolkit/classic_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::string_view kMetricMagic = "HPCPROF-metricdb__";
constexpr std::string_view kTraceMagic = "HPCRUN-trace______";
constexpr std::uint64_t kEndMarker = 0xFFFFFFFFDEADF00D;
constexpr std::uint64_t kMergedEntrySize = 16;
constexpr std::uint64_t kPlainHeader = 24;
constexpr std::uint64_t kFlagsHeader = 32;
constexpr std::uint64_t kDataCentric = 1;  // samples carry a metric id

// "…-RRRRRR-TTT-HHHHHHHH-PID-G.ext": counted from the right, since the program's name may hold dashes.
void name_stream(const std::string& file_name, StreamFile& stream) {
  const std::string stem = file_name.substr(0, file_name.rfind('.'));
  const auto parts = split(stem, '-');
  stream.program = stem;
  if (parts.size() >= 6) {
    const auto* part = &parts[parts.size() - 5];
    stream.process = parse_integer<std::int64_t>(part[0]);
    stream.thread = parse_integer<std::int64_t>(part[1]);
    stream.host = std::string(part[2]);
    stream.pid = std::string(part[3]);
    stream.generation = std::string(part[4]);
    stream.program.resize(static_cast<std::size_t>(part[0].data() - stem.data()) - 1);
  }
  // Files of values have the number of their group before the program: "1.cpi-…" beside the trace "cpi-…".
  const std::size_t dot = stream.program.find_first_not_of("0123456789");
  if (dot != 0 && dot != std::string::npos && stream.program[dot] == '.') stream.program.erase(0, dot + 1);
}

// What a file says of where it comes from, as a key; "" when it does not say enough. From the whole name to what parts
// of merged files say too.
enum class Identity : std::uint8_t { name, process, rank };

std::string identity_of(const StreamFile& file, Identity kind) {
  if (kind != Identity::name && !file.process) return "";
  if (kind != Identity::rank && file.program.empty()) return "";
  std::string key = fmt::format("{}/{}", file.process.value_or(-1), file.thread.value_or(-1));
  if (kind != Identity::rank) key += fmt::format("/{}/{}/{}", file.host, file.pid, file.generation);
  if (kind == Identity::name) key += "/" + file.program;
  return key;
}

// False where two names say that these are different processes.
bool may_be_same(const StreamFile& a, const StreamFile& b) {
  const auto agree = [](const std::string& x, const std::string& y) { return x.empty() || y.empty() || x == y; };
  return agree(a.host, b.host) && agree(a.pid, b.pid) && agree(a.generation, b.generation);
}

}  // namespace

Result<std::vector<StreamFile>> stream_files(const std::filesystem::path& directory, const std::string& pattern,
                                             const Work& work) {
  std::vector<std::string> names;
  FATHOM_TRY(const auto entries, list_directory(directory));
  std::error_code status;
  for (const auto& entry : entries) {
    const std::string name = entry.filename().string();
    if (std::filesystem::is_regular_file(entry, status) && matches_pattern(pattern, name)) names.push_back(name);
  }
  std::vector<StreamFile> files;
  for (const std::string& name : names) {
    StreamFile file;
    name_stream(name, file);
    FATHOM_TRY(file.content, open_file(directory / name, work));
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::optional<std::size_t>> streams_of_traces(const std::vector<StreamFile>& traces,
                                                          const std::vector<StreamFile>& streams) {
  std::vector<std::optional<std::size_t>> out(traces.size());
  std::vector<bool> taken(streams.size());
  struct Alike {
    std::vector<std::size_t> traces;
    std::vector<std::size_t> streams;
  };
  for (const Identity kind : {Identity::name, Identity::process, Identity::rank}) {
    std::map<std::string, Alike> alike;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!out[i]) alike[identity_of(traces[i], kind)].traces.push_back(i);
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!taken[i]) alike[identity_of(streams[i], kind)].streams.push_back(i);
    }
    for (const auto& [key, files] : alike) {
      // As many of the one as of the other: both are in the order of names, which merged files keep.
      if (key.empty() || files.traces.size() != files.streams.size()) continue;
      for (std::size_t k = 0; k < files.traces.size(); ++k) {
        if (!may_be_same(traces[files.traces[k]], streams[files.streams[k]])) continue;
        out[files.traces[k]] = files.streams[k];
        taken[files.streams[k]] = true;
      }
    }
  }
  return out;
}

// u32 kind, u32 count, count × (u32 process, u32 thread, u64 offset), the files, u64 end marker.
Result<std::vector<StreamFile>> merged_files(const Blob& blob, const Work& work) {
  ByteCursor in(blob, Endian::big);
  in.u32("kind of a merged file");
  const std::uint64_t count = in.u32("number of merged files");
  in.count_that_fits(count, kMergedEntrySize, "merged files");
  FATHOM_CHECK(in.status());
  if (blob.size() < 16 ||
      load_unchecked<std::uint64_t>(blob.bytes().data() + blob.size() - 8, Endian::big) != kEndMarker) {
    return Error("does not end with the marker of a merged file: it is incomplete", blob.place(blob.size()));
  }
  struct Entry {
    std::uint32_t process;
    std::uint32_t thread;
    std::uint64_t at;
  };
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t process = in.u32("process");
    const std::uint32_t thread = in.u32("thread");
    entries.push_back({process, thread, in.u64("offset")});
  }
  FATHOM_CHECK(in.status());
  std::vector<StreamFile> files;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t end = i + 1 < entries.size() ? entries[i + 1].at : blob.size() - 8;
    StreamFile file;
    file.process = entries[i].process;
    file.thread = entries[i].thread;
    if (entries[i].at > end || end > blob.size() - 8) {
      FATHOM_CHECK(work->diagnostics.lost(
          "hpctoolkit.merged_entry", blob.place(8 + i * kMergedEntrySize),
          fmt::format("part {} is said to lie at 0x{:x} to 0x{:x}; left out", i, entries[i].at, end)));
    } else {
      file.content = blob.part(entries[i].at, end - entries[i].at);
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<MetricDbFile> MetricDbFile::read(const Blob& blob, const Work& work) {
  ByteCursor in(blob, Endian::big);
  in.expect(kMetricMagic, "magic");
  in.skip(5, "version");
  in.expect("b", "byte order");
  MetricDbFile file;
  file.rows = in.u32("number of contexts");
  file.columns = in.u32("number of metrics");
  FATHOM_CHECK(in.status());
  file.values = blob.bytes().data() + in.offset();
  const std::uint64_t row_size = std::uint64_t{file.columns} * sizeof(double);
  const std::uint64_t there = row_size == 0 ? 0 : in.remaining() / row_size;
  if (there < file.rows) {
    FATHOM_CHECK(
        work->diagnostics.lost("hpctoolkit.metric_db", blob.place(blob.size()),
                               fmt::format("ends after {} of {} rows; the rest counts as zero", there, file.rows)));
    file.rows = static_cast<std::uint32_t>(there);
  }
  return file;
}

Result<TraceFile> TraceFile::read(const Blob& blob, std::uint64_t header_size, const Work& work) {
  ByteCursor in(blob, Endian::big);
  in.expect(kTraceMagic, "magic");
  const std::string version(as_text(in.bytes(5, "version")));
  in.expect("b", "byte order");
  const bool flagged = version >= "01.01";
  const std::uint64_t flags = flagged && header_size != kPlainHeader ? in.u64("flags") : 0;
  FATHOM_CHECK(in.status());
  TraceFile file;
  file.begin = header_size != 0 ? header_size : (flagged ? kFlagsHeader : kPlainHeader);
  file.stride = (flags & kDataCentric) != 0 ? 16 : 12;
  if (file.begin > blob.size()) return Error("ends inside its header", blob.place(blob.size()));
  file.count = (blob.size() - file.begin) / file.stride;
  if ((blob.size() - file.begin) % file.stride != 0) {
    FATHOM_CHECK(work->diagnostics.lost("hpctoolkit.trace_line", blob.place(blob.size()),
                                        fmt::format("ends inside a sample; {} samples kept", file.count)));
  }
  return file;
}

}  // namespace fathom::hpctoolkit
