#include "formats/hpctoolkit/classic_files.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  if (parts.size() < 6) return;
  stream.process = parse_integer<std::int64_t>(parts[parts.size() - 5]);
  stream.thread = parse_integer<std::int64_t>(parts[parts.size() - 4]);
  stream.host = std::string(parts[parts.size() - 3]);
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
