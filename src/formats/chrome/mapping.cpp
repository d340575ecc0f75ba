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

std::string unescaped(std::string_view raw) {
  auto text = json_unescape(raw);
  return text ? *std::move(text) : std::string(raw);
}
std::uint64_t hash_of(std::initializer_list<std::string_view> parts) {
  std::uint64_t hash = 0;
  for (const std::string_view part : parts) {
    hash = (hash ^ std::hash<std::string_view>{}(part)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
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
    number = regions_.add(chunk.texts.texts()[text]);
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
  constexpr std::string_view kKnown = "XBEiICbneSTpFstf";
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
  const std::string_view category = text(event.category);
  switch (event.phase) {
    case 'X':
      if (event.duration_ns < 0) {
        ++negative_;
      } else if (event.duration_ns > 0 || !message(event, name, row)) {
        store_.slice(row, event.time_ns, event.time_ns + event.duration_ns, region(event.name, chunk, category),
                     event.offset);
      }
      break;
    case 'B':
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
      if (name != "collective" || !collective(event, row)) marker(event, name, row, Event::kNoRecord);
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
    made.name = metrics_.add(full);
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
      made.communicator = CommunicatorId(communicators_.add(plain(value)));
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
  const std::uint32_t number = regions_.add(name);
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
      made.communicator = CommunicatorId(communicators_.add(plain(value)));
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

void ChromeMapping::marker(const ParsedEvent& event, std::string_view name, std::uint32_t row, std::uint64_t origin) {
  Event made;
  made.kind = EventKind::marker;
  made.time_ns = event.time_ns;
  made.record = event.offset;
  made.origin = origin;
  made.name = markers_.add(name);
  made.has_value = false;
  store_.point(row, made);
}

void ChromeMapping::flow(const ParsedEvent& event, std::string_view name, std::string_view category,
                         std::uint32_t row) {
  // Arrows of messages; both ends are events of their own.
  if (category == "message" && name == "message") return;
  const std::uint64_t key = hash_of({category, name, event.id});
  std::uint64_t origin = Event::kNoRecord;
  if (event.phase == 's') {
    flows_[key] = event.offset;
  } else if (const auto found = flows_.find(key); found != flows_.end()) {
    origin = found->second;
    if (event.phase == 'f') flows_.erase(found);
  }
  marker(event, name, row, origin);
}

// The other form of flows: slices that name what flows out of them or into them.
void ChromeMapping::bound_flow(const ParsedEvent& event, std::uint32_t row) {
  const std::uint64_t key = hash_of({"bind_id", event.bind_id});
  std::uint64_t origin = Event::kNoRecord;
  if (event.flow_in) {
    if (const auto found = flows_.find(key); found != flows_.end()) origin = found->second;
    if (!event.flow_out) flows_.erase(key);
  }
  if (event.flow_out) flows_[key] = event.offset;
  marker(event, "flow", row, origin);
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

// Newer PyTorch files count from a base; older ones that name it have whole times.
std::int64_t ChromeMapping::shift(const EventFile& file) const {
  const auto found = file.others.find("baseTimeNanoseconds");
  if (found == file.others.end()) return 0;
  const auto base = parse_integer<std::int64_t>(plain(found->second));
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  return base && *base > -kMost && *base < kMost && (*base < 0 || latest_ns_ < *base) ? *base : 0;
}

Result<void> ChromeMapping::note_losses() const {
  Diagnostics& diagnostics = trace_.work_->diagnostics;
  const Place place = Place::in(trace_.blob_.name());
  std::uint64_t ignored = 0;
  std::string phases;
  for (std::size_t i = 0; i < ignored_.size(); ++i) {
    if (ignored_[i] == 0) continue;
    ignored += ignored_[i];
    const std::string phase = i == 0 ? "none" : i < 0x20 || i >= 0x7F ? "?" : std::string(1, static_cast<char>(i));
    phases += fmt::format("{}{} of phase {}", phases.empty() ? "" : ", ", grouped(ignored_[i]), phase);
  }
  if (ignored > 0) {
    FATHOM_CHECK(diagnostics.add("chrome.ignored_events", Severity::info, place,
                                 "events that a trace has no place for: " + phases, ignored));
  }
  if (untimed_ > 0) {
    FATHOM_CHECK(diagnostics.add("chrome.no_time", Severity::data_loss, place,
                                 fmt::format("{} events without a usable \"ts\" are left out", grouped(untimed_)),
                                 untimed_));
  }
  if (negative_ > 0) {
    FATHOM_CHECK(diagnostics.add("chrome.negative_duration", Severity::data_loss, place,
                                 fmt::format("{} events with a negative \"dur\" are left out", grouped(negative_)),
                                 negative_));
  }
  if (nameless_counters_ > 0) {
    FATHOM_CHECK(diagnostics.add(
        "chrome.empty_counter", Severity::warning, place,
        fmt::format("{} counters without a number in their \"args\" are left out", grouped(nameless_counters_)),
        nameless_counters_));
  }
  return {};
}

Result<void> ChromeMapping::finish(const EventFile& file) {
  if (file.cut_off) {
    // A list without its bracket is how programs that stop early leave it, and legal.
    FATHOM_CHECK(trace_.work_->diagnostics.add("chrome.cut_off", Severity::info, Place::in(trace_.blob_.name()),
                                               "the list of events is not closed; the whole events are used"));
  }
  FATHOM_CHECK(note_losses());
  Definitions& definitions = trace_.definitions_;
  for (std::uint32_t i = 0; i < regions_.size(); ++i) {
    Region region;
    region.name = unescaped(regions_[i]);
    region.paradigm = unescaped(paradigms_[i]);
    region.file_id = i;
    definitions.regions.push_back(std::move(region));
  }
  for (const std::string& text : markers_.texts()) trace_.markers_.push_back(unescaped(text));
  for (const std::string& text : communicators_.texts()) trace_.communicators_.push_back({unescaped(text), {}, {}});
  for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
    Metric metric;
    metric.name = metric.display_name = unescaped(metrics_[i]);
    metric.type = {ValueKind::f64, 0};
    metric.file_id = i;
    definitions.metrics.push_back(std::move(metric));
  }
  for (const auto& [key, value] : file.others) {
    if (value.size() < 200 && !value.starts_with('{') && !value.starts_with('[')) {
      definitions.attributes.emplace_back(key, unescaped(plain(value)));
    }
  }
  for (const Row& row : rows_) processes_[row.process].used |= row.used;
  // Numbers before texts, both in order.
  const auto rank_of = [](const std::string& id) {
    const auto number = parse_integer<std::int64_t>(id);
    return std::tuple(!number, number.value_or(0), std::string_view(id));
  };
  std::vector<std::uint32_t> order(processes_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(processes_[a].sort_index, rank_of(processes_[a].id)) <
           std::tuple(processes_[b].sort_index, rank_of(processes_[b].id));
  });
  std::vector<std::vector<std::uint32_t>> rows(processes_.size());
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].used) rows[rows_[i].process].push_back(i);
  }
  std::vector<StoredTrace::RowNode> nodes;
  std::int64_t rank = 0;
  for (const std::uint32_t number : order) {
    const Process& process = processes_[number];
    if (!process.used) continue;
    SystemNode group;
    group.kind = SystemKind::group;
    group.type = "process";
    group.name = !process.name.empty() ? process.name
                 : process.id.empty()  ? "process"
                                       : "process " + unescaped(process.id);
    group.rank = rank_in_name(group.name).value_or(rank);
    ++rank;
    group.label = unescaped(process.id);
    if (!process.labels.empty()) group.attributes.emplace_back("labels", process.labels);
    const SystemNodeId parent = definitions.system.add(std::move(group));
    auto& mine = rows[number];
    std::sort(mine.begin(), mine.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(rows_[a].floating, rows_[a].sort_index, rank_of(rows_[a].id)) <
             std::tuple(rows_[b].floating, rows_[b].sort_index, rank_of(rows_[b].id));
    });
    std::int64_t thread = 0;
    for (const std::uint32_t at : mine) {
      const Row& row = rows_[at];
      SystemNode node;
      node.parent = parent;
      node.kind = SystemKind::location;
      node.type = row.floating ? "stream" : "thread";
      node.rank = thread++;
      node.file_id = nodes.size();
      const std::string id = unescaped(row.id);
      const std::string process_id = unescaped(process.id);
      if (row.floating) {
        node.name = id.empty() ? "async" : "async " + id;
        node.label = fmt::format("{}.async{}{}", process_id, id.empty() ? "" : ".", id);
      } else {
        node.name = !row.name.empty() ? row.name : id.empty() ? "process" : "thread " + id;
        node.label = id.empty() ? process_id : process_id + "." + id;
      }
      nodes.push_back({at, std::move(node)});
    }
  }
  return trace_.finish(std::move(nodes), static_cast<std::uint32_t>(rows_.size()), Place::in(trace_.blob_.name()),
                       shift(file));
}

}  // namespace fathom::chrome
