// What programs wrote into the kernel's trace buffer (trace_marker): lines "B|PROCESS|NAME", "E|PROCESS", ...
#include "base/text.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"

namespace fathom::perfetto {

namespace {

struct FtraceEvent {
  std::uint64_t time = 0;
  std::int64_t thread = 0;
  std::string_view text;  // of a print
};

FtraceEvent parse_event(std::string_view message) {
  FtraceEvent out;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == ftrace_field::timestamp) out.time = field.value;
    if (field.number == ftrace_field::thread) out.thread = static_cast<std::int32_t>(field.value);
    if (field.number != ftrace_field::print || field.wire != Wire::bytes) continue;
    FieldCursor print(field.bytes);
    for (Field part; print.next(part);) {
      if (part.number == ftrace_field::print_text && part.wire == Wire::bytes) out.text = trim(part.bytes);
    }
  }
  return out;
}

// Takes words off the front of "B|12|name".
std::string_view take_word(std::string_view& rest) {
  const std::size_t bar = rest.find('|');
  const std::string_view word = rest.substr(0, bar);
  rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
  return word;
}

// The last word, as names may have bars.
std::string_view take_last_word(std::string_view& rest) {
  const std::size_t bar = rest.rfind('|');
  if (bar == std::string_view::npos) return {};
  const std::string_view word = rest.substr(bar + 1);
  rest = rest.substr(0, bar);
  return word;
}

}  // namespace

std::uint32_t PerfettoMapping::region(std::string_view name, std::string_view category) {
  const std::uint32_t number = regions_.add(name);
  if (number == trace_.definitions_.regions.size()) {
    Region made;
    made.name = regions_[number];
    made.file_id = number;
    made.paradigm = category;
    trace_.definitions_.regions.push_back(std::move(made));
  }
  return number;
}

void PerfettoMapping::take_ftrace(std::string_view bundle, const Packet& packet) {
  std::uint64_t used = 0, unused = 0;
  FieldCursor cursor(bundle);
  for (Field field; cursor.next(field);) {
    if (field.number != ftrace_field::event || field.wire != Wire::bytes) continue;
    const FtraceEvent event = parse_event(field.bytes);
    const auto time = clocks_.convert(kBoottime, packet.sequence, event.time)
                          .value_or(static_cast<std::int64_t>(std::min<std::uint64_t>(event.time, kLatest)));
    ++(take_mark(event.text, event.thread, {0, time, packet.number}) ? used : unused);
  }
  if (cursor.failed() != nullptr || used == 0) {
    ++others_[packet_field::ftrace_events];
  } else {
    ftrace_unused_ += unused;
  }
}

bool PerfettoMapping::take_mark(std::string_view text, std::int64_t thread, Moment at) {
  std::string_view rest = text;
  const std::string_view kind = take_word(rest);
  if (kind.size() != 1) return false;
  const auto named = parse_integer<std::int64_t>(take_word(rest));
  std::int64_t& process = process_of_thread_.try_emplace(thread, named.value_or(thread)).first->second;
  if (named) process = *named;
  if (!named && kind != "E") return false;
  const std::uint32_t row = tracks_.row(tracks_.of_thread(process, thread));
  const auto floating = [&](std::string_view scope, std::string_view cookie, std::string_view name, bool begins) {
    const std::hash<std::string_view> hash;
    const std::uint64_t key = hash(scope) * 31 ^ hash(cookie) * 17 ^ static_cast<std::uint64_t>(process);
    const std::uint32_t shared = tracks_.row(kFloatingTrack);
    tracks_.track(kFloatingTrack).name = "async";
    if (begins) {
      store_.begin_floating(shared, key, at.time, region(name, "ftrace"), at.number);
    } else {
      store_.end_floating(shared, key, at.time, Event::kNoName, at.number);
    }
    return true;
  };
  switch (kind.front()) {
    case 'B':
      store_.begin(row, at.time, region(rest, "ftrace"), at.number);
      return true;
    case 'E':
      store_.end(row, at.time, Event::kNoName, at.number);
      return true;
    case 'S':    // PROCESS|NAME|COOKIE
    case 'F': {  // the same
      const std::string_view cookie = take_last_word(rest);
      return floating(rest, cookie, rest, kind == "S");
    }
    case 'G':    // PROCESS|TRACK|NAME|COOKIE
    case 'H': {  // PROCESS|TRACK|COOKIE
      const std::string_view cookie = take_last_word(rest);
      const std::string_view track = take_word(rest);
      return floating(track, cookie, rest.empty() ? track : rest, kind == "G");
    }
    case 'C': {
      const auto value = parse_integer<std::int64_t>(take_last_word(rest));
      if (!value) return false;
      counters_.add(rest, tracks_.row(tracks_.of_thread(process, process)), at.time, at.number, *value);
      return true;
    }
    case 'I':  // PROCESS|NAME
      store_.point(row, marked(rest, at));
      return true;
    case 'N':  // PROCESS|TRACK|NAME
      (void)take_word(rest);
      store_.point(row, marked(rest, at));
      return true;
    default:
      return false;
  }
}

}  // namespace fathom::perfetto
