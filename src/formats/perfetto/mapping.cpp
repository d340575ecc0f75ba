#include "formats/perfetto/mapping.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/number.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "io/inflate.hpp"

namespace fathom::perfetto {

namespace {

constexpr int kMostNested = 3;                                     // packets inside packets
constexpr std::uint64_t kSequenceTracks = 0xF000'0000'0000'0000u;  // of sequences with an old thread descriptor
constexpr std::int64_t kLatest = INT64_MAX - 16;

}  // namespace

void PerfettoMapping::Sequence::clear() {
  names.clear();
  categories.clear();
  annotation_names.clear();
  strings.clear();
  regions.clear();
  sums.clear();
  defaults = {};
}

void PerfettoMapping::TrackEvent::clear() {
  type = name_iid = category_iid = 0;
  track.reset();
  name = category = {};
  has_name = false;
  annotations.clear();
  counters.clear();
  double_counters.clear();
  flows.clear();
  last_flows.clear();
  values.clear();
  double_values.clear();
  value.reset();
  double_value.reset();
  legacy.reset();
  delta_us.reset();
  absolute_us.reset();
  thread_delta_us.reset();
  thread_absolute_us.reset();
  instructions_delta.reset();
  instructions_absolute.reset();
}

Result<void> PerfettoMapping::take_trace(const Blob& blob, int depth) {
  const std::string_view text = blob.text();
  std::optional<Progress> progress;
  if (depth == 0) progress.emplace("reading packets", std::max<std::size_t>(text.size(), 1));
  FieldCursor cursor(text);
  std::size_t before = 0;
  for (Field field; cursor.next(field);) {
    if (progress) progress->advance(cursor.at() - before);
    before = cursor.at();
    if (field.number != 1 || field.wire != Wire::bytes) continue;
    if (depth == 0 && trace_.packets_ % PerfettoTrace::kStride == 0) trace_.offsets_.push_back(before);
    FATHOM_CHECK(take_packet(field.bytes, depth));
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

Result<void> PerfettoMapping::take_packet(std::string_view bytes, int depth) {
  Packet packet;
  packet.number = trace_.packets_++;
  std::string_view interned, defaults, compressed, thread;
  bool cleared = false;
  std::uint32_t other = 0;
  FieldCursor cursor(bytes);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case 8:
        packet.time = field.value;
        break;
      case 58:
        packet.clock = field.value;
        break;
      case 10:
        packet.sequence = static_cast<std::uint32_t>(field.value);
        break;
      case 13:
        cleared = cleared || (field.value & 1) != 0;
        break;
      case 41:
        cleared = cleared || field.value != 0;
        break;
      case 12:
        interned = field.bytes;
        break;
      case 59:
        defaults = field.bytes;
        break;
      case 11:
        if (field.wire == Wire::bytes) packet.track_event = field.bytes;
        break;
      case 60:
        if (field.wire == Wire::bytes && !tracks_.describe(field.bytes)) ++malformed_;
        break;
      case 6:
        if (field.wire == Wire::bytes) clocks_.take(field.bytes, packet.sequence);
        break;
      case 43:
        if (field.wire == Wire::bytes) tracks_.describe_process(field.bytes);
        break;
      case 44:
        if (field.wire == Wire::bytes) thread = field.bytes;
        break;
      case 2:
        if (field.wire == Wire::bytes) tracks_.describe_tree(field.bytes);
        break;
      case 50:
        compressed = field.bytes;
        break;
      case 133:
        ++zstd_;
        break;
      case 3:   // trusted uid
      case 42:  // packets were dropped before
      case 79:  // trusted pid
      case 87:  // first on the sequence
      case 98:
        break;
      default:
        if (field.wire == Wire::bytes) other = field.number;
    }
  }
  if (cursor.failed() != nullptr) {
    ++malformed_;
    return {};
  }
  if (other != 0) ++others_[other];
  if (!compressed.empty()) {
    trace_.compressed_ = true;
    if (depth >= kMostNested) {
      ++malformed_;
      return {};
    }
    const Blob packed(trace_.blob_.name(), as_bytes(compressed), nullptr);
    auto blob = gunzip(packed, trace_.work_, trace_.work_->budget.limit());
    if (!blob.ok()) {
      ++malformed_;
      return {};
    }
    return take_trace(*blob, depth + 1);
  }
  Sequence& sequence = sequences_[packet.sequence];
  if (cleared) sequence.clear();
  if (!thread.empty()) {
    tracks_.describe_thread(thread, kSequenceTracks + packet.sequence);
    sequence.has_thread = true;
    FieldCursor inner(thread);
    for (Field field; inner.next(field);) {
      if (field.number == 6) sequence.time_us = field.integer();
      if (field.number == 7) sequence.thread_time_us = field.integer();
      if (field.number == 8) sequence.instructions = field.integer();
    }
  }
  if (!interned.empty()) take_interned(interned, sequence);
  if (!defaults.empty()) take_defaults(defaults, sequence);
  if (!packet.track_event.empty()) take_event(packet, sequence);
  return {};
}

void PerfettoMapping::take_interned(std::string_view message, Sequence& sequence) {
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    auto* table = field.number == 1    ? &sequence.categories
                  : field.number == 2  ? &sequence.names
                  : field.number == 3  ? &sequence.annotation_names
                  : field.number == 29 ? &sequence.strings
                                       : nullptr;
    if (table == nullptr || field.wire != Wire::bytes) continue;
    std::uint64_t iid = 0;
    std::string_view text;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == 1) iid = part.value;
      if (part.number == 2 && part.wire == Wire::bytes) text = part.bytes;
    }
    (*table)[iid] = std::string(text);
    if (field.number == 2) sequence.regions.erase(iid);
  }
}

void PerfettoMapping::take_defaults(std::string_view message, Sequence& sequence) {
  sequence.defaults = {};
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == 58) sequence.defaults.clock = field.value;
    if (field.number != 11 || field.wire != Wire::bytes) continue;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == 11) sequence.defaults.track = part.value;
      if (part.number == 31) each_number(part, [&](std::uint64_t uuid) { sequence.defaults.counters.push_back(uuid); });
      if (part.number == 45) {
        each_number(part, [&](std::uint64_t uuid) { sequence.defaults.double_counters.push_back(uuid); });
      }
    }
  }
}

PerfettoMapping::Legacy PerfettoMapping::parse_legacy(std::string_view message) {
  Legacy out;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == 1) out.name = field.value;
    if (field.number == 2) out.phase = static_cast<char>(field.value);
    if (field.number == 3) out.duration_us = field.integer();
    if (field.number == 6 || field.number == 10 || field.number == 11) out.id = field.value;
    if (field.number == 7 && field.wire == Wire::bytes) out.scope = field.bytes;
  }
  return out;
}

bool PerfettoMapping::parse(std::string_view message, TrackEvent& out) const {
  out.clear();
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case 9:
        out.type = field.value;
        break;
      case 11:
        out.track = field.value;
        break;
      case 23:
        out.name = field.bytes;
        out.has_name = true;
        break;
      case 10:
        out.name_iid = field.value;
        out.has_name = true;
        break;
      case 22:
        if (out.category.empty()) out.category = field.bytes;
        break;
      case 3:
        each_number(field,
                    [&](std::uint64_t iid) { out.category_iid = out.category_iid == 0 ? iid : out.category_iid; });
        break;
      case 4:
        if (field.wire == Wire::bytes) out.annotations.push_back(field.bytes);
        break;
      case 30:
        out.value = field.integer();
        break;
      case 44:
        out.double_value = real_of(field);
        break;
      case 31:
        each_number(field, [&](std::uint64_t uuid) { out.counters.push_back(uuid); });
        break;
      case 12:
        each_number(field, [&](std::uint64_t value) { out.values.push_back(static_cast<std::int64_t>(value)); });
        break;
      case 45:
        each_number(field, [&](std::uint64_t uuid) { out.double_counters.push_back(uuid); });
        break;
      case 46:
        each_fixed64(field, [&](std::uint64_t value) { out.double_values.push_back(std::bit_cast<double>(value)); });
        break;
      case 47:
        each_fixed64(field, [&](std::uint64_t id) { out.flows.push_back(id); });
        break;
      case 48:
        each_fixed64(field, [&](std::uint64_t id) { out.last_flows.push_back(id); });
        break;
      case 36:
        each_number(field, [&](std::uint64_t id) { out.flows.push_back(id); });
        break;
      case 42:
        each_number(field, [&](std::uint64_t id) { out.last_flows.push_back(id); });
        break;
      case 6:
        if (field.wire == Wire::bytes) out.legacy = parse_legacy(field.bytes);
        break;
      case 1:
        out.delta_us = field.integer();
        break;
      case 16:
        out.absolute_us = field.integer();
        break;
      case 2:
        out.thread_delta_us = field.integer();
        break;
      case 17:
        out.thread_absolute_us = field.integer();
        break;
      case 8:
        out.instructions_delta = field.integer();
        break;
      case 20:
        out.instructions_absolute = field.integer();
        break;
      default:
        break;
    }
  }
  return cursor.failed() == nullptr;
}

std::string_view PerfettoMapping::name_of(const TrackEvent& event, const Sequence& sequence) {
  if (!event.name.empty()) return event.name;
  const std::uint64_t iid = event.name_iid != 0 ? event.name_iid : event.legacy ? event.legacy->name : 0;
  if (iid == 0) return {};
  const auto found = sequence.names.find(iid);
  if (found != sequence.names.end()) return found->second;
  ++unknown_name_;
  return {};
}

std::uint32_t PerfettoMapping::region(const TrackEvent& event, Sequence& sequence) {
  if (event.name.empty() && event.name_iid != 0) {
    if (const auto known = sequence.regions.find(event.name_iid); known != sequence.regions.end()) return known->second;
  }
  const std::uint32_t number = regions_.add(name_of(event, sequence));
  if (event.name.empty() && event.name_iid != 0) sequence.regions[event.name_iid] = number;
  if (number == trace_.definitions_.regions.size()) {
    Region made;
    made.name = regions_[number];
    made.file_id = number;
    const auto known = sequence.categories.find(event.category_iid);
    made.paradigm = !event.category.empty()              ? std::string(event.category)
                    : known != sequence.categories.end() ? known->second
                                                         : std::string();
    trace_.definitions_.regions.push_back(std::move(made));
  }
  return number;
}

std::uint32_t PerfettoMapping::metric(std::string_view name, const CounterTrack& counter, bool is_double) {
  std::string key(name.empty() ? "counter" : name);
  if (const std::uint32_t known = metrics_.find(key);
      known != NameTable::kNone && metric_list_[known].type.is_double() != is_double) {
    key += is_double ? " (real)" : " (whole)";
  }
  const std::uint32_t number = metrics_.add(key);
  if (number == metric_list_.size()) {
    Metric made;
    made.name = made.display_name = key;
    made.unit = counter.unit;
    made.type = {is_double ? ValueKind::f64 : ValueKind::i64, 0};
    made.file_id = number;
    metric_list_.push_back(std::move(made));
  }
  return number;
}

void PerfettoMapping::counter(Sequence& sequence, std::uint64_t track, std::int64_t time, std::uint64_t number,
                              std::int64_t value) {
  const Track& one = tracks_.track(track);
  const auto scaled =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(one.counter.multiplier));
  std::int64_t shown = scaled;
  if (one.counter.incremental) {
    std::int64_t& sum = sequence.sums[track];
    sum = shown = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(scaled));
  }
  Event event;
  event.kind = EventKind::counter;
  event.time_ns = time;
  event.record = number;
  event.value = shown;
  event.name = metric(one.name, one.counter, false);
  store_.point(tracks_.row_beside(track), event);
}

void PerfettoMapping::double_counter(std::uint64_t track, std::int64_t time, std::uint64_t number, double value) {
  const Track& one = tracks_.track(track);
  Event event;
  event.kind = EventKind::counter;
  event.time_ns = time;
  event.record = number;
  event.value = std::bit_cast<std::int64_t>(value * static_cast<double>(one.counter.multiplier));
  event.name = metric(one.name, one.counter, true);
  store_.point(tracks_.row_beside(track), event);
}

void PerfettoMapping::thread_counter(std::string_view name, std::uint64_t track, std::int64_t time,
                                     std::uint64_t number, std::int64_t value) {
  Event event;
  event.kind = EventKind::counter;
  event.time_ns = time;
  event.record = number;
  event.value = value;
  event.name = metric(name, {}, false);
  store_.point(tracks_.row(track), event);
}

void PerfettoMapping::counters(const TrackEvent& event, Sequence& sequence, std::uint64_t track, std::int64_t time,
                               std::uint64_t number) {
  const auto& uuids = event.counters.empty() ? sequence.defaults.counters : event.counters;
  for (std::size_t i = 0; i < std::min(uuids.size(), event.values.size()); ++i) {
    counter(sequence, uuids[i], time, number, event.values[i]);
  }
  const auto& doubles = event.double_counters.empty() ? sequence.defaults.double_counters : event.double_counters;
  for (std::size_t i = 0; i < std::min(doubles.size(), event.double_values.size()); ++i) {
    double_counter(doubles[i], time, number, event.double_values[i]);
  }
  if (event.thread_absolute_us || event.thread_delta_us) {
    sequence.thread_time_us =
        event.thread_absolute_us ? *event.thread_absolute_us : sequence.thread_time_us + *event.thread_delta_us;
    thread_counter("thread_time", track, time, number, sequence.thread_time_us * 1000);
  }
  if (event.instructions_absolute || event.instructions_delta) {
    sequence.instructions =
        event.instructions_absolute ? *event.instructions_absolute : sequence.instructions + *event.instructions_delta;
    thread_counter("thread_instruction_count", track, time, number, sequence.instructions);
  }
}

void PerfettoMapping::state(std::uint64_t track, std::string_view name, std::int64_t time, std::uint64_t number) {
  const Track& one = tracks_.track(track);
  const std::uint32_t channel =
      channels_.add(one.name.empty() ? std::string_view("state") : std::string_view(one.name));
  if (channel == states_.size()) states_.emplace_back();
  Event event;
  event.kind = EventKind::state;
  event.time_ns = time;
  event.record = number;
  event.name = channel;
  event.has_value = !name.empty();
  event.value = name.empty() ? 0 : std::int64_t{states_[channel].add(name)} + 1;
  store_.point(tracks_.row_beside(track), event);
}

void PerfettoMapping::marker(std::uint32_t row, std::string_view name, std::int64_t time, std::uint64_t number,
                             std::uint64_t origin) {
  Event event;
  event.kind = EventKind::marker;
  event.time_ns = time;
  event.record = number;
  event.origin = origin;
  event.name = markers_.add(name);
  event.has_value = false;
  store_.point(row, event);
}

void PerfettoMapping::flows(const TrackEvent& event, std::uint32_t row, std::int64_t time, std::uint64_t number) {
  const auto one = [&](std::uint64_t id, bool last) {
    std::uint64_t origin = Event::kNoRecord;
    const auto found = flows_.find(id);
    if (found != flows_.end()) origin = found->second;
    marker(row, "flow", time, number, origin);
    if (last) {
      if (found != flows_.end()) flows_.erase(found);
    } else {
      flows_[id] = number;
    }
  };
  for (const std::uint64_t id : event.flows) one(id, false);
  for (const std::uint64_t id : event.last_flows) one(id, true);
}

bool PerfettoMapping::communication(const TrackEvent& event, std::string_view name, const Sequence& sequence,
                                    std::uint32_t row, std::int64_t time, std::uint64_t number) {
  const bool collective = name == "collective";
  if (!collective && name != "send" && name != "recv") return false;
  Event made;
  int found = 0;
  for (const std::string_view annotation : event.annotations) {
    each_annotation(annotation, {&sequence.annotation_names, &sequence.strings},
                    [&](std::string_view key, const std::string& value) {
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
                        Sequence none;
                        made.name = region(call, none);
                      }
                    });
  }
  if (found != 2 || made.name == Event::kNoName) return false;
  made.kind = collective ? EventKind::collective : name == "send" ? EventKind::send : EventKind::recv;
  made.has_value = collective;
  made.time_ns = time;
  made.record = number;
  store_.point(row, made);
  return true;
}

void PerfettoMapping::take_event(const Packet& packet, Sequence& sequence) {
  TrackEvent& event = event_;
  if (!parse(packet.track_event, event)) {
    ++malformed_;
    return;
  }
  std::optional<std::int64_t> time;
  if (event.absolute_us || event.delta_us) {
    sequence.time_us = event.absolute_us ? *event.absolute_us : sequence.time_us + *event.delta_us;
    time =
        sequence.time_us < kLatest / 1000 && sequence.time_us > -kLatest / 1000 ? sequence.time_us * 1000 : INT64_MAX;
    // Old times are of the monotonic clock.
    if (const auto tied = clocks_.convert(3, packet.sequence, static_cast<std::uint64_t>(*time))) time = tied;
  } else if (packet.time) {
    const std::uint64_t clock = packet.clock.value_or(sequence.defaults.clock.value_or(kBoottime));
    time = clocks_.convert(clock, packet.sequence, *packet.time);
    if (!time) {
      ++unknown_clock_;
      time = static_cast<std::int64_t>(*packet.time);
    }
  }
  if (!time || *time > kLatest || *time < -kLatest) {
    ++no_time_;
    return;
  }
  std::uint64_t track = 0;
  if (event.track) {
    track = *event.track;
  } else if (sequence.defaults.track) {
    track = *sequence.defaults.track;
  } else if (sequence.has_thread) {
    track = kSequenceTracks + packet.sequence;
  }
  const std::uint64_t number = packet.number;
  counters(event, sequence, track, *time, number);
  if (event.legacy && event.legacy->phase != 0 && event.type == 0) return legacy(event, sequence, track, *time, number);
  switch (event.type) {
    case 1: {
      const std::uint32_t row = tracks_.row(track);
      store_.begin(row, *time, region(event, sequence), number);
      flows(event, row, *time, number);
      break;
    }
    case 2:
      store_.end(tracks_.row(track), *time, event.has_name ? region(event, sequence) : Event::kNoName, number);
      break;
    case 3: {
      const std::string_view name = name_of(event, sequence);
      const std::uint32_t row = tracks_.row(track);
      if (communication(event, name, sequence, row, *time, number)) break;
      marker(row, name, *time, number);
      flows(event, row, *time, number);
      break;
    }
    case 4:
      if (event.value) {
        counter(sequence, track, *time, number, *event.value);
      } else if (event.double_value) {
        double_counter(track, *time, number, *event.double_value);
      }
      break;
    case 5:
      state(track, name_of(event, sequence), *time, number);
      break;
    default:
      marker(tracks_.row(track), name_of(event, sequence), *time, number);
  }
}

void PerfettoMapping::legacy(const TrackEvent& event, Sequence& sequence, std::uint64_t track, std::int64_t time,
                             std::uint64_t number) {
  const Legacy& old = *event.legacy;
  const std::uint32_t row = tracks_.row(track);
  switch (old.phase) {
    case 'B':
      return store_.begin(row, time, region(event, sequence), number);
    case 'E':
      return store_.end(row, time, event.has_name ? region(event, sequence) : Event::kNoName, number);
    case 'X': {
      const std::int64_t length =
          std::clamp<std::int64_t>(old.duration_us, 0, (kLatest - std::max<std::int64_t>(time, 0)) / 1000);
      return store_.slice(row, time, time + length * 1000, region(event, sequence), number);
    }
    case 'b':
    case 'S':
    case 'e':
    case 'F': {
      std::uint64_t key = old.id.value_or(0) ^ std::hash<std::string_view>{}(old.scope) * 31;
      const auto known = sequence.categories.find(event.category_iid);
      const std::string_view category = !event.category.empty()              ? event.category
                                        : known != sequence.categories.end() ? std::string_view(known->second)
                                                                             : std::string_view{};
      key ^= std::hash<std::string_view>{}(category)*17;
      // Ids may be shared by all processes: one row for all of them.
      const std::uint32_t shared = tracks_.row(kSequenceTracks - 1);
      tracks_.track(kSequenceTracks - 1).name = "async";
      if (old.phase == 'b' || old.phase == 'S') {
        store_.begin_floating(shared, key, time, region(event, sequence), number);
      } else {
        store_.end_floating(shared, key, time, event.has_name ? region(event, sequence) : Event::kNoName, number);
      }
      return;
    }
    default:
      marker(row, name_of(event, sequence), time, number);
  }
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
  FATHOM_CHECK(say("perfetto.zstd", Severity::data_loss, zstd_, "packets are compressed with zstd, which is not read"));
  FATHOM_CHECK(say("perfetto.no_time", Severity::data_loss, no_time_, "events without a usable time are left out"));
  FATHOM_CHECK(say("perfetto.unknown_clock", Severity::warning, unknown_clock_,
                   "times are of a clock that nothing ties to the others; they are taken as they are"));
  FATHOM_CHECK(say("perfetto.unknown_name", Severity::warning, unknown_name_, "names are not in the interned data"));
  std::uint64_t others = 0;
  std::string kinds;
  for (const auto& [number, count] : others_) {
    others += count;
    kinds += fmt::format("{}{} of field {}", kinds.empty() ? "" : ", ", grouped(count), number);
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
  definitions.metrics = std::move(metric_list_);
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

void each_annotation(std::string_view message, const AnnotationNames& interned,
                     const std::function<void(std::string_view, const std::string&)>& take, int depth) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return;
  std::string name;
  std::string value;
  bool simple = false;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    const bool text = field.wire == Wire::bytes;
    switch (field.number) {
      case 10:
        name = field.bytes;
        continue;
      case 1:
        if (interned.names != nullptr) {
          const auto found = interned.names->find(field.value);
          if (found != interned.names->end()) name = found->second;
        }
        continue;
      case 2:
        value = field.value != 0 ? "true" : "false";
        break;
      case 3:
        value = fmt::format("{}", field.value);
        break;
      case 4:
        value = fmt::format("{}", field.integer());
        break;
      case 5:
        value = exact_text(real_of(field));
        break;
      case 6:
      case 9:
        if (!text) continue;
        value = field.bytes;
        break;
      case 17:
        if (interned.strings != nullptr) {
          const auto found = interned.strings->find(field.value);
          if (found != interned.strings->end()) value = found->second;
        }
        break;
      case 7:
        value = fmt::format("0x{:x}", field.value);
        break;
      case 11:
      case 12:
        if (!text) continue;
        // Nested ones are shown with their own names.
        each_annotation(
            field.bytes, interned,
            [&](std::string_view inner, const std::string& shown) {
              value += fmt::format("{}{}{}{}", value.empty() ? "" : ",", inner, inner.empty() ? "" : ":", shown);
            },
            depth + 1);
        break;
      default:
        continue;
    }
    simple = true;
  }
  if (simple) take(name, value);
}

}  // namespace fathom::perfetto
