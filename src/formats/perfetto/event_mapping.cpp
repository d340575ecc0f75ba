// Track events into slices and points.
#include <bit>

#include "base/text.hpp"
#include "formats/perfetto/annotations.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"

namespace fathom::perfetto {

std::string_view PerfettoMapping::name_of(const TrackEvent& event, const Sequence& sequence) {
  // An interned name counts before one that is written out, in whatever order they stand: the trace processor does so.
  const std::uint64_t iid = event.name_iid != 0 ? event.name_iid : event.legacy ? event.legacy->name_iid : 0;
  if (iid == 0) return event.name;
  const auto found = sequence.names.find(iid);
  if (found != sequence.names.end()) return found->second;
  if (event.name.empty()) ++unknown_name_;
  return event.name;
}

std::string_view PerfettoMapping::category_of(const TrackEvent& event, const Sequence& sequence) const {
  return !event.category.empty() ? event.category : Sequence::text(sequence.categories, event.category_iid);
}

std::uint32_t PerfettoMapping::region(const TrackEvent& event, const Sequence& sequence) {
  const std::uint32_t number = regions_.add(name_of(event, sequence));
  if (number == trace_.definitions_.regions.size()) {
    Region made;
    made.name = regions_[number];
    made.file_id = number;
    made.paradigm = category_of(event, sequence);
    const auto known = sequence.sources.find(event.source_iid);
    const SourceLocation source = !event.source.empty()             ? source_location(event.source)
                                  : known != sequence.sources.end() ? known->second
                                                                    : SourceLocation{};
    made.file = source.file;
    made.begin_line = source.line;
    trace_.definitions_.regions.push_back(std::move(made));
  }
  return number;
}

// Names are interned as a rule: then one lookup by a number does.
std::uint32_t PerfettoMapping::interned_region(const TrackEvent& event, Sequence& sequence) {
  if (!event.name.empty() || event.name_iid == 0) return region(event, sequence);
  std::uint32_t number = sequence.regions.find(event.name_iid);
  if (number != IidTable::kNone) return number;
  number = region(event, sequence);
  sequence.regions.set(event.name_iid, number);
  return number;
}

void PerfettoMapping::extra_counters(const TrackEvent& event, Sequence& sequence, const Moment& at) {
  const auto& uuids = event.counters.empty() ? sequence.default_counters : event.counters;
  for (std::size_t i = 0; i < std::min(uuids.size(), event.values.size()); ++i) {
    counters_.add(sequence, uuids[i], at.time, at.number, event.values[i]);
  }
  const auto& doubles = event.double_counters.empty() ? sequence.default_double_counters : event.double_counters;
  for (std::size_t i = 0; i < std::min(doubles.size(), event.double_values.size()); ++i) {
    counters_.add(doubles[i], at.time, at.number, event.double_values[i]);
  }
  // Deltas wrap around instead of overflowing.
  const auto next = [](std::int64_t sum, const std::optional<std::int64_t>& absolute,
                       const std::optional<std::int64_t>& delta) {
    return absolute ? *absolute
                    : static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(*delta));
  };
  if (event.thread_absolute_us || event.thread_delta_us) {
    sequence.thread_time_us = next(sequence.thread_time_us, event.thread_absolute_us, event.thread_delta_us);
    const auto ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(sequence.thread_time_us) * 1000);
    counters_.add("thread_time", tracks_.row(at.track), at.time, at.number, ns);
  }
  if (event.instructions_absolute || event.instructions_delta) {
    sequence.instructions = next(sequence.instructions, event.instructions_absolute, event.instructions_delta);
    counters_.add("thread_instruction_count", tracks_.row(at.track), at.time, at.number, sequence.instructions);
  }
}

void PerfettoMapping::state(std::string_view name, const Moment& at) {
  const Track& one = tracks_.track(at.track);
  const std::uint32_t channel =
      channels_.add(one.name.empty() ? std::string_view("state") : std::string_view(one.name));
  if (channel == states_.size()) states_.emplace_back();
  Event event;
  event.kind = EventKind::state;
  event.time_ns = at.time;
  event.record = at.number;
  event.name = channel;
  event.has_value = !name.empty();
  event.value = name.empty() ? 0 : std::int64_t{states_[channel].add(name)} + 1;
  store_.point(tracks_.row_beside(at.track), event);
}

Event PerfettoMapping::marked(std::string_view name, const Moment& at) {
  Event event;
  event.kind = EventKind::marker;
  event.time_ns = at.time;
  event.record = at.number;
  event.name = markers_.add(name);
  event.has_value = false;
  return event;
}

void PerfettoMapping::flows(const TrackEvent& event, std::uint32_t row, const Moment& at) {
  if (event.own_flows && event.type == event_type::instant) {
    for (const std::uint64_t id : event.flows) store_.flow_of_last_point(id, FlowPart::begin);
    for (const std::uint64_t id : event.last_flows) store_.flow_of_last_point(id, FlowPart::end);
    return;
  }
  if (event.own_flows && event.type == event_type::slice_begin && event.last_flows.empty()) {
    for (const std::uint64_t id : event.flows) store_.flow_of_slice(at.time, at.number, id);
    return;
  }
  for (const std::uint64_t id : event.flows) store_.flow(row, marked("flow", at), id, FlowPart::step);
  for (const std::uint64_t id : event.last_flows) store_.flow(row, marked("flow", at), id, FlowPart::end);
}

bool PerfettoMapping::communication(const TrackEvent& event, std::string_view name, const Sequence& sequence,
                                    std::uint32_t row, const Moment& at) {
  const bool collective = name == "collective";
  if (!collective && name != "send" && name != "recv") return false;
  Event made;
  int found = 0;
  for (const std::string_view annotation : event.annotations) {
    each_annotation(annotation, &sequence, [&](std::string_view key, const std::string& value) {
      const auto whole = parse_integer<std::int64_t>(value);
      if ((key == "peer" || key == "root") && whole) {
        made.peer = static_cast<std::int32_t>(*whole);
        ++found;
      } else if ((key == "bytes" || key == "sent") && whole) {
        made.bytes = *whole;
        ++found;
      } else if (key == "received" && whole) {
        made.value = *whole;
      } else if (key == "tag" && whole) {
        made.tag = static_cast<std::int32_t>(*whole);
      } else if (key == "comm") {
        made.communicator = CommunicatorId(communicators_.add(value));
      } else if (key == "call") {
        TrackEvent call;
        call.name = value;
        made.name = region(call, {});
      }
    });
  }
  if (found != 2 || made.name == Event::kNoName) return false;
  made.kind = collective ? EventKind::collective : name == "send" ? EventKind::send : EventKind::recv;
  made.has_value = collective;
  made.time_ns = at.time;
  made.record = at.number;
  store_.point(row, made);
  return true;
}

std::optional<std::int64_t> PerfettoMapping::time_of(const TrackEvent& event, const Packet& packet,
                                                     Sequence& sequence) {
  if (event.absolute_us || event.delta_us) {
    sequence.time_us = event.absolute_us ? *event.absolute_us
                                         : static_cast<std::int64_t>(static_cast<std::uint64_t>(sequence.time_us) +
                                                                     static_cast<std::uint64_t>(*event.delta_us));
    if (sequence.time_us >= kLatest / 1000 || sequence.time_us <= -kLatest / 1000) return std::nullopt;
    const std::int64_t time = sequence.time_us * 1000;
    // Old times are of the monotonic clock.
    return clocks_.convert(kMonotonic, packet.sequence, static_cast<std::uint64_t>(time)).value_or(time);
  }
  if (!packet.time) return std::nullopt;
  const std::uint64_t clock = packet.clock.value_or(sequence.default_clock.value_or(kBoottime));
  if (const auto time = clocks_.convert(clock, packet.sequence, *packet.time)) return time;
  ++unknown_clock_;
  return static_cast<std::int64_t>(*packet.time);
}

std::uint64_t PerfettoMapping::track_of(const TrackEvent& event, const Packet& packet, const Sequence& sequence) {
  if (event.legacy && event.legacy->thread && event.legacy->process) {
    return tracks_.of_thread(*event.legacy->process, *event.legacy->thread);
  }
  return event.track ? *event.track : default_track(packet.sequence, sequence);
}
std::uint64_t PerfettoMapping::default_track(std::uint32_t number, const Sequence& sequence) {
  if (sequence.default_track) return *sequence.default_track;
  return sequence.has_thread ? kSequenceTracks + number : 0;
}

std::uint32_t PerfettoMapping::known_row(std::uint64_t track) {
  KnownRow& known = known_rows_[track * 0x9E3779B97F4A7C15U >> (64 - kKnownRowBits)];
  if (known.row == UINT32_MAX || known.track != track) known = {track, tracks_.row(track)};
  return known.row;
}

bool PerfettoMapping::take_plain(const PlainPacket& packet) {
  Sequence& sequence = sequence_of(packet.sequence);
  if (sequence.default_clock.value_or(kBoottime) != kBoottime) return false;
  std::uint32_t region = Event::kNoName;
  if (packet.name_iid != 0) {
    region = sequence.regions.find(packet.name_iid);
    if (region == IidTable::kNone) return false;
  }
  const std::uint64_t number = trace_.packets_++;
  const std::uint32_t row = known_row(packet.has_track ? packet.track : default_track(packet.sequence, sequence));
  if (packet.begins) {
    store_.begin(row, packet.time, region, number);
  } else {
    store_.end(row, packet.time, region, number);
  }
  return true;
}

void PerfettoMapping::take_event(const Packet& packet, Sequence& sequence) {
  TrackEvent& event = event_;
  if (!event.parse(packet.track_event)) {
    ++malformed_;
    return;
  }
  const auto time = time_of(event, packet, sequence);
  if (!time || *time > kLatest || *time < -kLatest) {
    ++no_time_;
    return;
  }
  const Moment at{track_of(event, packet, sequence), *time, packet.number};
  extra_counters(event, sequence, at);
  if (event.legacy && event.legacy->phase != 0 && event.type == 0) return legacy(event, sequence, at);
  switch (event.type) {
    case event_type::slice_begin: {
      const std::uint32_t row = tracks_.row(at.track);
      store_.begin(row, at.time, interned_region(event, sequence), at.number);
      flows(event, row, at);
      break;
    }
    case event_type::slice_end: {
      const std::uint32_t row = tracks_.row(at.track);
      store_.end(row, at.time, event.has_name ? interned_region(event, sequence) : Event::kNoName, at.number);
      flows(event, row, at);
      break;
    }
    case event_type::instant: {
      const std::string_view name = name_of(event, sequence);
      const std::uint32_t row = tracks_.row(at.track);
      if (communication(event, name, sequence, row, at)) break;
      store_.point(row, marked(name, at));
      flows(event, row, at);
      break;
    }
    case event_type::counter:
      if (event.value) {
        counters_.add(sequence, at.track, at.time, at.number, *event.value);
      } else if (event.double_value) {
        counters_.add(at.track, at.time, at.number, *event.double_value);
      }
      break;
    case event_type::state:
      state(name_of(event, sequence), at);
      break;
    default: {
      const std::uint32_t row = tracks_.row(at.track);
      store_.point(row, marked(name_of(event, sequence), at));
      flows(event, row, at);
    }
  }
}

}  // namespace fathom::perfetto
