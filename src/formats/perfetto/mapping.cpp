#include "formats/perfetto/mapping.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "formats/perfetto/fields.hpp"
#include "io/inflate.hpp"

namespace fathom::perfetto {

namespace {

constexpr int kMostNested = 3;       // packets inside packets
constexpr std::size_t kBlock = 256;  // packets that are read ahead by one thread at a time

}  // namespace

Result<void> PerfettoMapping::take_trace(const Blob& blob, int depth) {
  const std::string_view text = blob.text();
  std::optional<Progress> progress;
  if (depth == 0) progress.emplace("reading packets", std::max<std::size_t>(text.size(), 1));
  FieldCursor cursor(text);
  std::vector<PlainPacket> packets;
  const std::size_t most = thread_count() == 1 ? kBlock : 256 * kBlock;
  for (bool more = true; more;) {
    packets.clear();
    const std::size_t before = cursor.at();
    Field field;
    while (packets.size() < most && (more = cursor.next(field))) {
      if (field.number != trace_field::packet || field.wire != Wire::bytes) continue;
      PlainPacket& packet = packets.emplace_back();
      packet.bytes = field.bytes;
      packet.at = cursor.at();
    }
    FATHOM_CHECK(parallel_blocks(packets.size(), kBlock, [&](std::size_t begin, std::size_t end) -> Result<void> {
      for (std::size_t i = begin; i < end; ++i) packets[i].read();
      return {};
    }));
    FATHOM_CHECK(take_packets(packets, depth));
    if (progress) progress->advance(cursor.at() - before);
  }
  if (cursor.failed() != nullptr) {
    if (depth == 0 && trace_.packets_ == 0) {
      return Error(fmt::format("is no trace, no packet can be read: {}", cursor.failed()), blob.place(cursor.at()));
    }
    FATHOM_CHECK(trace_.work_->diagnostics.lost(
        "perfetto.cut_off", blob.place(cursor.at()),
        fmt::format("the packet here is damaged or cut off ({}); the {} before it are used", cursor.failed(),
                    grouped(trace_.packets_))));
  }
  return {};
}

Result<void> PerfettoMapping::take_packets(std::span<const PlainPacket> packets, int depth) {
  for (const PlainPacket& packet : packets) {
    if (depth == 0 && trace_.packets_ % PerfettoTrace::kStride == 0) trace_.offsets_.push_back(packet.at);
    if (!packet.plain || !take_plain(packet)) FATHOM_CHECK(take_packet(packet.bytes, depth));
  }
  return {};
}

Result<void> PerfettoMapping::take_packet(std::string_view bytes, int depth) {
  Packet packet;
  packet.number = trace_.packets_++;
  std::string_view interned, defaults, compressed, thread, ftrace, clocks;
  bool cleared = false;
  std::uint32_t other = 0;
  FieldCursor cursor(bytes);
  for (Field field; cursor.next(field);) {
    const bool message = field.wire == Wire::bytes;
    switch (field.number) {
      case packet_field::timestamp:
        packet.time = field.value;
        break;
      case packet_field::clock_id:
        packet.clock = field.value;
        break;
      case packet_field::sequence_id:
        packet.sequence = static_cast<std::uint32_t>(field.value);
        break;
      case packet_field::sequence_flags:
        cleared = cleared || (field.value & sequence_flag::cleared) != 0;
        break;
      case packet_field::state_cleared:
        cleared = cleared || field.value != 0;
        break;
      case packet_field::interned_data:
        interned = field.bytes;
        break;
      case packet_field::defaults:
        defaults = field.bytes;
        break;
      case packet_field::track_event:
        packet.track_event = field.bytes;
        break;
      case packet_field::track_descriptor:
        if (message && !tracks_.describe(field.bytes)) ++malformed_;
        break;
      case packet_field::clock_snapshot:
        clocks = field.bytes;
        break;
      case packet_field::process_descriptor:
        if (message) tracks_.describe_process(field.bytes);
        break;
      case packet_field::thread_descriptor:
        thread = field.bytes;
        break;
      case packet_field::process_tree:
        if (message) tracks_.describe_tree(field.bytes);
        break;
      case packet_field::compressed_packets:
      case packet_field::zstd_packets:
        compressed = field.bytes;
        break;
      case packet_field::ftrace_events:
        ftrace = field.bytes;
        break;
      case packet_field::packets_dropped:
        if (field.value != 0) ++dropped_;
        break;
      case packet_field::trusted_uid:
      case packet_field::trusted_pid:
      case packet_field::first_on_sequence:
      case packet_field::machine_id:
        break;
      default:
        if (message) other = field.number;
    }
  }
  if (cursor.failed() != nullptr) {
    ++malformed_;
    return {};
  }
  if (other != 0) ++others_[other];
  if (!compressed.empty()) return take_compressed(compressed, depth);
  // The service writes the number of the sequence behind everything else.
  if (!clocks.empty()) clocks_.take(clocks, packet.sequence);
  Sequence& sequence = sequence_of(packet.sequence);
  if (cleared) sequence.clear();
  if (!thread.empty()) {
    tracks_.describe_thread(thread, kSequenceTracks + packet.sequence);
    sequence.take_references(thread);
  }
  if (!interned.empty()) sequence.take_interned(interned);
  if (!defaults.empty()) sequence.take_defaults(defaults);
  if (!packet.track_event.empty()) take_event(packet, sequence);
  if (!ftrace.empty()) take_ftrace(ftrace, packet);
  return {};
}

Result<void> PerfettoMapping::take_compressed(std::string_view packed, int depth) {
  trace_.compressed_ = true;
  if (depth >= kMostNested) {
    ++malformed_;
    return {};
  }
  const Blob blob(trace_.blob_.name(), as_bytes(packed), nullptr);
  const auto unpacked = gunzip(blob, trace_.work_, trace_.work_->budget.limit());
  if (!unpacked.ok()) {
    ++malformed_;
    return {};
  }
  return take_trace(*unpacked, depth + 1);
}

Result<void> PerfettoMapping::note() const {
  Diagnostics& diagnostics = trace_.work_->diagnostics;
  const Place place = Place::in(trace_.blob_.name());
  const auto say = [&](std::string_view id, Severity severity, std::uint64_t count,
                       std::string_view text) -> Result<void> {
    if (count == 0) return {};
    return diagnostics.add(id, severity, place, fmt::format("{} {}", grouped(count), text), count);
  };
  FATHOM_CHECK(say("perfetto.malformed_packet", Severity::data_loss, malformed_, "packets cannot be read"));
  FATHOM_CHECK(say("perfetto.no_time", Severity::data_loss, no_time_, "events without a usable time are left out"));
  FATHOM_CHECK(say("perfetto.unknown_clock", Severity::warning, unknown_clock_,
                   "times are of a clock that nothing ties to the others; they are taken as they are"));
  FATHOM_CHECK(say("perfetto.unknown_name", Severity::warning, unknown_name_, "names are not in the interned data"));
  FATHOM_CHECK(say("perfetto.dropped_packets", Severity::warning, dropped_,
                   "times the writer lost packets before it could store them"));
  std::uint64_t others = 0;
  std::string kinds;
  for (const auto& [number, count] : others_) {
    others += count;
    const std::string_view kind = packet_kind(number);
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", grouped(count),
                         kind.empty() ? fmt::format("of field {}", number) : std::string(kind));
  }
  if (ftrace_unused_ > 0) {
    others += ftrace_unused_;
    kinds += fmt::format("{}{} events of ftrace", kinds.empty() ? "" : ", ", grouped(ftrace_unused_));
  }
  if (others > 0) {
    FATHOM_CHECK(diagnostics.add("perfetto.other_packets", Severity::info, place,
                                 "packets that are no track events are not used: " + kinds, others));
  }
  return {};
}

Result<void> PerfettoMapping::finish() {
  FATHOM_CHECK(note());
  Definitions& definitions = trace_.definitions_;
  definitions.metrics = counters_.finish();
  for (const std::string& text : markers_.texts()) trace_.markers_.push_back(text);
  for (const std::string& text : communicators_.texts()) trace_.communicators_.push_back({text, {}, {}});
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    Channel channel;
    channel.name = channel.title = channels_[i];
    for (std::uint32_t k = 0; k < states_[i].size(); ++k) channel.values[std::int64_t{k} + 1] = states_[i][k];
    trace_.channels_.push_back(std::move(channel));
  }
  std::vector<StoredTrace::RowNode> nodes;
  for (auto& [row, node] : tracks_.places(definitions.system)) nodes.push_back({row, std::move(node)});
  return trace_.finish(std::move(nodes), tracks_.rows(), Place::in(trace_.blob_.name()));
}

std::string_view packet_kind(std::uint32_t field) {
  constexpr std::pair<std::uint32_t, std::string_view> kKinds[] = {{1, "of ftrace"},
                                                                   {4, "of files"},
                                                                   {5, "of Chrome"},
                                                                   {7, "of the system's statistics"},
                                                                   {9, "of process statistics"},
                                                                   {33, "of the configuration"},
                                                                   {34, "of ftrace statistics"},
                                                                   {35, "of trace statistics"},
                                                                   {36, "of synchronisation"},
                                                                   {37, "of heap profiles"},
                                                                   {38, "of batteries"},
                                                                   {39, "of the Android log"},
                                                                   {40, "of power rails"},
                                                                   {45, "of the system"},
                                                                   {46, "of triggers"},
                                                                   {47, "of packages"},
                                                                   {49, "of tracing itself"},
                                                                   {51, "of Chrome's metadata"},
                                                                   {52, "of GPU counters"},
                                                                   {53, "of GPU stages"},
                                                                   {54, "of streamed profiles"},
                                                                   {56, "of heap graphs"},
                                                                   {66, "of perf samples"}};
  for (const auto& [number, kind] : kKinds) {
    if (number == field) return kind;
  }
  return {};
}

}  // namespace fathom::perfetto
