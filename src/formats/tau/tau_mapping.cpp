#include "formats/tau/tau_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "profile/build/profile_builder.hpp"

namespace fathom::tau {

namespace {

constexpr std::string_view kArrow = " => ";
constexpr std::string_view kColon = " : ";
constexpr std::uint32_t kInclusive = 1;  // second stored scope

// As find(kArrow, at) does: names have many blanks and few '='.
std::size_t find_arrow(std::string_view text, std::size_t at = 0) {
  for (std::size_t sign = text.find('=', at + 1); sign != std::string_view::npos; sign = text.find('=', sign + 1)) {
    if (text.substr(sign - 1).starts_with(kArrow)) return sign - 1;
  }
  return std::string_view::npos;
}

// Without blanks around it, save the one that belongs to an arrow: a path may begin or end with a function that has no
// name (" => B"), which is told by that blank from a function whose name begins or ends with such signs ("=> B").
std::string_view trimmed(std::string_view name) {
  std::string_view text = trim(name);
  if (text.starts_with(trim(kArrow)) && text.data() != name.data()) text = {text.data() - 1, text.size() + 1};
  if (text.ends_with(trim(kArrow)) && text.data() + text.size() != name.data() + name.size()) {
    text = {text.data(), text.size() + 1};
  }
  return text;
}

// "name [{file} {5,1}-{17,1}]", "name C [{file} {5}]": TAU appends where the code stands.
struct Named {
  std::string_view name;
  std::string_view file;
  std::int64_t begin = -1;
  std::int64_t end = -1;
};

std::int64_t line_of(std::string_view text) {
  return parse_integer<std::int64_t>(trim(text.substr(0, text.find(',')))).value_or(-1);
}

Named parse_name(std::string_view text) {
  Named out;
  out.name = text = trim(text);
  const std::size_t open = text.rfind("[{");
  if (open == std::string_view::npos || !text.ends_with(']')) return out;
  const std::size_t close = text.find('}', open);
  if (close == std::string_view::npos) return out;
  out.file = text.substr(open + 2, close - open - 2);
  out.name = trim(text.substr(0, open));
  if (out.name.ends_with(" C")) out.name = trim(out.name.substr(0, out.name.size() - 2));
  const std::string_view range = text.substr(close + 1);
  const std::size_t first = range.find('{');
  if (first == std::string_view::npos) return out;
  out.begin = out.end = line_of(range.substr(first + 1, range.find('}', first) - first - 1));
  if (const std::size_t second = range.find('{', first + 1); second != std::string_view::npos) {
    out.end = line_of(range.substr(second + 1, range.find('}', second) - second - 1));
  }
  return out;
}

// f [ <parameter> = <value> ]: the time of f once more, split by an argument.
bool is_parameter(const FunctionLine& line) {
  if (line.groups.find("TAU_PARAM") != std::string_view::npos) return true;
  // As find(" [ <") does: names have many blanks.
  constexpr std::string_view kBefore = " [ ";
  for (std::size_t at = line.name.find('<'); at != std::string_view::npos; at = line.name.find('<', at + 1)) {
    if (line.name.substr(0, at).ends_with(kBefore)) return true;
  }
  return false;
}

bool has_tag(std::string_view part, std::string_view tag) { return trim(part).starts_with(tag); }
bool is_sampled(std::string_view part) {
  return has_tag(part, "[SAMPLE]") || has_tag(part, "[UNWIND]") || has_tag(part, "[CONTEXT]");
}

// As rfind(kArrow) does.
std::size_t find_last_arrow(std::string_view text) {
  for (std::size_t sign = text.rfind('='); sign != std::string_view::npos && sign > 0;
       sign = text.rfind('=', sign - 1)) {
    if (text.substr(sign - 1).starts_with(kArrow)) return sign - 1;
  }
  return std::string_view::npos;
}

// The last part of a path; a name alone is its own.
std::string_view end_of(std::string_view path) {
  const std::size_t arrow = find_last_arrow(path);
  return trim(arrow == std::string_view::npos ? path : path.substr(arrow + kArrow.size()));
}

// Samples hang below timers by paths of their own, also where the timers have none.
bool is_path_of_timers(std::string_view name) {
  const std::string_view end = end_of(name);
  return find_arrow(name) != std::string_view::npos && !is_sampled(end) && !has_tag(end, "[SUMMARY]");
}

template <class Take>
void each_part(std::string_view path, Take&& take) {
  for (std::size_t at = 0;;) {
    const std::size_t end = find_arrow(path, at);
    take(trim(path.substr(at, end - at)));
    if (end == std::string_view::npos) return;
    at = end + kArrow.size();
  }
}

// "TIME", "GET_TIME_OF_DAY", "LINUX_TIMERS", "BGP Timers"; packed profiles have "Time".
bool is_time(std::string_view metric) {
  return metric.find("PAPI") == std::string_view::npos && to_lower(metric).find("time") != std::string::npos;
}

class Mapper {
 public:
  Mapper(const std::vector<std::string>& metrics, const std::vector<ThreadFile>& files, const std::string& name,
         const Work& work)
      : names_(metrics), files_(files), work_(work), builder_(work, name), place_(Place::in(name)) {}

  Result<ProfilePtr> run() {
    for (const ThreadFile& one : files_) {
      for (const FunctionLine& line : one.file.functions) {
        has_paths_ = has_paths_ || is_path_of_timers(line.name);
      }
    }
    metrics();
    learn_groups();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const bool first_of_thread = i == 0 || !same_thread(files_[i], files_[i - 1]);
      if (first_of_thread) location_ = add_location(files_[i]);
      add(files_[i], first_of_thread);
    }
    report();
    return std::move(builder_).finish();
  }

 private:
  static bool same_thread(const ThreadFile& a, const ThreadFile& b) {
    return a.node == b.node && a.context == b.context && a.thread == b.thread;
  }

  Metric made_metric(std::string name, std::string unit, ValueKind kind) {
    Metric metric;
    metric.display_name = name;
    metric.name = std::move(name);
    metric.unit = std::move(unit);
    metric.type = {kind, 0};
    return metric;
  }

  void metrics() {
    for (std::size_t m = 0; m < names_.size(); ++m) {
      std::string name = names_[m];
      for (const ThreadFile& one : files_) {
        if (one.metric == m && !one.file.metric.empty()) name = one.file.metric;
      }
      if (name.empty()) name = "TIME";
      Metric metric = made_metric(name, is_time(name) ? "usec" : "occ", ValueKind::f64);
      // A flat profile has no paths along which values could be added up: the totals of functions are a scope of
      // their own there.
      metric.scopes = {{Scope::exclusive, {}}, {has_paths_ ? Scope::inclusive : Scope::named, "inclusive"}};
      metrics_.push_back(builder_.add_metric(std::move(metric)));
    }
    visits_ = builder_.add_metric(made_metric("visits", "occ", ValueKind::f64));
    subrs_ = builder_.add_metric(made_metric("subrs", "occ", ValueKind::f64));
  }

  // Paths are all of one group; what a function belongs to is said where it stands alone.
  void learn_groups() {
    for (const ThreadFile& one : files_) {
      for (const FunctionLine& line : one.file.functions) {
        if (find_arrow(line.name) == std::string_view::npos) groups_.emplace(trim(line.name), trim(line.groups));
      }
    }
  }

  RegionId region(std::string_view text) {
    const auto [at, fresh] = regions_.try_emplace(trim(text));
    if (!fresh) return at->second;
    const Named named = parse_name(text);
    at->second = builder_.region(named.name, named.file);
    Region& made = builder_[at->second];
    made.begin_line = named.begin;
    made.end_line = named.end;
    if (const auto found = groups_.find(trim(text)); found != groups_.end() && !found->second.empty()) {
      made.attributes.emplace_back("group", std::string(found->second));
      const std::string lower = to_lower(found->second);
      made.paradigm = lower.find("mpi") != std::string::npos      ? "mpi"
                      : lower.find("openmp") != std::string::npos ? "openmp"
                                                                  : "";
    }
    return at->second;
  }

  // Threads and metrics have the same paths, and what is above the end of one is as a rule a path of its own.
  ProfileBuilder::Node node_of(std::string_view path) {
    if (const auto known = nodes_.find(path); known != nodes_.end()) return known->second;
    auto node = ProfileBuilder::kRoot;
    std::string_view rest = path;
    if (const std::size_t last = find_last_arrow(path); last != std::string_view::npos) {
      const std::string_view before = path.substr(0, last);
      // Of two arrows that share a blank the first one counts.
      const auto above = before.ends_with(" =>") ? nodes_.end() : nodes_.find(trimmed(before));
      if (above != nodes_.end()) {
        node = above->second;
        rest = path.substr(last + kArrow.size());
      }
    }
    each_part(rest, [&](std::string_view part) { node = builder_.child(node, region(part)); });
    nodes_.emplace(path, node);
    return node;
  }

  LocationId add_location(const ThreadFile& one) {
    SystemTree& system = builder_.system;
    const auto host = [&]() -> std::string {
      for (const char* key : {"Hostname", "Node Name"}) {
        if (const std::string* value = find_attribute(one.file.metadata, key)) return *value;
      }
      return "node";
    }();
    if (system.nodes.empty()) {
      SystemNode machine;
      machine.type = "machine";
      machine.name = "machine";
      system.add(std::move(machine));
      builder_.attributes = one.file.metadata;
    }
    const auto [node, fresh_node] = hosts_.try_emplace(host);
    if (fresh_node) {
      SystemNode made;
      made.parent = SystemNodeId(std::size_t{0});
      made.type = "node";
      made.name = host;
      node->second = system.add(std::move(made));
    }
    const auto [process, fresh_process] = processes_.try_emplace({one.node, one.context});
    if (fresh_process) {
      SystemNode made;
      made.parent = node->second;
      made.kind = SystemKind::group;
      made.type = "process";
      made.rank = one.node;
      made.name = fmt::format("MPI Rank {}", one.node);
      process->second = system.add(std::move(made));
    }
    SystemNode made;
    made.parent = process->second;
    made.type = "thread";
    made.rank = one.thread;
    made.name = fmt::format("Thread {}", one.thread);
    made.file_id = system.location_count();
    made.label = fmt::format("{}.{}.{}", one.node, one.context, one.thread);
    // What is not as in the first file belongs to the thread.
    for (const auto& [key, value] : one.file.metadata) {
      const std::string* common = find_attribute(builder_.attributes, key);
      if (common == nullptr || *common != value) made.attributes.emplace_back(key, value);
    }
    return system.add_location(std::move(made));
  }

  void add(const ThreadFile& one, bool count_calls) {
    // The flat entry of what paths end in is the sum over them.
    std::unordered_set<std::string_view> ends;
    for (const FunctionLine& line : one.file.functions) {
      if (find_arrow(line.name) != std::string_view::npos) ends.insert(end_of(line.name));
    }
    const FunctionLine* top = nullptr;
    for (const FunctionLine& line : one.file.functions) {
      const std::string_view name = trimmed(line.name);
      if (is_parameter(line)) {
        ++parameters_;
        continue;
      }
      const bool path = find_arrow(name) != std::string_view::npos;
      const std::string_view last = end_of(name);
      if (has_tag(last, "[SUMMARY]")) {
        ++summaries_;
        continue;
      }
      const bool sampled = is_sampled(last);
      if (!path && !ends.empty() && (ends.contains(name) || sampled)) continue;
      if (sampled) {
        // Samples tell how the time of a timer is spent: it is counted there already.
        if (has_tag(last, "[SAMPLE]")) {
          builder_.add(location_, sampled_metric(one.metric), node_of(name), line.exclusive);
        }
        continue;
      }
      const auto node = node_of(name);
      builder_.add(location_, metrics_[one.metric], node, line.exclusive);
      builder_.add(location_, metrics_[one.metric], node, line.inclusive, kInclusive);
      if (count_calls) {
        builder_.add(location_, visits_, node, line.calls);
        builder_.add(location_, subrs_, node, line.subrs);
      }
      if (!path && (top == nullptr || line.inclusive > top->inclusive)) top = &line;
    }
    // Every metric's directory has the same events.
    if (count_calls) events_taken_ = false;
    if (events_taken_) return;
    events_taken_ = !one.file.events.empty();
    user_events(one.file, top != nullptr ? trim(top->name) : std::string_view("(user events)"));
  }

  MetricId sampled_metric(std::size_t metric) {
    const Metric& of = builder_.metrics()[metrics_[metric].index()];
    const std::string name = of.name + " (samples)";
    if (const MetricId known = builder_.find_metric(name); known.valid()) return known;
    Metric made = made_metric(name, of.unit, ValueKind::f64);
    made.description = "How the samples of a timer divide what it has";
    return builder_.add_metric(std::move(made));
  }

  // "NAME : path" is the event in that context: what stands there is timers. Names may have colons of their own.
  [[nodiscard]] std::size_t find_context(std::string_view name) const {
    std::size_t colon = name.find(kColon);
    while (colon != std::string_view::npos) {
      const std::string_view path = name.substr(colon + kColon.size());
      if (groups_.contains(trim(path.substr(0, find_arrow(path))))) break;
      colon = name.find(kColon, colon + 1);
    }
    return colon;
  }

  // Without a context an event belongs to the whole thread, and is the sum over its contexts where it has any: only
  // what they leave is counted there.
  void user_events(const TauFile& file, std::string_view root) {
    std::map<std::string_view, UserEvent> in_contexts;
    std::vector<const UserEvent*> whole;
    for (const UserEvent& event : file.events) {
      const std::string_view name = trim(event.name);
      if (name.find("[GROUP=MAX_MARKER]") != std::string_view::npos ||
          name.find("[GROUP=MIN_MARKER]") != std::string_view::npos) {
        ++markers_;
        continue;
      }
      if (event.count <= 0) continue;
      const std::size_t colon = find_context(name);
      if (colon == std::string_view::npos) {
        whole.push_back(&event);
        continue;
      }
      UserEvent& sum = in_contexts[trim(name.substr(0, colon))];
      sum.count += event.count;
      sum.mean += event.mean * event.count;
      sum.sum_of_squares += event.sum_of_squares;
      user_event(event, trim(name.substr(0, colon)), trimmed(name.substr(colon + kColon.size())));
    }
    for (const UserEvent* const event : whole) {
      UserEvent rest = *event;
      if (const auto found = in_contexts.find(trim(event->name)); found != in_contexts.end()) {
        const UserEvent& counted = found->second;
        rest.count -= counted.count;
        if (rest.count < 1) continue;
        rest.mean = (event->mean * event->count - counted.mean) / rest.count;
        rest.sum_of_squares -= counted.sum_of_squares;
      }
      user_event(rest, trim(event->name), root);
    }
  }

  void user_event(const UserEvent& event, std::string_view name, std::string_view path) {
    const auto node = node_of(path);
    const auto metric = [&](std::string_view suffix, ValueKind kind, std::string_view unit) {
      std::string full = suffix.empty() ? std::string(name) : fmt::format("{} ({})", name, suffix);
      if (const MetricId known = builder_.find_metric(full); known.valid()) return known;
      return builder_.add_metric(made_metric(std::move(full), std::string(unit), kind));
    };
    const bool bytes =
        to_lower(name).find("message size") != std::string::npos || to_lower(name).find("bytes") != std::string::npos;
    const char* unit = bytes ? "bytes" : "";
    builder_.add(location_, metric("", ValueKind::f64, unit), node, event.mean * event.count);
    builder_.add(location_, metric("count", ValueKind::f64, "occ"), node, event.count);
    builder_.add(location_, metric("minimum", ValueKind::min_f64, unit), node, event.minimum);
    builder_.add(location_, metric("maximum", ValueKind::max_f64, unit), node, event.maximum);
    builder_.add(location_, metric("sum of squares", ValueKind::f64, ""), node, event.sum_of_squares);
  }

  void report() {
    if (!has_paths_) {
      work_->diagnostics.info(
          "profile.flat", place_,
          "no call paths (TAU_CALLPATH=1 records them): what functions take with all that they call "
          "is the scope 'inclusive' (table --scope inclusive)");
    }
    const auto info = [&](std::string_view id, std::uint64_t count, std::string_view text) {
      if (count > 0) (void)work_->diagnostics.add(id, Severity::info, place_, std::string(text), count);
    };
    info("tau.parameters", parameters_, "an entry that splits a function by a parameter repeats its time; left out");
    info("tau.summaries", summaries_, "a summary of samples repeats them; left out");
    info("tau.markers", markers_, "a marker of an extreme of a user event repeats it; left out");
  }

  const std::vector<std::string>& names_;
  const std::vector<ThreadFile>& files_;
  Work work_;
  ProfileBuilder builder_;
  Place place_;
  bool has_paths_ = false;
  std::vector<MetricId> metrics_;
  MetricId visits_, subrs_;
  // By names as the files have them, which outlive this.
  std::unordered_map<std::string_view, std::string_view> groups_;
  std::unordered_map<std::string_view, RegionId> regions_;
  std::unordered_map<std::string_view, ProfileBuilder::Node> nodes_;  // by path
  std::map<std::string, SystemNodeId> hosts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SystemNodeId> processes_;
  LocationId location_;
  bool events_taken_ = false;
  std::uint64_t parameters_ = 0, summaries_ = 0, markers_ = 0;
};

}  // namespace

Result<ProfilePtr> to_profile(const std::vector<std::string>& metrics, const std::vector<ThreadFile>& files,
                              const std::string& name, const Work& work) {
  return Mapper(metrics, files, name, work).run();
}

}  // namespace fathom::tau
