// What is known when all events are read: names, places, and what was left out.
#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/chrome/event_text.hpp"
#include "formats/chrome/mapping.hpp"
#include "trace/rank_names.hpp"

namespace fathom::chrome {

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
  if (lengthless_ > 0) {
    FATHOM_CHECK(diagnostics.add(
        "chrome.no_duration", Severity::info, place,
        fmt::format("{} complete events without a usable \"dur\" have no length", grouped(lengthless_)), lengthless_));
  }
  if (nameless_counters_ > 0) {
    FATHOM_CHECK(diagnostics.add(
        "chrome.empty_counter", Severity::warning, place,
        fmt::format("{} counters without a number in their \"args\" are left out", grouped(nameless_counters_)),
        nameless_counters_));
  }
  return {};
}

// What stands beside the events; of objects (distributedInfo has the rank of a PyTorch process) what is simple in them.
void ChromeMapping::describe(const EventFile& file) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kMost = 64;  // of an object
  Attributes& attributes = trace_.definitions_.attributes;
  const auto add = [&](std::string key, std::string_view value) {
    if (value.size() >= kLongest || value.starts_with('{') || value.starts_with('[')) return;
    attributes.emplace_back(std::move(key), unescaped(plain(value)));
  };
  for (const auto& [key, value] : file.others) {
    if (!value.starts_with('{')) {
      add(key, value);
      continue;
    }
    std::size_t count = 0;
    each_member(value, [&](std::string_view inner, std::string_view one) {
      if (count++ < kMost) add(fmt::format("{}.{}", key, inner), one);
    });
  }
}

// Lists of other things than events.
Result<void> ChromeMapping::note_other_lists(const EventFile& file) const {
  std::string names;
  for (const char* key : {"samples", "stackFrames", "systemTraceEvents"}) {
    const auto found = file.others.find(key);
    if (found == file.others.end()) continue;
    // Brackets and blanks alone are nothing.
    if (found->second.find_first_not_of(" \t\r\n[]{}\"") == std::string::npos) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key);
  }
  if (names.empty()) return {};
  return trace_.work_->diagnostics.add("chrome.other_lists", Severity::info, Place::in(trace_.blob_.name()),
                                       "lists beside the events are not used: " + names);
}

Result<void> ChromeMapping::finish(const EventFile& file) {
  if (file.cut_off) {
    // A list without its bracket is how programs that stop early leave it, and legal.
    FATHOM_CHECK(trace_.work_->diagnostics.add("chrome.cut_off", Severity::info, Place::in(trace_.blob_.name()),
                                               "the list of events is not closed; the whole events are used"));
  }
  FATHOM_CHECK(note_losses());
  FATHOM_CHECK(note_other_lists(file));
  Definitions& definitions = trace_.definitions_;
  for (std::uint32_t i = 0; i < regions_.size(); ++i) {
    Region region;
    region.name = regions_[i];
    region.paradigm = unescaped(paradigms_[i]);
    region.file_id = i;
    definitions.regions.push_back(std::move(region));
  }
  for (const std::string& text : markers_.texts()) trace_.markers_.push_back(text);
  for (const std::string& text : communicators_.texts()) trace_.communicators_.push_back({text, {}, {}});
  for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
    Metric metric;
    metric.name = metric.display_name = metrics_[i];
    metric.type = {ValueKind::f64, 0};
    metric.file_id = i;
    definitions.metrics.push_back(std::move(metric));
  }
  describe(file);
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
      node.type = row.floating ? "track" : "thread";
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
