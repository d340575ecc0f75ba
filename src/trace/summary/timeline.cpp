#include "trace/summary/timeline.hpp"

#include <algorithm>
#include <limits>

#include "base/cancel.hpp"
#include "base/helper_thread.hpp"
#include "base/parallel.hpp"

namespace fathom::summary {

namespace fs = std::filesystem;

namespace {
constexpr std::uint64_t kFirstPreview = std::uint64_t{1} << 16;
}  // namespace

Timeline::Timeline(const Trace& trace, ChannelId channel, Work work, IndexPlace place)
    : trace_(trace), channel_(channel), work_(std::move(work)), place_(std::move(place)) {
  rows_.resize(trace.location_count());
  progress_.rows = rows_.size();
  started_ = std::chrono::steady_clock::now();
}

Timeline::~Timeline() {
  *cancel_ = true;
  if (thread_) thread_->join();
}

std::shared_ptr<Timeline> Timeline::start(const Trace& trace, ChannelId channel, const Work& work, IndexPlace place) {
  std::shared_ptr<Timeline> timeline(new Timeline(trace, channel, work, std::move(place)));
  const auto run = [t = timeline.get(), threads = thread_count()] { t->run(threads); };
  timeline->thread_ = helper_thread(run);
  if (!timeline->thread_) run();
  // Where time begins is known before anybody asks.
  std::unique_lock lock(timeline->mutex_);
  timeline->changed_.wait(lock, [&] { return timeline->begun_.load(); });
  return timeline;
}

Result<std::shared_ptr<Timeline>> Timeline::build(const Trace& trace, ChannelId channel, const Work& work,
                                                  IndexPlace place) {
  auto timeline = start(trace, channel, work, std::move(place));
  while (!timeline->wait(std::chrono::milliseconds(50))) {
    if (cancelled()) timeline->cancel();
  }
  if (const auto error = timeline->progress().error) return *error;
  return timeline;
}

bool Timeline::wait(std::optional<std::chrono::milliseconds> most) {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return progress_.state != TimelineProgress::State::building; };
  if (most) return changed_.wait_for(lock, *most, over);
  changed_.wait(lock, over);
  return true;
}

void Timeline::run(unsigned threads) {
  const Execution execution(threads, cancel_);
  const ExecutionScope scope(execution);
  Result<void> made;
  execution.run([&] { made = make(); });
  const std::lock_guard lock(mutex_);
  progress_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  if (made.ok()) {
    progress_.state = TimelineProgress::State::ready;
  } else {
    progress_.error = made.error();
    progress_.state = *cancel_ ? TimelineProgress::State::cancelled : TimelineProgress::State::failed;
  }
  begun_ = true;
  changed_.notify_all();
}

Result<void> Timeline::make() {
  if (load()) return {};
  FATHOM_TRY(IndexMemory memory, index_memory(work_));
  reserved_ = std::move(memory.reserved);
  pool_ = std::move(memory.pool);
  FATHOM_CHECK(find_begin());
  FATHOM_CHECK(parallel_for(rows_.size(), [&](std::size_t i) { return read_row(i); }));
  if (stopped()) return *stop_reason();
  number_in_order();
  keep();
  return {};
}

// The first event of every location; the last one where that costs nothing.
Result<void> Timeline::find_begin() {
  std::vector<std::optional<std::int64_t>> first(rows_.size());
  const auto look = [&](std::size_t i) -> Result<void> {
    if (const auto span = trace_.location_span(LocationId(i))) {
      first[i] = span->from_ns;
      return {};
    }
    FATHOM_TRY(auto stream, trace_.open(LocationId(i), {}));
    EventCursor cursor(std::move(stream), 8);
    while (const Event* event = cursor.next()) {
      if (!event->has_time) continue;
      first[i] = event->time_ns;
      break;
    }
    return cursor.status();
  };
  FATHOM_CHECK(parallel_for(rows_.size(), look));
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (const auto& time : first) begin = std::min(begin, time.value_or(begin));
  if (begin == std::numeric_limits<std::int64_t>::max()) begin = 0;
  const std::lock_guard lock(mutex_);
  begin_ns_ = begin;
  end_ns_ = begin;
  if (const auto span = trace_.known_span()) end_ns_ = std::max(begin, span->to_ns);
  begun_ = true;
  changed_.notify_all();
  return {};
}

Result<void> Timeline::read_row(std::size_t location) {
  FATHOM_TRY(RowReader reader, RowReader::open(trace_, channel_, LocationId(location), pool_));
  std::uint64_t next_preview = kFirstPreview;
  bool more = true;
  while (more) {
    const std::uint64_t before = reader.events();
    FATHOM_TRY(more, reader.read_some());
    events_ += reader.events() - before;
    if (cancelled()) return cancelled_error();
    const std::uint64_t transitions = reader.builder().transitions();
    if (!more || transitions < next_preview) continue;
    // Rarer and rarer, so that looking costs next to nothing.
    next_preview = transitions + std::max<std::uint64_t>(transitions / 2, 16 * reader.met().nodes().size());
    publish(location, reader, reader.builder().preview(), false);
  }
  FATHOM_TRY(BlockTree tree, reader.finish());
  publish(location, reader, std::move(tree), true);
  return {};
}

void Timeline::publish(std::size_t location, const RowReader& reader, BlockTree tree, bool whole) {
  auto row = std::make_shared<TimelineRow>();
  row->tree = std::move(tree);
  row->whole = whole;
  row->in_time_order = reader.in_time_order();
  if (reader.first_ns()) {
    row->first_ns = *reader.first_ns();
    row->last_ns = reader.last_ns();
  }
  const std::lock_guard lock(mutex_);
  for (const Contexts::Node& node : reader.met().nodes()) {
    const std::uint32_t above = node.parent == kNothing ? kNothing : row->global[node.parent];
    row->global.push_back(contexts_.child(above, node.step));
  }
  if (whole) {
    ++progress_.ready;
    progress_.transitions += row->tree.transitions();
    progress_.bytes += row->tree.bytes();
    if (reader.first_ns()) end_ns_ = std::max(end_ns_, reader.last_ns());
  }
  rows_[location] = std::move(row);
}

// In the order of the locations, so that numbers do not depend on who was done first.
void Timeline::number_in_order() {
  const std::lock_guard lock(mutex_);
  const auto old = contexts_.nodes();
  std::vector<std::uint32_t> number(old.size(), kNothing);
  Contexts ordered;
  const std::function<std::uint32_t(std::uint32_t)> place = [&](std::uint32_t context) -> std::uint32_t {
    if (number[context] != kNothing) return number[context];
    // Parents stand before their children in every row, so that this is never deep.
    const std::uint32_t above = old[context].parent == kNothing ? kNothing : place(old[context].parent);
    return number[context] = ordered.child(above, old[context].step);
  };
  std::int64_t last = begin_ns_;
  for (RowPtr& row : rows_) {
    auto changed = std::make_shared<TimelineRow>(*row);
    for (std::uint32_t& context : changed->global) context = place(context);
    if (row->last_ns >= row->first_ns) last = std::max(last, row->last_ns);
    row = std::move(changed);
  }
  contexts_ = std::move(ordered);
  nodes_ = nullptr;
  end_ns_ = last;
  ++progress_.version;
}

// From the file, where it is there and whole.
bool Timeline::load() {
  if (place_.file.empty()) return false;
  std::error_code ignored;
  if (!fs::exists(place_.file, ignored)) return false;
  auto stored = read_index(place_.file, place_.key, trace_);
  if (!stored.ok()) {
    work_->diagnostics.info("view.index_remade", Place::in(place_.file.string()),
                            stored.error().message() + "; it is made anew");
    return false;
  }
  const std::lock_guard lock(mutex_);
  rows_ = std::move(stored->rows);
  nodes_ = std::make_shared<std::vector<Contexts::Node>>(std::move(stored->contexts));
  events_ = stored->events;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  const auto* const samples = dynamic_cast<const SampleRecords*>(&trace_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const RowPtr& row = rows_[i];
    if (row->in_time_order && samples != nullptr) samples->believe_in_time_order(LocationId(i));
    progress_.transitions += row->tree.transitions();
    progress_.bytes += row->tree.bytes();
    if (row->last_ns < row->first_ns) continue;
    begin = std::min(begin, row->first_ns);
    end = std::max(end, row->last_ns);
  }
  begin_ns_ = end < begin ? 0 : begin;
  end_ns_ = end < begin ? 0 : end;
  progress_.ready = rows_.size();
  progress_.stored = true;
  ++progress_.version;
  return true;
}

// Into the file; from then on it is read from there. Without one it stays where it is.
void Timeline::keep() {
  if (place_.file.empty() || progress().transitions < place_.least_transitions) return;
  make_index_directory(place_.file);
  StoredIndex index;
  {
    const std::lock_guard lock(mutex_);
    index.rows = rows_;
    index.contexts.assign(contexts_.nodes().begin(), contexts_.nodes().end());
    index.events = events_;
  }
  auto stored = write_index(place_.file, place_.key, index, trace_);
  if (!stored.ok()) {
    work_->diagnostics.info("view.index_not_kept", Place::in(place_.file.string()),
                            "the index of the timeline is not kept: " + stored.error().message());
    return;
  }
  index = {};
  prune_indexes(place_.file.parent_path(), place_.most_bytes, place_.file);
  const std::lock_guard lock(mutex_);
  rows_ = std::move(stored->rows);
  nodes_ = std::make_shared<std::vector<Contexts::Node>>(std::move(stored->contexts));
  contexts_ = {};
  pool_ = nullptr;
  reserved_ = {};
}

TimelineProgress Timeline::progress() const {
  const std::lock_guard lock(mutex_);
  TimelineProgress now = progress_;
  now.events = events_;
  if (now.state == TimelineProgress::State::building) {
    now.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }
  return now;
}

RowPtr Timeline::row(std::size_t location) const {
  const std::lock_guard lock(mutex_);
  return location < rows_.size() ? rows_[location] : nullptr;
}

std::pair<ContextNodes, unsigned> Timeline::contexts() const {
  const std::lock_guard lock(mutex_);
  if (nodes_ == nullptr || (nodes_->size() < contexts_.nodes().size())) {
    nodes_ = std::make_shared<std::vector<Contexts::Node>>(contexts_.nodes().begin(), contexts_.nodes().end());
  }
  return {nodes_, progress_.version};
}

std::int64_t Timeline::end_ns() const {
  const std::lock_guard lock(mutex_);
  return end_ns_;
}

std::string Timeline::name(const Contexts::Node& node) const {
  switch (node.step.kind) {
    case StepKind::compute:
      return "compute";
    case StepKind::region: {
      const auto id = static_cast<std::size_t>(node.step.id);
      return id < trace_.definitions().regions.size() ? trace_.definitions().regions[id].name : std::string();
    }
    case StepKind::value:
      break;
  }
  if (!channel_.valid()) return {};
  const auto& values = trace_.channels()[channel_.index()].values;
  const auto found = values.find(node.step.id);
  return found == values.end() ? std::to_string(node.step.id) : found->second;
}

}  // namespace fathom::summary
