#include "formats/chrome/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/chrome/event_text.hpp"
#include "io/json_scanner.hpp"
#include "trace/rank_names.hpp"

namespace fathom::chrome {

namespace {

constexpr std::uint32_t kNone = ParsedEvent::kNone;

std::uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  std::uint64_t hash = 0;
  for (const std::string_view part : parts) {
    hash = (hash ^ std::hash<std::string_view>{}(part)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// One name may be written with and without escapes.
std::uint32_t add_name(NameTable& names, std::string_view raw) {
  return raw.find('\\') == std::string_view::npos ? names.add(raw) : names.add(unescaped(raw));
}

}  // namespace

std::uint32_t ChromeMapping::process(std::string_view id) {
  const std::uint32_t number = process_ids_.add(id);
  if (number == processes_.size()) processes_.push_back({std::string(id), {}, {}, 0, false});
  return number;
}

std::uint32_t ChromeMapping::row(std::uint32_t process, std::string_view id, bool floating) {
  const auto key = std::tuple(process, floating, std::string(id));
  const auto [found, fresh] = row_numbers_.emplace(key, static_cast<std::uint32_t>(rows_.size()));
  if (fresh) rows_.push_back({process, std::string(id), {}, floating, 0, false});
  return found->second;
}

std::uint32_t ChromeMapping::region(std::uint32_t text, const Chunk& chunk, std::string_view category) {
  if (text == kNone) {
    const std::uint32_t number = regions_.add("");
    if (number == paradigms_.size()) paradigms_.emplace_back(category);
    return number;
  }
  std::uint32_t& number = chunk_regions_[text];
  if (number == kNone) {
    number = add_name(regions_, chunk.texts.texts()[text]);
    if (number == paradigms_.size()) paradigms_.emplace_back(category);
  }
  return number;
}

Result<void> ChromeMapping::take(const Chunk& chunk) {
  chunk_regions_.assign(chunk.texts.texts().size(), kNone);
  chunk_rows_.clear();
  chunk_processes_.clear();
  const auto text = [&](std::uint32_t number) {
    return number == kNone ? std::string_view{} : chunk.texts.texts()[number];
  };
  for (const ChunkThread& thread : chunk.threads) {
    chunk_processes_.push_back(process(text(thread.process)));
    chunk_rows_.push_back(row(chunk_processes_.back(), text(thread.thread), false));
  }
  for (const ParsedEvent& event : chunk.events) take(event, chunk);
  trace_.events_ += chunk.events.size();
  return {};
}

void ChromeMapping::take(const ParsedEvent& event, const Chunk& chunk) {
  const auto text = [&](std::uint32_t number) {
    return number == kNone ? std::string_view{} : chunk.texts.texts()[number];
  };
  const std::uint32_t row = chunk_rows_[event.thread];
  const std::string_view name = text(event.name);
  if (event.phase == 'M') return metadata(event, name, row);
  constexpr std::string_view kKnown = "XBEiIRPCbneSTpFstf";
  if (kKnown.find(event.phase) == std::string_view::npos) {
    ++ignored_[static_cast<unsigned char>(event.phase)];
    return;
  }
  if (!event.has_time) {
    ++untimed_;
    return;
  }
  latest_ns_ = std::max(latest_ns_, event.time_ns);
  rows_[row].used = true;
  if (!event.bind_id.empty()) bound_flow(event, row);
  const bool flows = event.phase == 's' || event.phase == 't' || event.phase == 'f';
  if (!flows) before_ = {};
  const std::string_view category = text(event.category);
  switch (event.phase) {
    case 'X':
      if (!event.has_duration) ++lengthless_;
      if (event.duration_ns < 0) {
        ++negative_;
      } else if (event.duration_ns > 0 || !message(event, name, row)) {
        store_.slice(row, event.time_ns, event.time_ns + event.duration_ns, region(event.name, chunk, category),
                     event.offset);
        before_ = {row, event.time_ns, event.offset, false};
      }
      break;
    case 'B':
      before_ = {row, event.time_ns, event.offset, false};
      store_.begin(row, event.time_ns, region(event.name, chunk, category), event.offset);
      break;
    case 'E':
      store_.end(row, event.time_ns, name.empty() ? Event::kNoName : region(event.name, chunk, category), event.offset);
      break;
    case 'C':
      counters(event, name, row);
      break;
    case 'b':
    case 'S':
    case 'e':
    case 'F':
      floating(event, name, category, chunk_processes_[event.thread], region(event.name, chunk, category),
               event.phase == 'b' || event.phase == 'S');
      break;
    case 's':
    case 't':
    case 'f':
      flow(event, name, category, row);
      break;
    default:
      if (name == "collective" && collective(event, row)) return;
      store_.point(row, marked(event, name));
      before_ = {row, event.time_ns, event.offset, true};
  }
}

void ChromeMapping::metadata(const ParsedEvent& event, std::string_view name, std::uint32_t row) {
  std::string_view wanted = name.ends_with("_sort_index") ? "sort_index" : name == "process_labels" ? "labels" : "name";
  std::string value;
  each_member(event.args, [&](std::string_view key, std::string_view found) {
    if (key == wanted) value = unescaped(plain(found));
  });
  Process& process = processes_[rows_[row].process];
  if (name == "process_name") {
    process.name = value;
  } else if (name == "process_labels") {
    process.labels = value;
  } else if (name == "process_sort_index") {
    process.sort_index = parse_double(value).value_or(0);
  } else if (name == "thread_name") {
    rows_[row].name = value;
  } else if (name == "thread_sort_index") {
    rows_[row].sort_index = parse_double(value).value_or(0);
  }
}

void ChromeMapping::counters(const ParsedEvent& event, std::string_view name, std::uint32_t row) {
  bool any = false;
  std::string full;
  each_member(event.args, [&](std::string_view key, std::string_view value) {
    const auto number = parse_double(plain(value));
    if (!number) return;
    any = true;
    full = name;
    if (!event.id.empty() && event.id != rows_[row].id) (full += '[') += std::string(event.id) + ']';
    if (key != "value") (full += ' ') += key;
    Event made;
    made.kind = EventKind::counter;
    made.time_ns = event.time_ns;
    made.record = event.offset;
    made.name = add_name(metrics_, full);
    made.value = std::bit_cast<std::int64_t>(*number);
    store_.point(row, made);
  });
  if (!any) ++nameless_counters_;
}

// An end of a message, as our own writer has them: an empty slice "send" or "recv" that says the rest in its arguments.
bool ChromeMapping::message(const ParsedEvent& event, std::string_view name, std::uint32_t row) {
  if ((name != "send" && name != "recv") || event.args.empty()) return false;
  Event made;
  bool peer = false;
  bool bytes = false;
  made.has_value = false;
  each_member(event.args, [&](std::string_view key, std::string_view value) {
    const auto number = parse_integer<std::int64_t>(plain(value));
    if (key == "peer" && number) {
      made.peer = static_cast<std::int32_t>(*number);
      peer = true;
    } else if (key == "bytes" && number) {
      made.bytes = *number;
      bytes = true;
    } else if (key == "tag" && number) {
      made.tag = static_cast<std::int32_t>(*number);
    } else if (key == "comm" && value != "null") {
      made.communicator = CommunicatorId(add_name(communicators_, plain(value)));
    } else if (key == "call") {
      made.name = call_region(plain(value));
    }
  });
  if (!peer || !bytes) return false;
  if (made.name == Event::kNoName) made.name = call_region(name);
  if (!made.communicator.valid()) made.communicator = CommunicatorId(communicators_.add("world"));
  made.kind = name == "send" ? EventKind::send : EventKind::recv;
  made.time_ns = event.time_ns;
  made.record = event.offset;
  store_.point(row, made);
  return true;
}

std::uint32_t ChromeMapping::call_region(std::string_view name) {
  const std::uint32_t number = add_name(regions_, name);
  if (number == paradigms_.size()) paradigms_.emplace_back();
  return number;
}

// A part in a collective, as our own writer has it.
bool ChromeMapping::collective(const ParsedEvent& event, std::uint32_t row) {
  Event made;
  int found = 0;
  each_member(event.args, [&](std::string_view key, std::string_view value) {
    const auto number = parse_integer<std::int64_t>(plain(value));
    if (key == "root" && number) {
      made.peer = static_cast<std::int32_t>(*number);
    } else if (key == "sent" && number) {
      made.bytes = *number;
      ++found;
    } else if (key == "received" && number) {
      made.value = *number;
      ++found;
    } else if (key == "comm" && value != "null") {
      made.communicator = CommunicatorId(add_name(communicators_, plain(value)));
    } else if (key == "call") {
      made.name = call_region(plain(value));
    }
  });
  if (found != 2 || made.name == Event::kNoName) return false;
  made.kind = EventKind::collective;
  made.time_ns = event.time_ns;
  made.record = event.offset;
  store_.point(row, made);
  return true;
}

Event ChromeMapping::marked(const ParsedEvent& event, std::string_view name) {
  Event made;
  made.kind = EventKind::marker;
  made.time_ns = event.time_ns;
  made.record = event.offset;
  made.name = add_name(markers_, name);
  made.has_value = false;
  return made;
}

void ChromeMapping::flow(const ParsedEvent& event, std::string_view name, std::string_view category,
                         std::uint32_t row) {
  // Arrows of messages; both ends are events of their own.
  if (category == "message" && name == "message") return;
  if (category == "arrow" && name == "arrow" && own_arrow(event, row)) return;
  before_ = {};
  store_.flow(row, marked(event, name), hash_of({category, name, event.id}), flow_part(event.phase));
}

// An arrow as our own writer has it: the end is a marker whose name it has, or belongs to the event before.
bool ChromeMapping::own_arrow(const ParsedEvent& event, std::uint32_t row) {
  const std::uint64_t id = hash_of({"arrow", event.id});
  const FlowPart part = flow_part(event.phase);
  std::optional<std::string_view> marker;
  each_member(event.args, [&](std::string_view key, std::string_view value) {
    if (key == "marker") marker = plain(value);
  });
  if (marker) {
    store_.flow(row, marked(event, *marker), id, part);
    before_ = {row, event.time_ns, event.offset, true};
    return true;
  }
  if (before_.row != row || before_.time_ns != event.time_ns) return false;
  if (before_.is_point) {
    store_.flow_of_last_point(id, part);
  } else if (part != FlowPart::begin) {
    return false;  // only markers have an origin
  } else {
    store_.flow_of_slice(event.time_ns, before_.record, id);
  }
  return true;
}

// The other form of flows: slices that name what flows out of them or into them.
void ChromeMapping::bound_flow(const ParsedEvent& event, std::uint32_t row) {
  if (!event.flow_in && !event.flow_out) return store_.point(row, marked(event, "flow"));
  store_.flow(row, marked(event, "flow"), hash_of({"bind_id", event.bind_id}),
              flow_part(event.flow_in, event.flow_out));
}

void ChromeMapping::floating(const ParsedEvent& event, std::string_view name, std::string_view category,
                             std::uint32_t process, std::uint32_t region, bool begins) {
  const std::uint32_t lane = row(process, category, true);
  rows_[lane].used = true;
  const bool old = event.phase == 'S' || event.phase == 'F';
  const std::uint64_t key = hash_of({category, event.id, event.scope, old ? name : std::string_view{},
                                     event.local_id ? std::string_view(processes_[process].id) : std::string_view{},
                                     event.local_id ? "local" : ""});
  if (begins) {
    store_.begin_floating(lane, key, event.time_ns, region, event.offset);
  } else {
    store_.end_floating(lane, key, event.time_ns, name.empty() ? Event::kNoName : region, event.offset);
  }
}

}  // namespace fathom::chrome
