#include "formats/dumpi/file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/byte_cursor.hpp"

namespace fathom::dumpi {

namespace {

std::string str16(ByteCursor& in, const char* field) {
  const std::uint16_t length = in.u16(field);
  return std::string(as_text(in.bytes(length, field)));
}

std::uint64_t counted(ByteCursor& in, std::uint64_t record_size, const char* field) {
  const std::int32_t count = in.i32(field);
  if (count < 0) {
    in.fail(fmt::format("{} is negative: {}", field, count));
    return 0;
  }
  return in.count_that_fits(static_cast<std::uint64_t>(count), record_size, field);
}

std::vector<std::int32_t> integers(ByteCursor& in, const char* field) {
  std::vector<std::int32_t> values(counted(in, 4, field));
  for (std::int32_t& value : values) value = in.i32(field);
  return values;
}

// Sizes of predefined datatypes where the file has none (ids 2 to 27; LB and UB are empty).
constexpr std::uint8_t kNewestVersion = 13;

constexpr std::array<std::int32_t, kPredefinedTypes> kUsualSizes = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                                                    8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};

}  // namespace

std::string_view to_string(Section section) {
  switch (section) {
    case Section::header:
      return "header";
    case Section::footer:
      return "footer";
    case Section::keyvals:
      return "keyval record";
    case Section::counters:
      return "counter labels";
    case Section::sizes:
      return "datatype sizes";
    case Section::addresses:
      return "function addresses";
  }
  return "?";
}

const std::string* Sections::label(std::uint64_t address) const {
  for (const FunctionAddress& entry : addresses) {
    if (entry.address == address) return &entry.label;
  }
  return nullptr;
}

std::int64_t File::datatype_size(std::int64_t id) const {
  if (id < 0) return 0;
  const auto index = static_cast<std::size_t>(id);
  if (index < sections_.sizes.size() && sections_.sizes[index] > 0) return sections_.sizes[index];
  return index < kUsualSizes.size() ? kUsualSizes[index] : 0;
}

// The index stands at the very end and has grown over time: its magic tells how many entries there are.
Result<void> File::read_index(const Blob& blob, const Work& work, std::array<std::uint64_t, kSections>& offsets) {
  const std::uint64_t size = blob.size();
  layout_.index_entries = 0;
  for (int entries = 7; entries >= 4; --entries) {
    const std::uint64_t bytes = 8 * (static_cast<std::uint64_t>(entries) + 1);
    if (size < bytes + 16) continue;
    if (blob.text().substr(size - bytes, 8) != kMagic) continue;
    layout_.index_entries = entries;
    break;
  }
  if (layout_.index_entries == 0) {
    stream_limit_ = size;
    return work->diagnostics.lost("dumpi.cut_off", place(size),
                                  "there is no index at the end: the job was killed or the file was cut; "
                                  "whole records are used, header and footer are missing");
  }
  const std::uint64_t index_at = size - 8 * (static_cast<std::uint64_t>(layout_.index_entries) + 1);
  ByteCursor in(blob, Endian::big);
  in.seek(index_at + 8, "index");
  const auto at = [&](Section section) -> std::uint64_t& { return offsets[static_cast<std::size_t>(section)]; };
  if (layout_.index_entries >= 7) at(Section::sizes) = in.u64("datatype-size offset");
  if (layout_.index_entries >= 6) at(Section::addresses) = in.u64("function-address offset");
  if (layout_.index_entries >= 5) at(Section::counters) = in.u64("counter-label offset");
  at(Section::header) = in.u64("header offset");
  const std::uint64_t body = in.u64("stream offset");
  at(Section::footer) = in.u64("footer offset");
  at(Section::keyvals) = in.u64("keyval offset");
  FATHOM_CHECK(in.status());
  layout_.keyvals_indexed = at(Section::keyvals) != 0;

  if (body != 8) {
    if (body < 8 || body + 8 > index_at) {
      return Error(fmt::format("the index puts the stream at byte {}, outside of the file's {} bytes", body, size),
                   place(index_at + 8));
    }
  }
  stream_begin_ = body + 8;
  stream_limit_ = index_at;
  for (std::size_t i = 0; i < kSections; ++i) {
    if (offsets[i] == 0) continue;
    if (offsets[i] < 8 || offsets[i] >= index_at) {
      FATHOM_CHECK(work->diagnostics.lost(
          "dumpi.section_offset", place(index_at),
          fmt::format("the index puts the {} at byte {}, which is outside of what lies before the index at {}",
                      to_string(static_cast<Section>(i)), offsets[i], index_at)));
      offsets[i] = 0;
    } else if (offsets[i] > body) {
      stream_limit_ = std::min(stream_limit_, offsets[i]);
    }
  }
  return {};
}

// Reads one section and says where it ends.
Result<std::uint64_t> File::read_section(const Blob& blob, Section section, std::uint64_t offset) {
  ByteCursor in(blob, Endian::big);
  in.seek(offset, "section");
  switch (section) {
    case Section::header: {
      Header& header = sections_.header;
      for (std::uint8_t& part : header.version) part = in.u8("version");
      header.start_time = in.u64("start time");
      header.host = str16(in, "host name");
      header.user = str16(in, "user name");
      header.mesh_position = integers(in, "mesh position");
      if (header.version >= std::array<std::uint8_t, 3>{0, 5, 0}) header.mesh_size = integers(in, "mesh size");
      break;
    }
    case Section::footer: {
      const std::uint64_t magic = in.u64("footer mark");
      if (in.ok() && magic != kFooterMagic)
        in.fail(fmt::format("the footer must begin with f007fee7, found {:x}", magic));
      for (std::uint32_t& count : sections_.footer.called) count = in.u32("calls counted");
      for (std::uint32_t& count : sections_.footer.ignored) count = in.u32("calls ignored");
      break;
    }
    case Section::keyvals: {
      const std::uint64_t count = counted(in, 4, "number of keyvals");
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        std::string key = str16(in, "key");
        sections_.keyvals.emplace_back(std::move(key), str16(in, "value"));
      }
      break;
    }
    case Section::counters: {
      const std::uint64_t count = counted(in, 2, "number of counter labels");
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) sections_.counters.push_back(str16(in, "counter label"));
      break;
    }
    case Section::sizes:
      sections_.sizes = integers(in, "number of datatype sizes");
      break;
    case Section::addresses: {
      const std::uint64_t count = counted(in, 10, "number of function addresses");
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const std::uint64_t address = in.u64("function address");
        sections_.addresses.push_back({address, str16(in, "function label")});
      }
      break;
    }
  }
  if (auto status = in.status(); !status) {
    return std::move(status).error().with(fmt::format("reading the {}", to_string(section)));
  }
  return in.offset();
}

Result<File> File::open(Blob blob, const Work& work) { return open(FileOnDemand(std::move(blob)), work); }

Result<File> File::open(FileOnDemand source, const Work& work) {
  File file;
  file.source_ = std::move(source);
  const auto held = file.hold();
  const Blob& blob = *held;
  if (blob.size() == 0) {
    return Error("is empty: the process ended before it wrote anything", file.place(0));
  }
  if (!blob.starts_with(kMagic)) {
    return Error("is no DUMPI trace: it must begin with ff aa dd 'DUMPI'", file.place(0));
  }
  if (blob.size() < 16) {
    return Error(fmt::format("ends after {} bytes, before the stream's 8 bytes of time bias", blob.size()),
                 file.place(blob.size()));
  }
  std::array<std::uint64_t, kSections> offsets{};
  FATHOM_CHECK(file.read_index(blob, work, offsets));

  ByteCursor in(blob, Endian::big);
  in.seek(file.stream_begin_ - 8, "stream");
  file.cpu_bias_ = in.i32("CPU bias");
  file.wall_bias_ = in.i32("wall bias");
  FATHOM_CHECK(in.status());
  if (file.cut_off()) return file;

  // The order on disk is part of the layout; the gap behind the footer holds a keyval record that no index names.
  std::vector<std::pair<std::uint64_t, Section>> order;
  for (std::size_t i = 0; i < kSections; ++i) {
    if (offsets[i] != 0) order.emplace_back(offsets[i], static_cast<Section>(i));
  }
  std::sort(order.begin(), order.end());
  file.layout_.order.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [offset, section] = order[i];
    auto end = file.read_section(blob, section, offset);
    if (!end) {
      const Error error = std::move(end).error();
      FATHOM_CHECK(work->diagnostics.lost("dumpi.section", error.place(), error.message()));
      continue;
    }
    file.sections_.set(section);
    file.layout_.order.push_back(section);
    const std::uint64_t next = i + 1 < order.size()
                                   ? order[i + 1].first
                                   : blob.size() - 8 * (static_cast<std::uint64_t>(file.layout_.index_entries) + 1);
    const bool hidden_keyvals = !file.layout_.keyvals_indexed && section != Section::keyvals && next == *end + 4 &&
                                load_unchecked<std::uint32_t>(blob.bytes().data() + *end) == 0;
    if (hidden_keyvals) {
      file.layout_.order.push_back(Section::keyvals);
    } else if (next > *end) {
      // Old versions lack index entries for sections that later writers add; they are kept as they are.
      file.layout_.behind.resize(file.layout_.order.size());
      file.layout_.behind.back() = blob.text().substr(*end, next - *end);
      work->diagnostics.info(
          "dumpi.unnamed_bytes", file.place(*end),
          fmt::format("{} bytes behind the {} are named by no index entry", next - *end, to_string(section)));
    } else if (next < *end) {
      FATHOM_CHECK(work->diagnostics.warn(
          "dumpi.overlap_sections", file.place(next),
          fmt::format("the {} reaches {} bytes into what the index names next", to_string(section), *end - next)));
    }
  }
  if (!file.sections_.has(Section::header)) {
    FATHOM_CHECK(work->diagnostics.lost("dumpi.no_header", file.place(0),
                                        "there is no header, so the version is unknown: read by the newest rules"));
    file.layout_.end_mark = true;
  }
  const auto& version = file.sections_.header.version;
  if (version[0] > kNewestVersion) {
    FATHOM_CHECK(work->diagnostics.warn(
        "dumpi.version", file.place(offsets[static_cast<std::size_t>(Section::header)]),
        fmt::format("version {}.{}.{} is newer than {}, the newest that is known; read by its rules", version[0],
                    version[1], version[2], kNewestVersion)));
  }
  file.decoder_ = Decoder(Rules::of_version(version));
  return file;
}

}  // namespace fathom::dumpi
