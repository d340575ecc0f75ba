#include "formats/dumpi/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/capped_sum.hpp"
#include "base/share_out.hpp"
#include "base/text.hpp"
#include "formats/dumpi/resolve.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "io/shared_output.hpp"

namespace fathom::dumpi {

void ByteText::str16(std::string_view text) {
  text = text.substr(0, 0xFFFF);
  number(static_cast<std::uint16_t>(text.size()));
  text_ += text;
}

void ByteText::value(Type type, std::int64_t value) {
  switch (wire_size(type)) {
    case 8:
      number(value);
      break;
    case 4:
      number(static_cast<std::int32_t>(value));
      break;
    case 2:
      number(static_cast<std::int16_t>(value));
      break;
    default:
      number(static_cast<std::uint8_t>(value));
  }
}

namespace {

void encode(ByteText& out, const std::vector<std::int32_t>& values) {
  out.number(static_cast<std::int32_t>(values.size()));
  for (const std::int32_t value : values) out.number(value);
}

void encode_section(ByteText& out, const Sections& sections, Section section) {
  switch (section) {
    case Section::header: {
      const Header& header = sections.header;
      for (const std::uint8_t part : header.version) out.number(part);
      out.number(header.start_time);
      out.str16(header.host);
      out.str16(header.user);
      encode(out, header.mesh_position);
      if (header.version >= std::array<std::uint8_t, 3>{0, 5, 0}) encode(out, header.mesh_size);
      break;
    }
    case Section::footer:
      out.number(kFooterMagic);
      for (const std::uint32_t count : sections.footer.called) out.number(count);
      for (const std::uint32_t count : sections.footer.ignored) out.number(count);
      break;
    case Section::keyvals:
      out.number(static_cast<std::int32_t>(sections.keyvals.size()));
      for (const auto& [key, value] : sections.keyvals) {
        out.str16(key);
        out.str16(value);
      }
      break;
    case Section::counters:
      out.number(static_cast<std::int32_t>(sections.counters.size()));
      for (const std::string& label : sections.counters) out.str16(label);
      break;
    case Section::sizes:
      encode(out, sections.sizes);
      break;
    case Section::addresses:
      out.number(static_cast<std::int32_t>(sections.addresses.size()));
      for (const FunctionAddress& entry : sections.addresses) {
        out.number(entry.address);
        out.str16(entry.label);
      }
      break;
  }
}

}  // namespace

std::string encode_sections(const Sections& sections, const Layout& layout, std::uint64_t offset) {
  ByteText out;
  std::array<std::uint64_t, kSections> offsets{};
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    offsets[static_cast<std::size_t>(layout.order[i])] = offset + out.size();
    encode_section(out, sections, layout.order[i]);
    if (i < layout.behind.size()) out.bytes(layout.behind[i]);
  }
  const auto at = [&](Section section) { return offsets[static_cast<std::size_t>(section)]; };
  const int entries = layout.index_entries == 0 ? 7 : layout.index_entries;
  out.bytes(kMagic);
  if (entries >= 7) out.number(at(Section::sizes));
  if (entries >= 6) out.number(at(Section::addresses));
  if (entries >= 5) out.number(at(Section::counters));
  out.number(at(Section::header));
  out.number(std::uint64_t{8});
  out.number(at(Section::footer));
  // Known readers stumble over an indexed keyval record, so an empty one stays out of the index.
  const bool index_keyvals = layout.keyvals_indexed || !sections.keyvals.empty();
  out.number(index_keyvals ? at(Section::keyvals) : std::uint64_t{0});
  return out.text();
}

namespace {

// The record with bits of its mask taken away, together with what they stand for.
void reduced_record(const Call& call, const std::byte* begin, std::uint8_t keep, ByteText& out) {
  const auto mask = static_cast<std::uint8_t>(call.mask & keep);
  const auto copy = [&](const std::byte* from, std::size_t count) {
    out.bytes({reinterpret_cast<const char*>(from), count});
  };
  copy(begin, 2);
  out.number(mask);
  const std::byte* p = begin + 3;
  const auto part = [&](std::uint8_t bit, std::size_t size) {
    if ((call.mask & bit) == 0) return;
    if ((mask & bit) != 0) copy(p, size);
    p += size;
  };
  part(kMaskThread, 2);
  part(kMaskCpu, 12);
  part(kMaskWall, 12);
  part(kMaskCounters, 1 + 16 * std::size_t{call.counter_count});
  const std::byte* const end = begin + call.size;
  if ((mask & kMaskStatus) == (call.mask & kMaskStatus)) {
    copy(p, static_cast<std::size_t>(end - p));
    return;
  }
  // Statuses go: every other argument is copied up to where the next one begins.
  const Function& function = call.function();
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    if (!call.present(i) || function.argument[i].type == Type::status) continue;
    const std::byte* next = end;
    for (std::size_t k = i + 1; k < function.argument_count; ++k) {
      if (call.present(k)) {
        next = call.raw(k);
        break;
      }
    }
    copy(call.raw(i), static_cast<std::size_t>(next - call.raw(i)));
  }
}

}  // namespace

Result<void> rewrite_file(const File& file, const ScanResult& scan, const Filter& filter,
                          const std::filesystem::path& target) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  Sections sections = file.sections();
  Layout layout = file.layout();
  ByteText head;
  head.bytes(kMagic);
  head.number(file.cpu_bias());
  head.number(file.wall_bias());
  out.write(head.text());

  std::array<std::uint64_t, kIds> dropped{};
  if (filter.everything()) {
    if (scan.end > file.stream_begin()) {
      out.write(file.hold()->bytes().subspan(file.stream_begin(), scan.end - file.stream_begin()));
    }
  } else {
    ByteText record;
    const bool use_cpu = !scan.any_wall && scan.any_cpu;
    const auto held = file.hold();
    for (const Chunk& chunk : scan.chunks) {
      for_each_call(file, chunk, [&](const Call& call) {
        if (!filter.wants(call, use_cpu)) {
          ++dropped[call.id];
          return true;
        }
        const std::byte* begin = held->bytes().data() + call.offset;
        if ((call.mask & filter.keep_mask) == call.mask) {
          out.write(Bytes(begin, call.size));
        } else {
          record.clear();
          reduced_record(call, begin, filter.keep_mask, record);
          out.write(record.text());
        }
        return true;
      });
    }
    if ((filter.keep_mask & kMaskCounters) == 0) sections.counters.clear();
  }

  ByteText tail;
  if (scan.end_mark || file.cut_off()) tail.number(kEndOfStream);
  out.write(tail.text());
  if (file.cut_off()) {
    // The job never wrote these; what can be counted is counted.
    layout = Layout{};
    for (std::size_t id = 0; id < kFunctions; ++id) {
      sections.footer.called[id] = static_cast<std::uint32_t>(scan.per_function[id]);
      sections.footer.called[kAllFunctions] += sections.footer.called[id];
    }
  }
  // Calls that are left out count as made but not recorded.
  for (std::size_t id = 0; id < kFunctions; ++id) {
    sections.footer.ignored[id] += static_cast<std::uint32_t>(dropped[id]);
    sections.footer.ignored[kAllFunctions] += static_cast<std::uint32_t>(dropped[id]);
  }
  out.write(encode_sections(sections, layout, out.offset()));
  return out.commit();
}

namespace {
std::string without_gz(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

// Whether the calls by which the clocks of ranks are aligned, which come first, are left out.
bool loses_init(const Filter& filter, const RankSet& set, const std::vector<ScanResult>& scans) {
  if ((filter.keep_mask & kMaskWall) == 0) return false;
  for (const ScanResult& scan : scans) {
    for (const std::uint16_t id : {ids::kInit, ids::kInitThread}) {
      if (scan.per_function[id] > 0 && !filter.functions[id]) return true;
    }
  }
  if (filter.keep_definitions) return false;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    for (const Chunk& chunk : scans[i].chunks) {
      if (chunk.wall.first_ns > chunk.wall.last_ns) continue;
      CappedSum first = set.files()[i].file.wall_zero_ns();
      first += chunk.wall.first_ns;
      if (first.value() < filter.window.from_ns || first.value() >= filter.window.to_ns) return true;
      break;
    }
  }
  return false;
}
}  // namespace

Result<void> rewrite_set(const RankSet& set, const Filter& given, const std::filesystem::path& wanted, bool force) {
  FATHOM_TRY(const std::filesystem::path target, follow_links(wanted));
  Filter filter = given;
  FATHOM_TRY(const auto* scans, set.scans());
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < set.files().size(); ++i) {
    if (filter.wants_rank(set.files()[i].rank)) chosen.push_back(i);
  }
  if (chosen.empty()) return Error::usage("none of the ranks that were asked for is in the trace");
  filter.keep_clocks =
      std::any_of(chosen.begin(), chosen.end(), [&](std::size_t i) { return set.files()[i].file.has_shifted_clock(); });
  if (filter.keep_clocks && loses_init(filter, set, *scans)) {
    FATHOM_CHECK(set.work()->diagnostics.lost(
        "dumpi.clock_unknown", Place::in(set.files().front().file.name()),
        "the ranks have several clocks, and MPI_Init, by which they are aligned, is not written (keep=definitions "
        "keeps it in a window)"));
  }
  // Without a metafile the program itself may tell how large its world was.
  FATHOM_TRY(const Resolution resolved, set.metafile() ? Result<Resolution>(Resolution()) : resolve(set, *scans));
  const bool alone = !set.metafile() && set.files().size() == 1 && target.extension() != ".meta";
  if (alone) FATHOM_CHECK(first_goes_on());
  std::error_code unknown;
  const bool into_directory = !target.has_filename() || std::filesystem::is_directory(target, unknown);
  std::filesystem::path prefix = target;
  if (into_directory) {
    std::error_code status;
    std::filesystem::create_directories(target, status);
    const auto old_name = std::filesystem::path(set.files().front().file.name()).filename().string();
    const auto parsed = parse_rank_name(old_name);
    if (alone) return rewrite_file(set.files()[0].file, (*scans)[0], filter, target / without_gz(old_name));
    prefix = target / (parsed ? parsed->stem : std::string("dumpi"));
  } else if (alone) {
    return rewrite_file(set.files()[0].file, (*scans)[0], filter, target);
  } else if (target.extension() == ".meta" || target.extension() == ".bin") {
    prefix.replace_extension();
  }
  if (!into_directory) {
    FATHOM_CHECK(need_room_for_files(target, fmt::format("the files of {} ranks and their metafile", chosen.size())));
  }
  const std::string stem = prefix.filename().string();
  const auto name_of = [&](std::uint32_t rank) { return fmt::format("{}-{:04}.bin", stem, rank); };
  // Ranks of an older and larger run would be taken for this one's.
  FATHOM_TRY(SharedOutput shared, SharedOutput::make([&]() -> Result<OutputSet> {
               FATHOM_TRY(OutputSet made, OutputSet::beside(prefix, [&](const std::filesystem::path& file) {
                            const auto rank = parse_rank_name(file.string());
                            return rank && rank->stem == stem;
                          }));
               std::set<std::filesystem::path> names;
               for (const std::size_t n : chosen) names.insert(name_of(set.files()[n].rank));
               for (const std::filesystem::path& file : made.older()) {
                 if (force || names.contains(file)) continue;
                 return Error::usage(fmt::format("there is {} of another run of that name, which would have to go",
                                                 (prefix.parent_path() / file).string()))
                     .hint("choose another name, or replace the whole run with --force");
               }
               return made;
             }));
  const auto bytes = [&](std::size_t n) { return set.files()[chosen[n]].file.size(); };
  FATHOM_CHECK(share_each("writing ranks", chosen.size(), bytes, [&](std::size_t n) -> Result<void> {
    const RankFile& rank = set.files()[chosen[n]];
    return rewrite_file(rank.file, (*scans)[chosen[n]], filter, shared.path() / name_of(rank.rank));
  }));
  FATHOM_CHECK(shared.all_written());
  OutputSet& files = shared.set();
  std::string meta;
  const auto own = [&](std::string_view key, std::string_view value) { meta += fmt::format("{}={}\n", key, value); };
  if (set.metafile()) {
    for (const auto& [key, value] : set.metafile()->entries) {
      own(key, key == "fileprefix" ? stem : value);
    }
  } else {
    // Of a file that was cut the header is missing: what is not known is not claimed.
    const Header& header = set.files().front().file.sections().header;
    if (!header.host.empty()) own("hostname", header.host);
    own("numprocs", std::to_string(resolved.communicators[Resolution::kWorld].ranks.size()));
    if (!header.user.empty()) own("username", header.user);
    own("startime", std::to_string(header.start_time));
    own("fileprefix", stem);
    own("version", std::to_string(header.version[0]));
    own("subversion", std::to_string(header.version[1]));
    own("subsubversion", std::to_string(header.version[2]));
  }
  FATHOM_CHECK(write_file(files.path() / (stem + ".meta"), meta));
  return files.commit();
}

}  // namespace fathom::dumpi
