#include "formats/otf2/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "formats/otf2/event_text.hpp"

namespace fathom::otf2 {

namespace {

// MpiSend -> MPI_SEND
std::string upper_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (i > 0 && c >= 'A' && c <= 'Z') out += '_';
    out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

class Dumper {
 public:
  Dumper(const Archive& archive, const TextSink& sink) : archive_(archive), sink_(sink) {}

  void anchor() {
    const Anchor& anchor = archive_.anchor;
    line("{:<30} {}", "Version", anchor.version);
    line("{:<30} {}", "Chunk size events", anchor.event_chunk);
    line("{:<30} {}", "Chunk size definitions", anchor.definition_chunk);
    line("{:<30} {}", "Number of locations", anchor.locations);
    line("{:<30} {}", "Number of global definitions", anchor.global_definitions);
    line("{:<30} {}", "Machine name", anchor.machine);
    line("{:<30} {}", "Creator", anchor.creator);
    line("{:<30} {}", "Description", anchor.description);
    for (const auto& [name, value] : anchor.properties) line("{:<30} {} = {}", "Property", name, value);
    line("{:<30} {:x}", "Trace identifier", anchor.trace_id);
    line("{:<30} {}", "Number of snapshots", anchor.snapshots);
    line("{:<30} {}", "Number of thumbnails", anchor.thumbnails);
  }

  Result<void> definitions() {
    RecordFile file(archive_.definitions.blob, archive_.anchor.definition_chunk, make_work());
    Record record;
    for (;;) {
      FATHOM_TRY(const bool more, file.next(record));
      if (!more || closed_) return {};
      const RecordKind* const kind = find_definition_kind(record.type);
      std::string text;
      if (kind == nullptr) {
        text = fmt::format("type {}, {} bytes", record.type, record.end - record.begin);
      } else {
        append_definition(*kind, record, text);
      }
      line("{:<28} {}", kind == nullptr ? "UNKNOWN" : upper_name(kind->name), text);
    }
  }

  Result<void> local() {
    for (std::size_t i = 0; i < archive_.definitions.locations.size() && !closed_; ++i) {
      FATHOM_TRY(const LocalDefinitions local, archive_.local(i));
      const std::uint64_t id = archive_.definitions.locations.all[i].id;
      for (const ClockOffset& offset : local.offsets) {
        line("{:<28} {:>20}  time: {}, offset: {:+}", "CLOCK_OFFSET", id, offset.time, offset.offset);
      }
      for (std::size_t kind = 0; kind < kIdKinds; ++kind) {
        const auto& map = local.maps[kind];
        if (map == nullptr) continue;
        std::string text;
        for (std::size_t k = 0; k < map->dense.size(); ++k) {
          fmt::format_to(std::back_inserter(text), "{}{}=>{}", k > 0 ? "," : "", k, map->dense[k]);
        }
        for (std::size_t k = 0; k < map->sparse.size(); ++k) {
          fmt::format_to(std::back_inserter(text), "{}{}=>{}", k > 0 ? "," : "", map->sparse[k].first,
                         map->sparse[k].second);
        }
        line("{:<28} {:>20}  kind: {}, {{{}}}", "MAPPING_TABLE", id, kind, text);
      }
    }
    return {};
  }

  // By time over the chosen locations (all when none is), those of equal time in the order of locations.
  Result<void> events(const std::vector<std::size_t>& chosen) {
    struct Input {
      LocalDefinitions local;
      EventFile file;
      EventRecord record;
      std::uint64_t id;
      std::uint64_t time;
      std::unique_ptr<ClockCorrection> correction;
    };
    std::vector<std::unique_ptr<Input>> inputs;
    const auto later = [&](std::size_t a, std::size_t b) {
      return std::tie(inputs[a]->time, a) > std::tie(inputs[b]->time, b);
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    const auto advance = [&](std::size_t i) -> Result<void> {
      Input& in = *inputs[i];
      Result<void> status;
      const bool more = in.file.next(in.record, [&](const Defect& defect) {
        auto noted =
            archive_.work->diagnostics.lost("otf2.damaged_events", in.file.blob().place(defect.offset), defect.what);
        if (status.ok()) status = std::move(noted);
      });
      if (more) {
        in.time = in.correction->identity() ? in.record.time : (*in.correction)(in.record.time);
        queue.push(i);
      }
      return status;
    };
    for (std::size_t i = 0; i < archive_.definitions.locations.size(); ++i) {
      if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), i) == chosen.end()) continue;
      FATHOM_TRY(Blob blob, archive_.events(i));
      if (blob.size() == 0) continue;
      FATHOM_TRY(LocalDefinitions local, archive_.local(i));
      auto input = std::make_unique<Input>(Input{std::move(local),
                                                 EventFile(std::move(blob), archive_.anchor.event_chunk),
                                                 {},
                                                 archive_.definitions.locations.all[i].id,
                                                 0,
                                                 nullptr});
      input->correction = std::make_unique<ClockCorrection>(input->local.offsets);
      inputs.push_back(std::move(input));
      FATHOM_CHECK(advance(inputs.size() - 1));
    }
    std::string text;
    while (!queue.empty() && !closed_) {
      const std::size_t at = queue.top();
      queue.pop();
      const Input& in = *inputs[at];
      const EventText words(archive_.definitions, &in.local);
      const RecordKind* const kind = find_event_kind(in.record.type);
      text.clear();
      words.append_fields(in.record, text);
      words.append_attributes(in.record, text);
      if (!is_plain_text(text)) text = visible(text);
      // The name stands in the first column already.
      const auto rest = text.find(';');
      line("{:<32} {:>20} {:>20}  {}", kind == nullptr ? "UNKNOWN" : upper_name(kind->name), in.id, in.time,
           kind == nullptr             ? text
           : rest == std::string::npos ? std::string()
                                       : text.substr(rest + 1));
      FATHOM_CHECK(advance(at));
    }
    return {};
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (closed_) return;
    buffer_.clear();
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    while (!buffer_.empty() && buffer_.back() == ' ') buffer_.pop_back();
    buffer_ += '\n';
    closed_ = !sink_(buffer_);
  }

  void append_definition(const RecordKind& kind, const Record& record, std::string& out) const {
    Fields in = record.fields();
    std::uint64_t last = 0;
    std::uint8_t type = 0;
    auto to = std::back_inserter(out);
    std::vector<std::pair<std::string_view, std::string_view>> arrays;
    const auto value = [&](std::string_view name, std::string_view encoding) {
      if (encoding == "str") {
        fmt::format_to(to, "\"{}\"", printable(in.text()));
        return;
      }
      if (encoding == "value") {
        last = in.value(type);
      } else if (encoding == "u8") {
        last = in.u8();
      } else if (encoding == "c32") {
        last = in.c32();
      } else {
        last = in.c64();
      }
      if (name == "type" || name == "types") type = static_cast<std::uint8_t>(last);
      const bool is_text = is_string(kind.name, name) || (encoding == "value" && type == kTypeString);
      if (is_text && archive_.definitions.strings.find(last) != nullptr) {
        fmt::format_to(to, "\"{}\" <{}>", printable(archive_.definitions.text(static_cast<std::uint32_t>(last))), last);
      } else if ((encoding == "c32" && last == kUndefined32) || (encoding == "c64" && last == kUndefined64)) {
        out += "UNDEFINED";
      } else if (encoding == "s64") {
        fmt::format_to(to, "{}", static_cast<std::int64_t>(last));
      } else {
        fmt::format_to(to, "{}", last);
      }
    };
    for (const std::string_view field : split(kind.fields, ' ')) {
      const auto colon = field.find(':');
      std::string_view name = field.substr(0, colon);
      const std::string_view encoding = field.substr(colon + 1);
      if (const auto bracket = name.find('['); bracket != std::string_view::npos) {
        // Arrays of one count are interleaved; those behind each other in the table belong together.
        arrays.emplace_back(name.substr(0, bracket), encoding);
        continue;
      }
      flush_arrays(arrays, in, last, out, value);
      if (!in.more()) return;
      if (!out.empty()) out += ", ";
      fmt::format_to(to, "{}: ", name);
      value(name, encoding);
    }
    flush_arrays(arrays, in, last, out, value);
  }
  template <class Value>
  static void flush_arrays(std::vector<std::pair<std::string_view, std::string_view>>& arrays, Fields& in,
                           std::uint64_t count, std::string& out, const Value& value) {
    if (arrays.empty()) return;
    out += " (";
    for (std::uint64_t i = 0; i < count && in.more(); ++i) {
      if (i > 0) out += ", ";
      for (std::size_t a = 0; a < arrays.size(); ++a) {
        if (a > 0) out += ' ';
        value(arrays[a].first, arrays[a].second);
      }
    }
    out += ')';
    arrays.clear();
  }
  static bool is_string(std::string_view record, std::string_view field) {
    if (field == "name" || field == "description" || field == "canonical_name" || field == "class_name" ||
        field == "source_file" || field == "unit" || field == "string_value" || field == "identification") {
      return true;
    }
    return field == "file" && record == "SourceCodeLocation";
  }

  const Archive& archive_;
  const TextSink& sink_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace

Result<void> dump(const Archive& archive, const DumpOptions& options, const TextSink& sink) {
  Dumper dumper(archive, sink);
  std::vector<std::size_t> chosen;
  bool anchor = options.sections.empty();
  bool definitions = anchor;
  bool events = anchor;
  bool local = false;
  for (const std::string& section : options.sections) {
    if (section == "anchor") {
      anchor = true;
    } else if (section == "definitions") {
      definitions = true;
    } else if (section == "local") {
      local = true;
    } else if (section == "events") {
      events = true;
    } else {
      const auto id = parse_integer<std::uint64_t>(section);
      const std::uint32_t at = id ? archive.definitions.locations.position(*id) : IdIndex::kNone;
      if (at == IdIndex::kNone) {
        return Error::usage(fmt::format("otf2 has no section '{}'", section))
            .hint("anchor, definitions, local, events, or the id of a location");
      }
      chosen.push_back(at);
      events = true;
    }
  }
  if (anchor) dumper.anchor();
  if (definitions) FATHOM_CHECK(dumper.definitions());
  if (local) FATHOM_CHECK(dumper.local());
  if (events) FATHOM_CHECK(dumper.events(chosen));
  return {};
}

}  // namespace fathom::otf2
