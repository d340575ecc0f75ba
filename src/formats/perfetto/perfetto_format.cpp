#include "formats/perfetto/perfetto_format.hpp"

#include "formats/loaded_trace_dataset.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/perfetto_trace.hpp"
#include "formats/perfetto/proto.hpp"
#include "formats/perfetto/trace_writer.hpp"

namespace fathom::perfetto {

namespace {

class PerfettoDataset final : public LoadedTraceDataset<PerfettoTrace> {
 public:
  using LoadedTraceDataset::LoadedTraceDataset;
  Result<std::vector<InfoEntry>> describe(bool) override {
    FATHOM_CHECK(load());
    std::vector<InfoEntry> entries;
    const Definitions& definitions = trace_->definitions();
    entries.push_back({"regions", std::uint64_t{definitions.regions.size()}});
    entries.push_back({"metrics", std::uint64_t{definitions.metrics.size()}});
    entries.push_back({"locations", std::uint64_t{trace_->location_count()}});
    entries.push_back({"events", trace_->packet_count()});
    entries.push_back({"slices", trace_->store().slices()});
    if (const auto span = trace_->known_span()) describe_span(span->from_ns, span->to_ns, entries);
    return entries;
  }
};

// Fields that packets of traces have, and the kind of value that each has.
std::optional<Wire> wire_of_packet_field(std::uint32_t number) {
  switch (number) {
    case packet_field::timestamp:
    case packet_field::sequence_id:
    case packet_field::sequence_flags:
    case packet_field::state_cleared:
    case packet_field::clock_id:
    case packet_field::trusted_uid:
      return Wire::varint;
    case packet_field::track_event:
    case packet_field::track_descriptor:
    case packet_field::interned_data:
    case packet_field::clock_snapshot:
    case packet_field::defaults:
    case packet_field::compressed_packets:
    case packet_field::zstd_packets:
    case packet_field::process_tree:
    case packet_field::process_descriptor:
    case packet_field::thread_descriptor:
    case packet_field::ftrace_events:
    case packet_field::trace_config:
      return Wire::bytes;
    default:
      return std::nullopt;
  }
}

// Packets have no magic number: the first ones must be whole and have fields that packets of traces have.
Match recognise(const Source& source) {
  constexpr std::size_t kHead = 65536;
  const std::string_view head = source.head(kHead);
  if (head.empty() || head.front() != '\x0A') return {};
  FieldCursor cursor(head);
  std::size_t packets = 0;
  std::size_t known = 0;
  for (Field field; packets < 8 && cursor.next(field); ++packets) {
    if (field.number != trace_field::packet || field.wire != Wire::bytes) return {};
    FieldCursor inner(field.bytes);
    bool sound = false;
    for (Field part; inner.next(part);) {
      const auto wire = wire_of_packet_field(part.number);
      if (wire && *wire != part.wire) return {};  // another message with fields of these numbers
      sound = sound || wire;
    }
    if (inner.failed() != nullptr) return {};
    if (sound) ++known;
  }
  // A first packet that is longer than what is looked at.
  if (packets == 0) return {};
  if (known * 2 < packets || known == 0) return {};
  // Profiles of pprof begin alike, with pairs of small numbers.
  FieldCursor first(head);
  Field field;
  first.next(field);
  if (field.bytes.size() <= 4)
    return packets > 2 && known == packets ? Match{Confidence::maybe, "begins with packets"} : Match{};
  return {Confidence::likely, "begins with packets of a trace"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  return DatasetPtr(std::make_unique<PerfettoDataset>(format(), source.path(), work, source.blob()));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const auto trace, dataset.trace());
  return write_trace(*trace, target, dataset.work());
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "perfetto",
                              .title = "Perfetto trace",
                              .extensions = ".pftrace .perfetto-trace",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write};
  return kFormat;
}

}  // namespace fathom::perfetto
