#include "profile/reduce/location_reducer.hpp"

#include <algorithm>
#include <bit>

#include "base/text.hpp"

namespace fathom::reduction {

Rules::Rules(const Trace& of, const ReduceOptions& options)
    : trace(of), split(options.split), channels(options.channels), level(of.channels().size(), -1) {
  if (channels.empty()) channels.assign(trace.activity_channels().begin(), trace.activity_channels().end());
  for (std::size_t i = 0; i < channels.size(); ++i) level[channels[i].index()] = static_cast<std::int32_t>(i);
  for (const Region& region : trace.definitions().regions) {
    is_call.push_back(equal_ignoring_case(region.paradigm, "mpi") ? 1 : 0);
  }
  for (const Metric& metric : trace.definitions().metrics) is_double.push_back(metric.type.is_double() ? 1 : 0);
  if (!options.waits) return;
  is_double.resize(is_double.size() + wait_metrics().size(), 1);
  for (const Region& region : trace.definitions().regions) time_metric.push_back(reduction::time_metric(region));
}

void Remarks::add(const Remarks& other) {
  unmatched_leaves += other.unmatched_leaves;
  crossed_leaves += other.crossed_leaves;
  late += other.late;
  open_at_end += other.open_at_end;
}

void Told::add(const Told& other) {
  visits = visits || other.visits;
  cpu_time = cpu_time || other.cpu_time;
  sent = sent || other.sent;
  received = received || other.received;
  messages_sent = messages_sent || other.messages_sent;
  messages_received = messages_received || other.messages_received;
  samples = samples || other.samples;
  counters.resize(std::max(counters.size(), other.counters.size()));
  for (std::size_t i = 0; i < other.counters.size(); ++i) counters[i] |= other.counters[i];
}

// As OTF2 and Cube call a place of counters.
constexpr std::string_view kMetricLocation = "metric";

LocationReducer::LocationReducer(const Rules& rules, LocationId location, std::optional<std::int64_t> begin,
                                 bool from_start)
    : rules_(rules),
      by_channels_(!rules.channels.empty()),
      reads_cpu_(rules.trace.has_cpu_time()),
      splits_(rules.split != MessageSplit::none),
      computes_(rules.trace.definitions().system.location(location).type != kMetricLocation),
      started_(begin.has_value()),
      from_start_(from_start && computes_),
      last_(begin.value_or(0)),
      outermost_(rules.is_call.size(), kNoNode),
      values_(rules.channels.size()) {
  if (rules.charges == nullptr) return;
  cursor_ = ChargeCursor(*rules.charges, location);
  told_.counters.resize(rules.is_double.size());
}

// Outside of all regions.
std::uint32_t LocationReducer::compute() {
  if (compute_ == kNoNode) {
    compute_ = tree_.child(kNoNode, step(StepKind::compute));
    tree_[compute_].visits = from_start_ ? 1 : 0;
    from_start_ = false;  // once, whatever part it is met in
  }
  return compute_;
}

template <bool kAll>
std::uint32_t LocationReducer::current() {
  if (kAll && by_channels_) return state_node_ != kNoNode ? state_node_ : compute();
  if (!stack_.empty()) return stack_.back().node;
  return sample_ != kNoNode ? sample_ : compute();
}

template <bool kAll>
void LocationReducer::advance(std::int64_t time) {
  if (!started_) {
    started_ = true;
    last_ = time;
    return;
  }
  if (time <= last_) {
    if (time < last_) ++remarks_.late;
    return;
  }
  const std::uint64_t passed = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(last_);
  charged_ = current<kAll>();
  if (!kAll || computes_ || charged_ != compute_) tree_[charged_].time_ns += passed;
  if (kAll && cursor_.active() && call_depth_ == 0) {
    cursor_.pass(passed, [&](std::uint32_t metric, double ns) { charge(charged_, metric, ns); });
  }
  if (kAll && splits_ && !by_channels_ && !stack_.empty()) stack_.back().time_ns += passed;
  last_ = time;
}

// All that an event does in one function: these are the inner loops.
[[gnu::flatten]] void LocationReducer::take_plain(std::span<const Event> events) {
  for (const Event& event : events) take_one<false>(event);
}
[[gnu::flatten]] void LocationReducer::take_any(std::span<const Event> events) {
  for (const Event& event : events) take_one<true>(event);
}

void LocationReducer::take(std::span<const Event> events) {
  const bool plain = !by_channels_ && !splits_ && computes_ && !cursor_.active();
  plain ? take_plain(events) : take_any(events);
}

template <bool kAll>
void LocationReducer::take_one(const Event& event) {
  if (event.has_time && !event.carried) advance<kAll>(event.time_ns);
  switch (event.kind) {
    case EventKind::enter:
      return enter<kAll>(event);
    case EventKind::leave:
      return leave<kAll>(event);
    case EventKind::sample:
      sample_step_ = event.name < rules_.trace.definitions().contexts.size() ? step(StepKind::sample, event.name)
                                                                             : step(StepKind::idle);
      sample_ = tree_.child(kNoNode, sample_step_);
      if (event.carried) return;
      told_.samples = true;
      ++tree_[sample_].samples;
      return;
    case EventKind::state:
      return state(event);
    case EventKind::counter:
      return counter(event);
    case EventKind::send:
    case EventKind::recv:
    case EventKind::collective:
      return message<kAll>(event);
    case EventKind::marker:
      return marker(event);
    case EventKind::complete:
      return;
  }
}

void LocationReducer::marker(const Event& event) {
  if (!rules_.channels.empty()) return;
  const MarkerMeaning meaning = rules_.trace.meaning(event);
  if (meaning == MarkerMeaning::task_switch) switch_task(event.value);
  if (meaning != MarkerMeaning::task_end || event.value == 0) return;
  // What it has open ends with it, and if it was running the location's own stack goes on.
  const std::int64_t before = task_ == event.value ? 0 : task_;
  switch_task(event.value);
  remarks_.crossed_leaves += stack_.size();
  while (!stack_.empty()) close_top<true>();
  switch_task(before);
}

void LocationReducer::switch_task(std::int64_t task) {
  if (task == task_) return;
  ++frame_number_;
  if (!stack_.empty()) suspended_[task_] = std::move(stack_);
  stack_.clear();
  task_ = task;
  if (const auto found = suspended_.find(task); found != suspended_.end()) {
    stack_ = std::move(found->second);
    suspended_.erase(found);
  }
}

std::size_t LocationReducer::open_regions() const {
  std::size_t open = stack_.size();
  for (const auto& [task, stack] : suspended_) open += stack.size();
  return open;
}

// What was used since the last reading was used by what is on top now: readings come with every enter and leave.
template <bool kAll>
void LocationReducer::cpu_reading(const Event& event) {
  if (!reads_cpu_ || !event.has_value) return;
  if (cpu_) {
    const std::uint64_t used = static_cast<std::uint64_t>(event.value) - static_cast<std::uint64_t>(*cpu_);
    tree_[current<kAll>()].cpu_ns += used;
    if (kAll && !stack_.empty()) stack_.back().cpu_ns += used;
    told_.cpu_time = true;
  }
  cpu_ = event.value;
}

std::uint32_t LocationReducer::frame_node(std::uint32_t region) {
  if (!stack_.empty()) return tree_.child(stack_.back().node, step(StepKind::region, region));
  // Where a trace has no regions of the program every call comes here.
  if (region < outermost_.size() && outermost_[region] != kNoNode) return outermost_[region];
  const bool call = region >= rules_.is_call.size() || rules_.is_call[region] != 0;
  const std::uint32_t node = tree_.child(call ? compute() : kNoNode, step(StepKind::region, region));
  if (region < outermost_.size()) outermost_[region] = node;
  return node;
}

template <bool kAll>
void LocationReducer::enter(const Event& event) {
  if (kAll && by_channels_) return;
  if (!event.carried) cpu_reading<kAll>(event);
  const std::uint32_t node = frame_node(event.name);
  Frame& frame = stack_.emplace_back();
  frame.region = event.name;
  open_.add(event.name);
  frame.node = node;
  frame.visit = !event.carried && !event.resumed;
  if (kAll && cursor_.active()) frame.call = number_of_call(event);
  ++frame_number_;
  told_.visits = true;
  if (frame.visit) ++tree_[node].visits;
}

std::uint32_t LocationReducer::number_of_call(const Event& event) {
  if (!is_charged_call(event.name)) {
    if (event.has_time && call_depth_ == 0) cursor_.enter(event.name);
    return kNoNode;
  }
  for (std::uint32_t at = rules_.time_metric[event.name]; at != kNoMetric; at = parent_of(at)) {
    told_.counters[rules_.first_wait_metric() + at] = 1;
  }
  if (call_depth_++ > 0) return kNoNode;
  call_counts_ = event.has_time;
  return call_counts_ ? calls_++ : kNoNode;
}

void LocationReducer::charge(std::uint32_t node, std::uint32_t metric, double ns) {
  if (ns == 0) return;
  for (std::uint32_t at = metric; at != kNoMetric; at = parent_of(at)) {
    told_.counters[rules_.first_wait_metric() + at] = 1;
  }
  tree_.counted(node, rules_.first_wait_metric() + metric).real += ns;
}

void LocationReducer::end_charged_call(const Frame& frame, std::uint32_t node, std::uint32_t around) {
  cursor_.end_call(frame.call,
                   [&](std::uint32_t metric, double ns, bool outside) { charge(outside ? around : node, metric, ns); });
}

template <bool kAll>
void LocationReducer::leave(const Event& event) {
  if (kAll && by_channels_) return;
  const bool charges = kAll && cursor_.active();
  const bool is_call = charges && is_charged_call(event.name);
  const bool call_ends = is_call && call_depth_ > 0 && --call_depth_ == 0;
  if (charges && !is_call && event.has_time && call_depth_ == 0) cursor_.leave(event.name);
  leave_region<kAll>(event);
  if (call_ends && call_counts_) cursor_.begin_gap(calls_);
}

template <bool kAll>
void LocationReducer::leave_region(const Event& event) {
  if (stack_.empty() || stack_.back().region != event.name) [[unlikely]] {
    const auto found = open_.has(event.name)
                           ? std::find_if(stack_.rbegin(), stack_.rend(),
                                          [&](const Frame& frame) { return frame.region == event.name; })
                           : stack_.rend();
    if (found == stack_.rend()) {
      ++remarks_.unmatched_leaves;
      return;
    }
    for (auto crossed = found - stack_.rbegin(); crossed > 0; --crossed) {
      ++remarks_.crossed_leaves;
      close_top<kAll>();
    }
  }
  cpu_reading<kAll>(event);
  ++frame_number_;
  close_top<kAll>();
}

template <bool kAll>
void LocationReducer::close_top() {
  const Frame& frame = stack_.back();
  if (kAll && frame.call != kNoNode) {
    const std::uint32_t node = frame.split != kUnsplit ? tree_.child(frame.node, frame.split) : frame.node;
    end_charged_call(frame, node, stack_.size() > 1 ? stack_[stack_.size() - 2].node : compute());
  }
  if (kAll && frame.split != kUnsplit) {
    const std::uint32_t to = tree_.child(frame.node, frame.split);
    Sums& from = tree_[frame.node];
    Sums& sums = tree_[to];
    from.time_ns -= frame.time_ns;
    sums.time_ns += frame.time_ns;
    from.cpu_ns -= frame.cpu_ns;
    sums.cpu_ns += frame.cpu_ns;
    from.visits -= frame.visit ? 1 : 0;
    sums.visits += frame.visit ? 1 : 0;
  }
  open_.remove(frame.region);
  stack_.pop_back();
}

void LocationReducer::state(const Event& event) {
  if (event.name >= rules_.level.size() || rules_.level[event.name] < 0) return;
  auto& value = values_[static_cast<std::size_t>(rules_.level[event.name])];
  const auto next = event.has_value ? std::optional(event.value) : std::nullopt;
  if (value == next && state_node_ != kNoNode) return;
  value = next;
  ++frame_number_;
  rebuild_state_node();
  if (event.carried) return;
  told_.visits = true;
  if (next) ++tree_[state_node_].visits;
}

// The values of the channels from the outermost in; where one has none, the next stands in its place.
void LocationReducer::rebuild_state_node() {
  state_node_ = compute();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i]) continue;
    const std::uint32_t number = tree_.state({rules_.channels[i].value, *values_[i]});
    state_node_ = tree_.child(state_node_, step(StepKind::state, number));
  }
}

// A reading belongs to what ran since the one before it. Where both were taken in the same call that is clear, also
// when the clock did not move; otherwise it is what the time went to.
void LocationReducer::counter(const Event& event) {
  if (event.name >= rules_.is_double.size()) return;
  if (readings_.size() <= event.name) readings_.resize(rules_.is_double.size());
  Reading& last = readings_[event.name];
  if (last.known && !event.carried) {
    if (told_.counters.size() <= event.name) told_.counters.resize(rules_.is_double.size());
    told_.counters[event.name] = 1;
    const std::uint32_t node = last.frame == frame_number_ || charged_ == kNoNode ? current<true>() : charged_;
    LocationTree::Counted& counted = tree_.counted(node, event.name);
    if (rules_.is_double[event.name] != 0) {
      counted.real += std::bit_cast<double>(event.value) - std::bit_cast<double>(last.value);
    } else {
      counted.integer =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(counted.integer) +
                                    static_cast<std::uint64_t>(event.value) - static_cast<std::uint64_t>(last.value));
    }
  }
  last = {true, event.value, frame_number_};
}

std::uint32_t LocationReducer::split_node(const Event& event, std::uint32_t node) {
  Step part = kUnsplit;
  switch (rules_.split) {
    case MessageSplit::none:
      break;
    case MessageSplit::communicator:
      if (event.communicator.valid()) part = step(StepKind::communicator, event.communicator.value);
      break;
    case MessageSplit::peer:
      if (event.peer != kNoPeer) part = step(StepKind::peer, static_cast<std::uint32_t>(event.peer));
      break;
    case MessageSplit::size: {
      std::uint64_t bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0));
      if (event.kind == EventKind::collective)
        bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(event.value, 0));
      part = step(StepKind::size, static_cast<std::uint32_t>(std::bit_width(bytes)));
      break;
    }
  }
  if (part == kUnsplit) return node;
  if (!by_channels_ && !stack_.empty()) {
    Step& split = stack_.back().split;
    split = split == kUnsplit || split == part ? part : step(StepKind::several);
  }
  return tree_.child(node, part);
}

template <bool kAll>
void LocationReducer::message(const Event& event) {
  if (event.carried) return;
  // To and from the null process nothing moves.
  if (event.kind != EventKind::collective && event.peer == kNoPeer) return;
  const std::uint32_t node = current<kAll>();
  Sums& sums = tree_[kAll && splits_ ? split_node(event, node) : node];
  if (event.kind == EventKind::send) {
    sums.bytes_sent += event.bytes;
    ++sums.messages_sent;
    told_.sent = told_.messages_sent = true;
  } else if (event.kind == EventKind::recv) {
    sums.bytes_received += event.bytes;
    ++sums.messages_received;
    told_.received = told_.messages_received = true;
  } else {
    sums.bytes_sent += event.bytes;
    sums.bytes_received += event.value;
    told_.sent = told_.received = true;
  }
}

LocationTree LocationReducer::finish_part(std::optional<std::int64_t> end) {
  if (end && started_ && *end > last_) advance<true>(*end);
  // What is open stays open in the next part; there it is no visit any more.
  std::map<std::int64_t, std::vector<std::uint32_t>> open;  // regions, by task
  suspended_[task_] = std::move(stack_);
  for (auto& [task, stack] : suspended_) {
    stack_ = std::move(stack);
    for (const Frame& frame : stack_) open[task].push_back(frame.region);
    while (!stack_.empty()) close_top<true>();
  }
  suspended_.clear();
  LocationTree done = std::move(tree_);
  tree_ = LocationTree();
  compute_ = charged_ = kNoNode;
  outermost_.assign(outermost_.size(), kNoNode);
  const bool states = state_node_ != kNoNode;
  state_node_ = kNoNode;
  if (sample_ != kNoNode) sample_ = tree_.child(kNoNode, sample_step_);
  for (const auto& [task, regions] : open) {
    stack_.clear();
    for (const std::uint32_t region : regions) {
      Frame frame;
      frame.region = region;
      frame.node = frame_node(region);
      stack_.push_back(frame);
      open_.add(frame.region);
    }
    suspended_[task] = std::move(stack_);
  }
  stack_.clear();
  if (const auto running = suspended_.find(task_); running != suspended_.end()) {
    stack_ = std::move(running->second);
    suspended_.erase(running);
  }
  if (states) rebuild_state_node();
  return done;
}

}  // namespace fathom::reduction
