#include "formats/paraver/prv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/digits.hpp"
#include "base/number_table.hpp"
#include "base/text.hpp"
#include "io/line_cursor.hpp"

namespace fathom::paraver {

namespace {

// Takes numbers separated by ':' off the front of a line.
class Fields {
 public:
  // `behind`: bytes of the same memory that may be looked at behind the line.
  Fields(std::string_view line, std::size_t behind)
      : at_(line.data()), end_(line.data() + line.size()), readable_(end_ + behind) {}

  bool next(std::int64_t& value) {
    if (static_cast<std::size_t>(readable_ - at_) >= 2 * kDigitsRead + 1) {
      Digits digits = read_digits(at_);
      if (digits.count == kDigitsRead) {
        const Digits more = read_digits(at_ + kDigitsRead);
        digits.value = digits.value * kPowers[more.count] + more.value;
        digits.count += more.count;
      }
      // At most 16 digits, which fit.
      const char* const stop = at_ + digits.count;
      if (digits.count > 0 && (stop == end_ || (stop < end_ && *stop == ':'))) {
        value = static_cast<std::int64_t>(digits.value);
        return pass(stop);
      }
    }
    if (done_) return false;
    const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    const auto colon = std::min(rest.find(':'), rest.size());
    const auto number = parse_integer<std::int64_t>(rest.substr(0, colon));
    if (!number) return false;
    value = *number;
    return pass(at_ + colon);
  }
  template <std::size_t N>
  bool all(std::array<std::int64_t, N>& values) {
    for (std::int64_t& value : values) {
      if (!next(value)) return false;
    }
    return true;
  }
  [[nodiscard]] bool done() const { return done_; }

 private:
  static constexpr std::array<std::uint64_t, kDigitsRead + 1> kPowers = {
      1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

  bool pass(const char* stop) {
    done_ = stop == end_;
    at_ = done_ ? end_ : stop + 1;
    return true;
  }

  const char* at_;
  const char* end_;
  const char* readable_;
  bool done_ = false;
};

// Threads by (application, task, thread), counted from 1 as records do.
class Layout {
 public:
  explicit Layout(PrvFile& file) : file_(file) {}

  void add(std::uint32_t application, std::uint32_t task, std::uint32_t threads) {
    if (first_task_.size() <= application) first_task_.push_back(static_cast<std::uint32_t>(first_thread_.size()));
    first_thread_.push_back(static_cast<std::uint32_t>(file_.threads.size()));
    count_.push_back(threads);
    for (std::uint32_t i = 0; i < threads; ++i) file_.threads.push_back({application, task, i});
  }
  // -1 when there is no such thread.
  [[nodiscard]] std::int64_t find(std::int64_t application, std::int64_t task, std::int64_t thread) const {
    if (application < 1 || static_cast<std::size_t>(application) > first_task_.size() || task < 1 || thread < 1)
      return -1;
    const std::size_t index =
        first_task_[static_cast<std::size_t>(application) - 1] + static_cast<std::size_t>(task) - 1;
    const std::size_t end = static_cast<std::size_t>(application) < first_task_.size()
                                ? first_task_[static_cast<std::size_t>(application)]
                                : first_thread_.size();
    if (static_cast<std::size_t>(task) > end || index >= end || thread > std::int64_t{count_[index]}) return -1;
    return std::int64_t{first_thread_[index]} + thread - 1;
  }

 private:
  PrvFile& file_;
  std::vector<std::uint32_t> first_task_;
  std::vector<std::uint32_t> first_thread_;
  std::vector<std::uint32_t> count_;
};

// Threads that a header may claim: enough for every trace that is, and for every record that the file has room for.
std::uint64_t most_threads(std::uint64_t bytes) {
  constexpr std::uint64_t kAlways = 65536;
  constexpr std::uint64_t kShortestRecord = 16;
  return std::max(kAlways, bytes / kShortestRecord);
}

Result<void> read_header(std::string_view line, const Place& place, std::uint64_t bytes, const Work& work,
                         PrvFile& file, Layout& layout) {
  const auto bad = [&](std::string_view what) { return Error(fmt::format("bad Paraver header: {}", what), place); };
  if (!line.starts_with("#Paraver")) return bad("expected '#Paraver'");
  const auto date = line.find("):");
  if (date == std::string_view::npos) return bad("expected a date in parentheses");
  std::string_view rest = line.substr(date + 2);
  const auto take = [&](char separator) {
    const auto at = rest.find(separator);
    const std::string_view part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    return part;
  };
  std::string_view time = take(':');
  if (time.ends_with("_ns")) {
    file.unit_ns = 1;
    time.remove_suffix(3);
  }
  const auto total = parse_integer<std::int64_t>(time);
  if (!total || *total < 0) return bad("expected the final time");
  file.final_time = *total;
  // Nodes may be followed by their CPUs in parentheses.
  const auto colon = rest.find(':');
  const auto parenthesis = rest.find('(');
  if (parenthesis < colon) {
    take(')');
    take(':');
  } else {
    take(':');
  }
  const auto applications = parse_integer<std::uint32_t>(take(':'));
  if (!applications) return bad("expected the number of applications");
  for (std::uint32_t application = 0; application < *applications && !rest.empty(); ++application) {
    const auto tasks = parse_integer<std::uint32_t>(take('('));
    if (!tasks) return bad("expected the number of tasks");
    std::string_view list = take(')');
    // The number of its communicators may follow ("),14"), or the next application behind a comma.
    const auto next = rest.find_first_of("(:");
    if (rest.starts_with(',') && next != std::string_view::npos && rest[next] == '(') {
      rest.remove_prefix(1);
    } else {
      take(':');
    }
    for (std::uint32_t task = 0; task < *tasks; ++task) {
      const auto comma = list.find(',');
      const std::string_view item = list.substr(0, comma);
      const auto threads = parse_integer<std::uint32_t>(item.substr(0, item.find(':')));
      if (!threads) return bad("expected the number of threads of a task");
      if (file.threads.size() + std::uint64_t{*threads} > most_threads(bytes)) {
        return bad(fmt::format("a task with {} threads, but a file of {} bytes has records of {} at most", *threads,
                               bytes, most_threads(bytes)));
      }
      FATHOM_TRY(const auto reserved, work->budget.reserve((file.threads.size() + std::uint64_t{*threads}) * 256,
                                                           "threads of a Paraver trace"));
      layout.add(application, file.tasks++, *threads);
      if (comma == std::string_view::npos && task + 1 < *tasks) return bad("fewer tasks than it says");
      list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
  }
  return {};
}

// Takes in the lines behind the header.
class RecordReader {
 public:
  RecordReader(PrvFile& file, const Layout& layout, const Work& work)
      : file_(file), layout_(layout), work_(work), latest_(file.threads.size(), 0) {}

  Result<void> read(LineCursor& lines) {
    while (const auto line = lines.next()) {
      // Comments and definitions of communicators stand between the header and the records.
      if (line->empty() || line->front() == '#') continue;
      const std::size_t behind = lines.rest().size();
      backwards_.reset();
      if (line->starts_with("c:") ? communicator(Fields(line->substr(2), behind)) : record(Fields(*line, behind))) {
        if (backwards_) FATHOM_CHECK(work_->diagnostics.warn("paraver.time_order", lines.place(), *backwards_));
        continue;
      }
      FATHOM_CHECK(
          work_->diagnostics.lost("paraver.bad_record", lines.place(),
                                  fmt::format("not a record of a thread of this trace: {}", line->substr(0, 60))));
    }
    return file_.pool->status();
  }

 private:
  bool record(Fields fields) {
    std::int64_t kind = 0;
    std::array<std::int64_t, 4> who{};
    if (!fields.next(kind) || !fields.all(who)) return false;
    const std::int64_t thread = layout_.find(who[1], who[2], who[3]);
    if (thread < 0) return false;
    const auto from = static_cast<std::uint32_t>(thread);
    if (kind == 1) return state(fields, from);
    if (kind == 2) return events(fields, from);
    return kind == 3 && message(fields, from);
  }

  bool state(Fields& fields, std::uint32_t thread) {
    std::array<std::int64_t, 3> state{};
    if (!fields.all(state) || state[1] < state[0]) return false;
    file_.changes.push_back({state[0], state[2], thread, true});
    file_.changes.push_back({state[1], 0, thread, false});
    check_time(thread, state[0]);
    return true;
  }

  bool events(Fields& fields, std::uint32_t thread) {
    std::int64_t time = 0;
    if (!fields.next(time) || fields.done()) return false;
    while (!fields.done()) {
      std::array<std::int64_t, 2> pair{};
      if (!fields.all(pair)) return false;
      file_.events.push_back({time, pair[1], type(pair[0]), thread});
    }
    check_time(thread, time);
    return true;
  }

  bool message(Fields& fields, std::uint32_t from) {
    std::array<std::int64_t, 2> sent{};
    std::array<std::int64_t, 4> whom{};
    std::array<std::int64_t, 4> rest{};
    if (!fields.all(sent) || !fields.all(whom) || !fields.all(rest)) return false;
    const std::int64_t to = layout_.find(whom[1], whom[2], whom[3]);
    if (to < 0) return false;
    file_.messages.push_back({sent[0], rest[1], rest[2], rest[3], from, static_cast<std::uint32_t>(to)});
    return true;
  }

  bool communicator(Fields fields) {
    std::array<std::int64_t, 3> head{};  // application, number, how many tasks
    if (!fields.all(head)) return false;
    PrvCommunicator made{head[1], {}};
    while (!fields.done()) {
      std::int64_t task = 0;
      if (!fields.next(task)) return false;
      const std::int64_t thread = layout_.find(head[0], task, 1);
      if (thread < 0) return false;
      made.tasks.push_back(static_cast<std::int32_t>(file_.threads[static_cast<std::size_t>(thread)].task));
    }
    if (made.tasks.size() != static_cast<std::uint64_t>(head[2])) return false;
    file_.communicators.push_back(std::move(made));
    return true;
  }

  std::uint32_t type(std::int64_t type) {
    const auto next = static_cast<std::uint32_t>(file_.types.size());
    const std::uint32_t found = type_table_.find_or_add(
        static_cast<std::uint64_t>(type), next, [&](std::uint32_t number) { return file_.types[number] == type; });
    if (found == next) file_.types.push_back(type);
    return found;
  }

  // Records of a thread stand in the order of their times. Messages have four of them: Extrae puts them where the data
  // left, long after the call that sends them began.
  void check_time(std::uint32_t thread, std::int64_t time) {
    if (time < latest_[thread]) {
      backwards_ = fmt::format("time runs backwards in thread {}: {} after {}; records are put in order", thread + 1,
                               time, latest_[thread]);
    } else {
      latest_[thread] = time;
    }
  }

  PrvFile& file_;
  const Layout& layout_;
  const Work& work_;
  NumberTable type_table_;
  std::vector<std::int64_t> latest_;  // time of each thread
  std::optional<std::string> backwards_;
};

}  // namespace

Result<PrvFile> read_prv(const Blob& blob, const Work& work) {
  PrvFile file;
  file.pool = std::make_unique<ArrayPool>(work->budget);
  file.changes = LargeArray<PrvChange>(*file.pool);
  file.events = LargeArray<PrvEvent>(*file.pool);
  file.messages = LargeArray<PrvMessage>(*file.pool);
  Layout layout(file);
  LineCursor lines(blob);
  const auto header = lines.next();
  if (!header) return Error("is empty", blob.place());
  FATHOM_CHECK(read_header(*header, lines.place(), blob.size(), work, file, layout));
  FATHOM_CHECK(RecordReader(file, layout, work).read(lines));
  return file;
}

PcfNames read_pcf(const Blob& blob) {
  enum class Section : std::uint8_t { other, types, values, states };
  PcfNames names;
  LineCursor lines(blob);
  Section section = Section::other;
  std::vector<std::int64_t> types;
  while (const auto line = lines.next()) {
    const std::string_view text = trim(*line);
    if (text.empty()) {
      // Values may be separated from their types by blank lines, but a new block names itself.
      continue;
    }
    if (text == "EVENT_TYPE") {
      section = Section::types;
      types.clear();
      continue;
    }
    if (text == "VALUES") {
      section = Section::values;
      continue;
    }
    if (text == "STATES") {
      section = Section::states;
      continue;
    }
    const auto first_end = text.find_first_of(" \t");
    const auto number = parse_integer<std::int64_t>(text.substr(0, first_end));
    if (!number) {
      section = Section::other;
      continue;
    }
    const std::string_view rest =
        first_end == std::string_view::npos ? std::string_view{} : trim(text.substr(first_end));
    if (section == Section::states) names.states.emplace(*number, rest);
    if (section == Section::values) {
      for (const std::int64_t type : types) names.values[type].emplace(*number, rest);
    }
    if (section == Section::types) {
      // A colour, the type, its name.
      const auto end = rest.find_first_of(" \t");
      const auto type = parse_integer<std::int64_t>(rest.substr(0, end));
      if (!type) continue;
      types.push_back(*type);
      names.types.emplace(*type, end == std::string_view::npos ? std::string_view{} : trim(rest.substr(end)));
    }
  }
  return names;
}

std::vector<std::string> read_row(const Blob& blob) {
  std::vector<std::string> names;
  LineCursor lines(blob);
  bool threads = false;
  while (const auto line = lines.next()) {
    if (line->starts_with("LEVEL ")) {
      threads = line->starts_with("LEVEL THREAD");
    } else if (threads && !line->empty()) {
      names.emplace_back(trim(*line));
    }
  }
  return names;
}

}  // namespace fathom::paraver
