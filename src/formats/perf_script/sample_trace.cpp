#include "formats/perf_script/sample_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/name_table.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "defs/sample_weight.hpp"
#include "formats/perf_script/sample_text.hpp"
#include "formats/stack_tree.hpp"
#include "io/line_cursor.hpp"

namespace fathom::perf_script {

class SampleReader {
 public:
  SampleReader(SampleTrace& trace, const Blob& blob) : trace_(trace), store_(trace.store_), blob_(blob) {}

  Result<void> read() {
    LineCursor lines(blob_);
    bool after_blank = true;
    while (const auto line = lines.next()) {
      if (line->starts_with('#')) {
        attribute(*line);
        continue;
      }
      if (std::all_of(line->begin(), line->end(), [](char c) { return c == ' ' || c == '\t'; })) {
        finish_sample();
        after_blank = true;
        continue;
      }
      FATHOM_CHECK(take(*line, after_blank, lines));
      after_blank = false;
    }
    finish_sample();
    if (trace_.samples_ == 0) {
      return Error("has no samples whose heads name the thread", blob_.place())
          .hint("print it with all that is needed: perf script -F comm,pid,tid,time,period,event,ip,sym,dso");
    }
    return finish();
  }

 private:
  static constexpr std::uint32_t kNoRegion = UINT32_MAX;
  static constexpr unsigned kMetBits = 13;
  static constexpr std::string_view kNoEvent = "samples_of_perf";
  // A line that was read before.
  struct MetFrame {
    std::string_view line;
    FrameLine frame;
    std::uint32_t region = kNoRegion;  // once it is known
  };
  struct KeptFrame {
    FrameLine frame;
    std::uint32_t region;
    MetFrame* met;  // where its line is remembered, if it is
  };
  struct Thread {
    std::optional<std::int64_t> process;
    std::int64_t number;
    std::string command;
    std::vector<std::int64_t> sums;  // by event: periods so far
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    std::int64_t before_ns = INT64_MIN;  // the sample before
  };

  Result<void> take(std::string_view line, bool after_blank, const LineCursor& lines) {
    if (!after_blank && open_) {
      if (MetFrame* const known = met_frame(line)) {
        frames_.push_back({known->frame, known->region, known});
        return {};
      }
    }
    if (is_record(line)) {
      finish_sample();
      ++records_;
      return {};
    }
    if (const auto header = parse_header(line); header && (after_blank || line.front() != '\t')) {
      finish_sample();
      begin(*header);
      if (const auto only = frame_of(*header)) {
        frames_.push_back({*only, kNoRegion, nullptr});
      }
      return {};
    }
    // Neither time nor event (-F comm,tid,ip,sym): it is one when its frames follow.
    if (after_blank) {
      LineCursor behind = lines;
      const auto next = behind.next();
      if (const auto bare = parse_bare_header(line); bare && next && is_certain_frame(*next)) {
        begin(*bare);
        return {};
      }
    }
    // What tracepoints print may go on over lines.
    ++stray_;
    if (stray_ > 1) return {};
    stray_place_ = lines.place();
    return {};
  }

  // Return addresses come again and again, and so do their lines. Null when it is no frame.
  MetFrame* met_frame(std::string_view line) {
    MetFrame& met = met_frames_[slot_of(line)];
    if (met.line == line) {
      met.line = line;  // the one that was read last is the nearest to compare with
      return &met;
    }
    const auto frame = parse_frame(line);
    if (!frame || is_record(line)) return nullptr;
    met = {line, *frame, kNoRegion};
    return &met;
  }
  // By what tells lines apart: the digits in front and the last of the symbol's name or module.
  static std::size_t slot_of(std::string_view line) {
    std::uint64_t first = 0, last = 0;
    if (line.size() < 24) return 0;
    std::memcpy(&first, line.data() + 9, 8);
    std::memcpy(&last, line.data() + 16, 8);
    return ((first ^ line.size()) * 0x9E3779B97F4A7C15U ^ last * 0xC2B2AE3D27D4EB4FU) >> (64 - kMetBits);
  }

  void attribute(std::string_view line) {
    line.remove_prefix(1);
    const std::size_t colon = line.find(" : ");
    if (colon == std::string_view::npos || trace_.samples_ > 0) return;
    auto& attributes = trace_.definitions_.attributes;
    if (attributes.size() < 64) {
      attributes.emplace_back(std::string(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 3))));
    }
  }

  void begin(const SampleHeader& header) {
    open_ = true;
    frames_.clear();
    const auto key = std::pair(header.process.value_or(-1), header.thread);
    const auto [found, fresh] = numbers_.emplace(key, static_cast<std::uint32_t>(threads_.size()));
    row_ = found->second;
    time_ns_ = header.time_ns;
    // As perf itself names a process of which it knows no more.
    command_ = header.command.empty() ? fmt::format(":{}", header.thread) : std::string(header.command);
    if (fresh) threads_.push_back({header.process, header.thread, command_, {}});
    weight_ = header.period.value_or(1);
    if (header.event.empty()) ++eventless_;
    event_ = events_.add(header.event.empty() ? kNoEvent : header.event);
    if (has_period_.size() <= event_) has_period_.resize(event_ + std::size_t{1});
    if (header.period) has_period_[event_] = true;
  }

  std::uint32_t region(std::string_view name, std::string_view module, std::string_view role) {
    const std::uint32_t number = regions_.add(name);
    if (number == trace_.definitions_.regions.size()) {
      Region made;
      made.name = name;
      made.module = module;
      made.role = role;
      made.file_id = number;
      trace_.definitions_.regions.push_back(std::move(made));
    }
    return number;
  }

  std::uint32_t region_of(const KeptFrame& kept) {
    if (kept.region != kNoRegion) return kept.region;
    const std::uint32_t number = kept.frame.symbol == "[unknown]"
                                     ? region(name_of(kept.frame), kept.frame.module, "function")
                                     : region(kept.frame.symbol, kept.frame.module, "function");
    // Another line may have taken its place by now.
    if (kept.met != nullptr && kept.met->frame.address.data() == kept.frame.address.data()) kept.met->region = number;
    return number;
  }

  // What a stack shares with the one before it is not looked up again.
  void descend(std::size_t depth, std::uint32_t region_number, bool inlined) {
    const std::uint32_t key = region_number << 1 | (inlined ? 1 : 0);
    if (depth < stack_.size() && stack_[depth].key == key) return;
    stack_.resize(depth);
    const std::uint32_t parent = depth == 0 ? StackTree::kRoot : stack_.back().context;
    bool fresh = false;
    const std::uint32_t context = contexts_.child(parent, key, fresh);
    if (fresh) {
      (void)builder_.add(parent, RegionId(region_number), builder_.size(), -1,
                         inlined ? Edge::inlined_call : Edge::call);
    }
    stack_.push_back({key, context});
  }

  // The weight is a counter of the event: it reads less before the sample than behind it, so that the difference
  // belongs to the context that was found.
  void finish_sample() {
    if (!open_) return;
    open_ = false;
    ++trace_.samples_;
    if (command_region_ == kNoRegion || command_ != last_command_) {
      command_region_ = region(command_, {}, "command");
      last_command_ = command_;
    }
    descend(0, command_region_, false);
    std::size_t depth = 1;
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      descend(depth++, region_of(*frame), frame->frame.inlined);
    }
    stack_.resize(depth);
    const std::uint32_t context = stack_.back().context;
    Thread& thread = threads_[row_];
    if (thread.sums.size() <= event_) thread.sums.resize(event_ + std::size_t{1});
    Event event;
    event.has_time = time_ns_.has_value();
    event.time_ns = time_ns_.value_or(0);
    const auto put = [&](EventKind kind, std::uint32_t name, std::int64_t value) {
      event.kind = kind;
      event.name = name;
      event.value = value;
      event.record = record_++;
      store_.point(row_, event);
    };
    std::int64_t& sum = thread.sums[event_];
    put(EventKind::counter, event_, sum);
    put(EventKind::sample, context, 0);
    if (__builtin_add_overflow(sum, weight_, &sum)) {
      sum = INT64_MAX;
      ++beyond_;
    }
    put(EventKind::counter, event_, sum);
    if (!time_ns_) {
      ++untimed_;
      return;
    }
    if (*time_ns_ < thread.before_ns) ++unordered_;
    thread.before_ns = *time_ns_;
    thread.first_ns = std::min(thread.first_ns, *time_ns_);
    thread.last_ns = std::max(thread.last_ns, *time_ns_);
  }

  // A counter reads what was counted until then: where samples of a thread come in another order than that of time, it
  // is counted once more.
  void count_in_order_of_time() {
    constexpr std::size_t kPerSample = 3;  // a counter, the sample, the counter
    const std::span<Event> points = store_.points();
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at + kPerSample <= points.size(); at += kPerSample) order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(points[a].location, points[a].time_ns) < std::tie(points[b].location, points[b].time_ns);
    });
    std::map<std::pair<LocationId, std::uint32_t>, std::int64_t> sums;  // by thread and event
    for (const std::size_t at : order) {
      Event& before = points[at];
      Event& after = points[at + 2];
      std::int64_t& sum = sums[{before.location, before.name}];
      const std::int64_t weight = after.value - before.value;
      before.value = sum;
      after.value = sum += weight;
    }
  }

  // Periods of a clock are the time that samples stand for. From sample to sample of a thread it may be far more: a
  // thread that sleeps is not sampled, and the last sample before lasts until the next.
  void note_pauses() {
    for (std::uint32_t i = 0; i < events_.size(); ++i) {
      if (events_[i].find("clock") == std::string::npos) continue;
      double sampled = 0, passed = 0;
      for (const Thread& thread : threads_) {
        if (thread.sums.size() <= i || thread.last_ns < thread.first_ns) continue;
        sampled += static_cast<double>(thread.sums[i]);
        passed += static_cast<double>(thread.last_ns - thread.first_ns);
      }
      constexpr double kFarMore = 1.5, kSecond = 1e9;
      if (sampled <= static_cast<double>(trace_.samples_) || passed <= kFarMore * sampled) continue;
      trace_.work_->diagnostics.info(
          "perf_script.pauses", Place::in(blob_.name()),
          fmt::format("the samples of {0} stand for {1:.3g} s, but from sample to sample of a thread it is {2:.3g} s, "
                      "pauses included: '--metric time' shows that, unasked it is what was sampled",
                      events_[i], sampled / kSecond, passed / kSecond));
    }
  }

  Result<void> finish() {
    Diagnostics& diagnostics = trace_.work_->diagnostics;
    if (stray_ > 0) {
      FATHOM_CHECK(diagnostics.add("perf_script.stray_line", Severity::warning, stray_place_,
                                   "is neither the head of a sample nor a frame of one; left out", stray_));
    }
    if (beyond_ > 0) {
      FATHOM_CHECK(diagnostics.add(
          "perf_script.overflow", Severity::data_loss, Place::in(blob_.name()),
          "the sum of the periods of a thread does not fit into 63 bits; it is cut to what does", beyond_));
    }
    if (records_ > 0) {
      diagnostics.info(
          "perf_script.records", Place::in(blob_.name()),
          fmt::format("{} records of mappings, names and forks are no samples; left out", grouped(records_)));
    }
    if (eventless_ > 0) {
      diagnostics.info(
          "perf_script.no_event", Place::in(blob_.name()),
          fmt::format("{} samples do not name their event; it is called '{}'", grouped(eventless_), kNoEvent));
    }
    if (untimed_ > 0) {
      diagnostics.info("perf_script.no_time", Place::in(blob_.name()),
                       fmt::format("{} samples have no time; they count, but take none", grouped(untimed_)));
    }
    if (unordered_ > 0) {
      diagnostics.info("perf_script.order", Place::in(blob_.name()),
                       fmt::format("{} samples are earlier than the one before them in their thread; they are sorted",
                                   grouped(unordered_)));
      count_in_order_of_time();
    }
    note_pauses();
    Definitions& definitions = trace_.definitions_;
    std::vector<ContextId> numbers;
    definitions.contexts = std::move(builder_).build(&numbers);
    for (Event& event : store_.points()) {
      if (event.kind == EventKind::sample) event.name = numbers[event.name].value;
    }
    for (std::uint32_t i = 0; i < events_.size(); ++i) {
      Metric metric;
      metric.name = metric.display_name = events_[i];
      // Without periods it is the samples that are counted, whatever the event is.
      metric.unit = !has_period_[i] ? "occ" : events_[i].find("clock") != std::string::npos ? "ns" : "";
      metric.type = {ValueKind::i64, 0};
      metric.description = has_period_[i] ? "sum of the periods of the samples" : "number of samples";
      metric.file_id = i;
      metric.attributes.push_back(sample_weight());
      definitions.metrics.push_back(std::move(metric));
    }
    // Threads of one process together; of which the process is not known, by their command.
    std::map<std::pair<std::int64_t, std::string>, std::vector<std::uint32_t>> groups;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      const Thread& thread = threads_[i];
      groups[{thread.process.value_or(-1), thread.process ? std::string() : thread.command}].push_back(i);
    }
    std::vector<StoredTrace::RowNode> nodes;
    std::int64_t rank = 0;
    for (const auto& [key, members] : groups) {
      SystemNode group;
      group.kind = SystemKind::group;
      group.type = "process";
      group.name = key.first >= 0 ? fmt::format("{} {}", threads_[members.front()].command, key.first) : key.second;
      group.rank = rank++;
      const SystemNodeId parent = definitions.system.add(std::move(group));
      for (std::size_t m = 0; m < members.size(); ++m) {
        const std::uint32_t i = members[m];
        SystemNode node;
        node.parent = parent;
        node.kind = SystemKind::location;
        node.type = "thread";
        node.name = fmt::format("{} {}", threads_[i].command, threads_[i].number);
        node.rank = static_cast<std::int64_t>(m);
        node.file_id = static_cast<std::uint64_t>(threads_[i].number);
        node.label = threads_[i].process ? fmt::format("{}/{}", *threads_[i].process, threads_[i].number)
                                         : fmt::format("{}", threads_[i].number);
        nodes.push_back({i, std::move(node)});
      }
    }
    return trace_.finish(std::move(nodes), static_cast<std::uint32_t>(threads_.size()), Place::in(blob_.name()));
  }

  SampleTrace& trace_;
  SliceStore& store_;
  Blob blob_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> numbers_;
  std::vector<Thread> threads_;
  NameTable regions_, events_;
  std::vector<bool> has_period_;  // by event: of any of its samples
  ContextTreeBuilder builder_;
  StackTree contexts_;  // numbered as in the builder
  struct Open {
    std::uint32_t key, context;
  };
  std::vector<Open> stack_;                                       // of the sample before, root first
  std::vector<MetFrame> met_frames_{std::size_t{1} << kMetBits};  // some of them
  std::uint32_t command_region_ = kNoRegion;
  std::string last_command_;  // whose region that is
  // The sample at hand.
  bool open_ = false;
  std::vector<KeptFrame> frames_;  // leaf first
  std::string command_;
  std::uint32_t row_ = 0, event_ = 0;
  std::optional<std::int64_t> time_ns_;
  std::int64_t weight_ = 1;
  std::uint64_t record_ = 0, stray_ = 0, untimed_ = 0, records_ = 0, beyond_ = 0, unordered_ = 0, eventless_ = 0;
  Place stray_place_;
};

Result<std::shared_ptr<const SampleTrace>> SampleTrace::read(const Blob& blob, const Work& work) {
  auto trace = std::make_shared<SampleTrace>(work);
  FATHOM_CHECK(SampleReader(*trace, blob).read());
  return std::shared_ptr<const SampleTrace>(std::move(trace));
}

}  // namespace fathom::perf_script
