#include "formats/pprof/to_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "defs/sample_weight.hpp"
#include "formats/met_stacks.hpp"
#include "formats/stack_tree.hpp"
#include "profile/build/profile_builder.hpp"
#include "profile/expression/pattern.hpp"

namespace fathom::pprof {

namespace {

constexpr std::string_view kProcessKeys[] = {"rank", "mpi.rank", "pid", "process", "process_id"};
constexpr std::string_view kThreadKeys[] = {"thread", "tid", "thread_id", "thread id", "thread_name"};

// One frame of a location, outermost last as in the file.
struct Frame {
  RegionId region;
  std::int64_t line = -1;
};

struct KnownLocation {
  std::vector<Frame> frames;  // after dropping
  bool dropped = false;       // all of it, and what it calls
  bool ends_here = false;     // what it calls is dropped
};

// What the labels of a sample say.
struct KnownLabels {
  std::vector<Label> labels;
  LocationId location;
  std::vector<std::uint64_t*> others;  // counts of those that name no process or thread
};

class Mapper {
 public:
  Mapper(const PprofFile& file, const Work& work) : file_(file), work_(work), builder_(work, file.blob.name()) {}

  Result<ProfilePtr> run() {
    metrics();
    describe();
    FATHOM_CHECK(locations());
    FATHOM_CHECK(samples());
    if (builder_.system.location_count() == 0) add_single_location(builder_.system, process_name());
    FATHOM_CHECK(report());
    return std::move(builder_).finish();
  }

 private:
  // What pprof shows unasked: the type that the file names, else the last one.
  [[nodiscard]] const ValueType* shown_first() const {
    const std::string_view named = file_.string(file_.default_sample_type);
    for (const ValueType& type : file_.sample_types) {
      if (!named.empty() && file_.string(type.type) == named) return &type;
    }
    return file_.sample_types.size() > 1 ? &file_.sample_types.back() : nullptr;
  }

  void metrics() {
    for (const ValueType& type : file_.sample_types) {
      Metric metric;
      metric.name = std::string(file_.string(type.type));
      if (metric.name.empty()) metric.name = "value";
      if (builder_.find_metric(metric.name).valid()) metric.name += fmt::format(" ({})", file_.string(type.unit));
      metric.display_name = metric.name;
      metric.unit = std::string(file_.string(type.unit));
      metric.type = {ValueKind::i64, 0};
      if (&type == shown_first()) metric.attributes.push_back(sample_weight());
      metrics_.push_back(builder_.add_metric(std::move(metric)));
    }
  }

  void describe() {
    Attributes& out = builder_.attributes;
    const auto add = [&](std::string_view key, std::string value) {
      if (!value.empty() && value != "0") out.emplace_back(std::string(key), std::move(value));
    };
    add("time_nanos", std::to_string(file_.time_nanos));
    add("duration_nanos", std::to_string(file_.duration_nanos));
    add("period", std::to_string(file_.period));
    if (file_.period != 0) {
      add("period_type",
          fmt::format("{}/{}", file_.string(file_.period_type.type), file_.string(file_.period_type.unit)));
    }
    add("default_sample_type", std::string(file_.string(file_.default_sample_type)));
    add("drop_frames", std::string(file_.string(file_.drop_frames)));
    add("keep_frames", std::string(file_.string(file_.keep_frames)));
    add("doc_url", std::string(file_.string(file_.doc_url)));
    for (const std::uint64_t comment : file_.comments) add("comment", std::string(file_.string(comment)));
  }

  [[nodiscard]] std::string process_name() const {
    if (file_.mappings.empty() || file_.string(file_.mappings.front().filename).empty()) return "Process 0";
    return std::string(file_.string(file_.mappings.front().filename));
  }

  [[nodiscard]] std::string_view module_of(const Location& location) const {
    const auto found = file_.mapping_index.find(location.mapping_id);
    return found == file_.mapping_index.end() ? "" : file_.string(file_.mappings[found->second].filename);
  }

  Result<std::optional<bool>> matches(const expression::PatternPtr& pattern, std::string_view name) {
    if (pattern == nullptr) return std::optional<bool>();
    FATHOM_TRY(const bool found, expression::search(*pattern, name));
    return std::optional(found);
  }

  // A pattern for whole names; one that is wrong is reported and does nothing.
  Result<expression::PatternPtr> whole_names(std::uint64_t text, std::string_view what) {
    const std::string_view pattern = file_.string(text);
    if (pattern.empty()) return expression::PatternPtr();
    auto made = expression::make_pattern(fmt::format("^(?:{})$", pattern));
    if (made.ok()) return std::move(made).value();
    FATHOM_CHECK(work_->diagnostics.warn("pprof.pattern", file_.blob.place(),
                                         fmt::format("{} is no regular expression: '{}'", what, pattern)));
    return expression::PatternPtr();
  }

  Result<void> locations() {
    FATHOM_TRY(const auto drop, whole_names(file_.drop_frames, "drop_frames"));
    FATHOM_TRY(const auto keep, whole_names(file_.keep_frames, "keep_frames"));
    std::vector<RegionId> region_of(file_.functions.size());
    std::vector<std::int8_t> dropped(file_.functions.size(), -1);
    known_.resize(file_.locations.size());
    dense_.assign(file_.locations.size() * 2 + 1, kNowhere);
    for (const auto& [id, at] : file_.location_index) {
      if (id < dense_.size()) dense_[id] = at;
    }
    for (std::size_t i = 0; i < file_.locations.size(); ++i) {
      const Location& from = file_.locations[i];
      KnownLocation& to = known_[i];
      if (from.lines.empty()) {
        to.frames.push_back({builder_.region(fmt::format("{:#x}", from.address), {}, module_of(from)), -1});
        continue;
      }
      std::size_t first = 0;  // lines before it are dropped
      for (std::size_t l = 0; l < from.lines.size(); ++l) {
        const auto found = file_.function_index.find(from.lines[l].function_id);
        if (found == file_.function_index.end()) {
          ++unknown_;
          to.frames.push_back({builder_.region("?", {}, module_of(from)), from.lines[l].line});
          continue;
        }
        const Function& function = file_.functions[found->second];
        RegionId& region = region_of[found->second];
        if (!region.valid()) region = make_region(function, from);
        to.frames.push_back({region, from.lines[l].line > 0 ? from.lines[l].line : -1});
        if (drop == nullptr) continue;
        std::int8_t& judged = dropped[found->second];
        if (judged < 0) {
          const std::string_view name = file_.string(function.name);
          FATHOM_TRY(const auto is_dropped, matches(drop, name));
          FATHOM_TRY(const auto is_kept, matches(keep, name));
          judged = is_dropped.value_or(false) && !is_kept.value_or(false) ? 1 : 0;
        }
        if (judged == 1) first = l + 1;
      }
      if (first == 0) continue;
      to.ends_here = true;
      to.dropped = first == from.lines.size();
      if (!to.dropped) to.frames.erase(to.frames.begin(), to.frames.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return {};
  }

  RegionId make_region(const Function& function, const Location& location) {
    std::string name(file_.string(function.name));
    const std::string_view system_name = file_.string(function.system_name);
    if (name.empty()) name = system_name.empty() ? fmt::format("{:#x}", location.address) : system_name;
    const RegionId id = builder_.region(name, file_.string(function.filename), module_of(location));
    Region& region = builder_[id];
    if (system_name != name) region.mangled_name = std::string(system_name);
    if (function.start_line > 0) region.begin_line = function.start_line;
    return id;
  }

  [[nodiscard]] std::string_view label(const Sample& sample, std::span<const std::string_view> keys) {
    for (const Label& one : sample.labels) {
      const std::string_view key = file_.string(one.key);
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
      if (one.str != 0) return file_.string(one.str);
      text_ = std::to_string(one.num);
      return text_;
    }
    return {};
  }

  // Labels repeat: what they say is found once.
  LocationId location_of(const Sample& sample) {
    if (last_labels_ == nullptr || last_labels_->labels != sample.labels) last_labels_ = &known_labels(sample);
    for (std::uint64_t* const count : last_labels_->others) ++*count;
    return last_labels_->location;
  }

  KnownLabels& known_labels(const Sample& sample) {
    std::uint64_t hash = 0;
    for (const Label& one : sample.labels) {
      for (const std::uint64_t part : {one.key, one.str, one.num_unit, static_cast<std::uint64_t>(one.num)}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
      }
    }
    constexpr std::size_t kMost = 1 << 16;
    if (known_labels_.size() >= kMost) known_labels_.clear();
    KnownLabels& known = known_labels_[hash];
    if (!known.location.valid() || known.labels != sample.labels) {
      known.labels = sample.labels;
      known.others.clear();
      known.location = labelled_location(sample, known.others);
    }
    return known;
  }

  LocationId labelled_location(const Sample& sample, std::vector<std::uint64_t*>& others) {
    std::string process(label(sample, kProcessKeys));
    std::string thread(label(sample, kThreadKeys));
    for (const Label& one : sample.labels) {
      const std::string_view key = file_.string(one.key);
      const auto in = [&](const auto& keys) {
        return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
      };
      if (!in(kProcessKeys) && !in(kThreadKeys)) others.push_back(&other_labels_[std::string(key)]);
    }
    const auto [at, fresh] = locations_.try_emplace({process, thread});
    if (!fresh) return at->second;
    SystemTree& system = builder_.system;
    if (system.nodes.empty()) {
      SystemNode machine;
      machine.type = "machine";
      machine.name = "machine";
      system.add(std::move(machine));
    }
    const auto [group, fresh_group] = groups_.try_emplace(process);
    if (fresh_group) {
      SystemNode node;
      node.parent = SystemNodeId(std::size_t{0});
      node.kind = SystemKind::group;
      node.type = "process";
      node.rank = parse_integer<std::int64_t>(process.empty() ? "0" : process);
      node.name = process.empty() ? process_name() : node.rank ? fmt::format("Process {}", process) : process;
      group->second = system.add(std::move(node));
    }
    SystemNode node;
    node.parent = group->second;
    node.type = "thread";
    node.rank = parse_integer<std::int64_t>(thread.empty() ? "0" : thread);
    node.name = thread.empty() ? "Thread 0" : node.rank ? fmt::format("Thread {}", thread) : thread;
    node.file_id = system.location_count();
    at->second = system.add_location(std::move(node));
    return at->second;
  }

  // Samples are taken apart many at once and added in order.
  Result<void> samples() {
    struct Read {
      std::string_view message;
      Sample sample;
      std::uint64_t hash = 0;
      bool sound = false;
    };
    constexpr std::size_t kBlock = 256;
    constexpr std::size_t kAhead = 8;
    std::vector<Read> read(thread_count() == 1 ? kBlock : 64 * kBlock);
    SampleCursor samples = file_.samples();
    for (std::size_t count = read.size(); count == read.size();) {
      for (count = 0; count < read.size() && samples.next(read[count].message);) ++count;
      FATHOM_CHECK(parallel_blocks(count, kBlock, [&](std::size_t begin, std::size_t end) -> Result<void> {
        for (std::size_t i = begin; i < end; ++i) {
          read[i].sound = PprofFile::read_packed(read[i].message, read[i].sample);
          read[i].hash = MetStacks::hash_of(read[i].sample.packed);
        }
        return {};
      }));
      for (std::size_t i = 0; i < count; ++i) {
        if (i + 2 * kAhead < count) met_.expect(read[i + 2 * kAhead].hash);
        if (i + kAhead < count) met_.expect_soon(read[i + kAhead].hash);
        const std::string_view message = read[i].message;
        FATHOM_TRY(const bool added, add(message, read[i].sample, read[i].hash, read[i].sound));
        if (added) continue;
        FATHOM_CHECK(work_->diagnostics.lost("pprof.sample", file_.place(message), "a sample is malformed; left out"));
      }
    }
    return {};
  }

  // False when it is malformed.
  Result<bool> add(std::string_view message, Sample& sample, std::uint64_t hash, bool sound) {
    const auto node = sound ? node_of(sample, hash) : std::nullopt;
    if (!node) return false;
    if (sample.values.size() != metrics_.size()) {
      FATHOM_CHECK(work_->diagnostics.warn(
          "pprof.value_count", file_.place(message),
          fmt::format("a sample has {} values, there are {} sample types", sample.values.size(), metrics_.size())));
    }
    const LocationId location = location_of(sample);
    for (std::size_t i = 0; i < std::min(sample.values.size(), metrics_.size()); ++i) {
      if (sample.values[i] != 0) builder_.add(location, metrics_[i], *node, sample.values[i]);
    }
    return true;
  }

  // Samples with other labels have the same stacks: bytes that were met before need no look at their locations.
  std::optional<ProfileBuilder::Node> node_of(Sample& sample, std::uint64_t hash) {
    if (sample.packed.empty()) return found_node(sample);
    if (const auto known = met_.find(sample.packed, hash)) {
      shortened_ += known->shortened;
      unknown_ += known->unknown;
      return known->node;
    }
    if (!PprofFile::unpack(sample)) return std::nullopt;
    const std::uint64_t shortened = shortened_;
    const std::uint64_t unknown = unknown_;
    const auto node = found_node(sample);
    met_.put(sample.packed, {node, static_cast<std::uint32_t>(shortened_ - shortened),
                             static_cast<std::uint32_t>(unknown_ - unknown)});
    return node;
  }

  ProfileBuilder::Node found_node(const Sample& sample) {
    find_stack(sample);
    // What a sample shares with the one before it is not looked up again.
    std::size_t same = 0;
    while (same < std::min(stack_.size(), open_.size()) && open_[same].location == stack_[same]) ++same;
    open_.resize(same);
    std::uint32_t at = same == 0 ? StackTree::kRoot : open_.back().stack;
    for (std::size_t depth = same; depth < stack_.size(); ++depth) {
      at = below(at, stack_[depth]);
      open_.push_back({stack_[depth], at});
    }
    if (at != StackTree::kRoot) return ends_[at].node;
    return builder_.child(ProfileBuilder::kRoot, builder_.region("(no stack)"));
  }

  // The locations of a sample, root first, as far as they are not dropped.
  void find_stack(const Sample& sample) {
    stack_.clear();
    bool found_user = false;
    // From the root: a dropped frame ends the stack, unless nothing else was met yet.
    for (std::size_t i = sample.locations.size(); i-- > 0;) {
      const std::uint32_t at = index_of(sample.locations[i]);
      if (at == kNowhere) {
        ++unknown_;
        stack_.push_back(kNowhere);
        found_user = true;
        continue;
      }
      const KnownLocation& known = known_[at];
      if (!known.ends_here) {
        found_user = true;
      } else if (found_user) {
        ++shortened_;
        if (!known.dropped) stack_.push_back(at);
        break;
      }
      stack_.push_back(at);
    }
  }

  // The stack that goes on from another with a location; its frames become contexts when it is first met.
  std::uint32_t below(std::uint32_t stack, std::uint32_t location) {
    bool fresh = false;
    const std::uint32_t at = stacks_.child(stack, location, fresh);
    if (!fresh) return at;
    const KnownLocation& known = location == kNowhere ? missing() : known_[location];
    End end = stack == StackTree::kRoot ? End{} : ends_[stack];
    for (std::size_t i = known.frames.size(); i-- > 0;) {
      const Frame& frame = known.frames[i];
      const bool inlined = i + 1 < known.frames.size();
      const bool root = end.node == ProfileBuilder::kRoot;
      end.node = builder_.child(end.node, frame.region, inlined ? Edge::inlined_call : Edge::call);
      if (!root) builder_.called_from(end.node, end.line);
      end.line = frame.line;
    }
    ends_.push_back(end);
    return at;
  }

  // Ids are mostly small: a table, and the map for the others.
  [[nodiscard]] std::uint32_t index_of(std::uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto found = file_.location_index.find(id);
    return found == file_.location_index.end() ? kNowhere : found->second;
  }

  const KnownLocation& missing() {
    if (missing_.frames.empty()) missing_.frames.push_back({builder_.region("?"), -1});
    return missing_;
  }

  Result<void> report() {
    if (unknown_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add("pprof.reference", Severity::warning, file_.blob.place(),
                                          "a location or function is named that is not there; its name is '?'",
                                          unknown_));
    }
    if (shortened_ > 0) {
      work_->diagnostics.info("pprof.dropped_frames", file_.blob.place(),
                              fmt::format("{} samples were shortened by drop_frames of the file", shortened_));
    }
    if (other_labels_.empty()) return {};
    std::uint64_t count = 0;
    std::vector<std::string> names;
    for (const auto& [name, times] : other_labels_) {
      names.push_back(name);
      count += times;
    }
    (void)work_->diagnostics.add(
        "pprof.labels", Severity::info, file_.blob.place(),
        fmt::format("labels that name no process or thread are not kept apart: {}", fmt::join(names, ", ")), count);
    return {};
  }

  const PprofFile& file_;
  Work work_;
  ProfileBuilder builder_;
  std::vector<MetricId> metrics_;
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
  // What a stack of locations ends in.
  struct End {
    ProfileBuilder::Node node = ProfileBuilder::kRoot;
    std::int64_t line = -1;
  };
  MetStacks met_;
  StackTree stacks_;
  std::vector<End> ends_;  // by number of the stack
  struct Open {
    std::uint32_t location;
    std::uint32_t stack;
  };
  std::vector<Open> open_;            // the stack of the sample before
  std::vector<std::uint32_t> stack_;  // of the sample at hand: numbers of locations, kNowhere = it is not there
  std::vector<std::uint32_t> dense_;  // by id of a location
  std::unordered_map<std::uint64_t, KnownLabels> known_labels_;  // by hash
  const KnownLabels* last_labels_ = nullptr;
  std::vector<KnownLocation> known_;  // as file_.locations
  KnownLocation missing_;
  std::map<std::pair<std::string, std::string>, LocationId> locations_;
  std::map<std::string, SystemNodeId> groups_;
  std::map<std::string, std::uint64_t> other_labels_;
  std::string text_;
  std::uint64_t unknown_ = 0;
  std::uint64_t shortened_ = 0;
};

}  // namespace

Result<ProfilePtr> to_profile(const PprofFile& file, const Work& work) { return Mapper(file, work).run(); }

}  // namespace fathom::pprof
