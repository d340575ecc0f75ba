#include "formats/callgrind/callgrind_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/digits.hpp"
#include "formats/callgrind/words.hpp"
#include "io/line_cursor.hpp"

namespace fathom::callgrind {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : lines_(blob), blob_(blob), work_(work) {}

  Result<std::shared_ptr<const CallgrindFile>> run() {
    unknown_ = files_.intern("???");
    while (true) {
      take_plain_costs();
      const auto line = lines_.next();
      if (!line) break;
      std::string_view text = *line;
      while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
      while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
      if (text.empty() || text.front() == '#') continue;
      const char c = text.front();
      if (is_digit(c) || c == '+' || c == '-' || c == '*') {
        FATHOM_CHECK(costs(text));
      } else {
        FATHOM_CHECK(word(text));
      }
    }
    if (events_.empty() && file_.events.empty()) {
      return Error("has no line 'events:': it is no callgrind profile", blob_.place());
    }
    if (waiting_call_) {
      FATHOM_CHECK(work_->diagnostics.lost("callgrind.cut_off", lines_.place(), "the file ends after 'calls='"));
    }
    FATHOM_CHECK(judge_totals());
    return std::shared_ptr<const CallgrindFile>(std::make_shared<CallgrindFile>(std::move(file_)));
  }

 private:
  Error wrong(std::string what) const { return Error(std::move(what), lines_.place()); }

  // Costs of the function at hand, line after line, as most are: "+3 25 1". Ends before a line that is anything else,
  // or needs a second look.
  void take_plain_costs() {
    if (sums_ == nullptr || waiting_call_ || jump_ || positions_ > 1 || lines_.line_end() != '\n') return;
    const std::string_view text = lines_.rest();
    const char* at = text.data();
    const char* const end = at + text.size();
    std::uint64_t lines = 0;
    for (const char* next = plain_costs(at, end); next != nullptr; next = plain_costs(at, end)) {
      at = next;
      ++lines;
    }
    if (lines > 0) lines_.pass(static_cast<std::size_t>(at - text.data()), lines);
  }

  // Adds up the costs of a line and says where it ends; null and nothing done when it is not that plain.
  const char* plain_costs(const char* at, const char* end) {
    constexpr std::size_t kMost = 16;
    constexpr std::size_t kWord = kDigitsRead + 2;  // with what may stand around it
    std::uint64_t costs[kMost];
    if (static_cast<std::size_t>(end - at) < kWord) return nullptr;
    if (*at == '*') {
      ++at;
    } else {
      if (*at == '+' || *at == '-') ++at;
      const Digits position = read_digits(at);
      if (position.count == 0 || position.count == kDigitsRead) return nullptr;
      at += position.count;
    }
    std::size_t count = 0;
    while (*at == ' ') {
      if (static_cast<std::size_t>(end - at) < kWord || count == kMost) return nullptr;
      const Digits cost = read_digits(at + 1);
      if (cost.count == 0 || cost.count == kDigitsRead) return nullptr;
      costs[count++] = cost.value;
      at += 1 + cost.count;
    }
    if (*at != '\n' || count > events_.size()) return nullptr;
    constexpr std::uint64_t kAlmostFull = INT64_MAX - 100'000'000;  // no cost of so few digits goes beyond
    for (std::size_t i = 0; i < count; ++i) {
      if (sums_[events_[i]] > kAlmostFull) return nullptr;
    }
    for (std::size_t i = 0; i < count; ++i) sums_[events_[i]] += costs[i];
    return at + 1;
  }

  Result<void> word(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && text[at] != '=' && text[at] != ':') ++at;
    if (at == text.size()) return strange(text);
    const std::string_view key = trim(text.substr(0, at));
    const std::string_view value = trim(text.substr(at + 1));
    return text[at] == '=' ? assignment(key, value, text) : header(key, value, text);
  }

  Result<void> strange(std::string_view text) {
    return work_->diagnostics.warn("callgrind.line", lines_.place(),
                                   fmt::format("a line is not understood: '{}'", text.substr(0, 60)));
  }

  Result<void> assignment(std::string_view key, std::string_view value, std::string_view text) {
    if (key == "fn") {
      FATHOM_TRY(const std::uint32_t name, named(functions_, value));
      use(function(name, file_id_, object_));
      code_file_ = file_id_;
      callee_name_ = callee_file_ = callee_object_ = kNone;
    } else if (key == "fl") {
      FATHOM_TRY(file_id_, named(files_, value));
      code_file_ = file_id_;
    } else if (key == "fi" || key == "fe") {
      // Inlined code: its costs belong to the function all the same.
      FATHOM_TRY(code_file_, named(files_, value));
    } else if (key == "jfi") {
      // A number may be defined where a jump leads into another file or function.
      FATHOM_TRY([[maybe_unused]] const std::uint32_t ignored, named(files_, value));
    } else if (key == "jfn") {
      FATHOM_TRY([[maybe_unused]] const std::uint32_t ignored, named(functions_, value));
    } else if (key == "ob") {
      FATHOM_TRY(object_, named(objects_, value));
    } else if (key == "cfn") {
      FATHOM_TRY(callee_name_, named(functions_, value));
    } else if (key == "cfi" || key == "cfl") {
      FATHOM_TRY(callee_file_, named(files_, value));
    } else if (key == "cob") {
      FATHOM_TRY(callee_object_, named(objects_, value));
    } else if (key == "calls") {
      return calls(value);
    } else if (key == "jump" || key == "jcnd") {
      ++file_.jumps;
      jump_ = true;
    } else if (key != "rcalls" && key != "recursion" && key != "frfn") {
      return strange(text);
    }
    return {};
  }

  Result<std::uint32_t> named(Names& names, std::string_view value) {
    if (const auto found = names.resolve(value)) return *found;
    FATHOM_CHECK(work_->diagnostics.warn("callgrind.name", lines_.place(),
                                         fmt::format("the number '{}' stands for no name; shown as it is", value)));
    return names.intern(value);
  }

  Result<void> header(std::string_view key, std::string_view value, std::string_view text) {
    if (key == "events") {
      events_.clear();
      sums_ = nullptr;
      for (const std::string_view name : words(value)) {
        const std::uint32_t number = event(name);
        if (std::find(events_.begin(), events_.end(), number) != events_.end()) {
          FATHOM_CHECK(work_->diagnostics.warn(
              "callgrind.event_twice", lines_.place(),
              fmt::format("the event '{}' is named twice; what both columns have is added up", name)));
        }
        events_.push_back(number);
      }
    } else if (key == "event") {
      describe_event(value);
    } else if (key == "positions") {
      positions_ = std::max<std::size_t>(words(value).size(), 1);
    } else if (key == "version") {
      file_.version = std::string(value);
    } else if (key == "creator") {
      file_.creator = std::string(value);
    } else if (key == "cmd") {
      file_.command = std::string(value);
    } else if (key == "desc") {
      file_.descriptions.emplace_back(value);
    } else if (key == "pid") {
      pid_ = std::string(value);
      begin_part();
    } else if (key == "part") {
      ++file_.parts;
      begin_part();
    } else if (key == "thread") {
      thread_ = std::string(value);
      begin_part();
    } else if (key == "totals") {
      const auto numbers = words(value);
      for (std::size_t i = 0; i < std::min(numbers.size(), events_.size()); ++i) {
        const char* at = numbers[i].data();
        std::uint64_t total = 0;
        if (!read_number(at, at + numbers[i].size(), total)) return strange(text);
        file_.totals.resize(std::max<std::size_t>(file_.totals.size(), events_[i] + 1));
        file_.totals[events_[i]] += total;
      }
    } else if (key != "summary") {
      return strange(text);
    }
    return {};
  }

  std::uint32_t event(std::string_view name) {
    for (std::size_t i = 0; i < file_.events.size(); ++i) {
      if (file_.events[i].name == name) return static_cast<std::uint32_t>(i);
    }
    Event made{std::string(name), {}, {}};
    for (const Event& known : titles_) {
      if (known.name == name) made = known;
    }
    file_.events.push_back(std::move(made));
    return static_cast<std::uint32_t>(file_.events.size() - 1);
  }

  // "NAME : title", "NAME = formula : title"
  void describe_event(std::string_view value) {
    Event made;
    const std::size_t colon = value.find(':');
    if (colon != std::string_view::npos) made.title = std::string(trim(value.substr(colon + 1)));
    std::string_view left = trim(value.substr(0, colon));
    const std::size_t equals = left.find('=');
    if (equals != std::string_view::npos) {
      made.formula = std::string(trim(left.substr(equals + 1)));
      left = trim(left.substr(0, equals));
    }
    made.name = std::string(left);
    if (!made.formula.empty()) {
      file_.derived.push_back(made);
      return;
    }
    for (Event& known : file_.events) {
      if (known.name == made.name) known.title = made.title;
    }
    titles_.push_back(std::move(made));
  }

  void begin_part() {
    use(kNone);
    thread_index_ = kNone;
  }
  void use(std::uint32_t function) {
    current_ = function;
    sums_ = nullptr;
  }

  Thread& thread() {
    if (thread_index_ == kNone) {
      for (std::size_t i = 0; i < file_.threads.size(); ++i) {
        if (file_.threads[i].pid == pid_ && file_.threads[i].number == thread_) {
          thread_index_ = static_cast<std::uint32_t>(i);
        }
      }
      if (thread_index_ == kNone) {
        thread_index_ = static_cast<std::uint32_t>(file_.threads.size());
        file_.threads.push_back({pid_, thread_, {}, {}, {}});
      }
    }
    return file_.threads[thread_index_];
  }

  std::uint32_t function(std::uint32_t name, std::uint32_t file, std::uint32_t object) {
    if (name >= met_.size()) met_.resize(name + name / 2 + std::size_t{16});
    Met& met = met_[name];
    if (met.function == kNone || met.file != file || met.object != object) {
      met = {file, object, found_function(name, file, object)};
    }
    return met.function;
  }

  std::uint32_t found_function(std::uint32_t name, std::uint32_t file, std::uint32_t object) {
    const auto [at, fresh] = function_index_.try_emplace(FunctionKey{name, file, object},
                                                         static_cast<std::uint32_t>(file_.functions.size()));
    if (fresh) {
      const auto text = [](const Names& names, std::uint32_t id) { return id == kNone ? std::string() : names[id]; };
      file_.functions.push_back({text(functions_, name), text(files_, file), text(objects_, object)});
    }
    return at->second;
  }

  Result<void> calls(std::string_view value) {
    const char* at = value.data();
    const char* const end = at + value.size();
    std::uint64_t count = 0;
    if (!read_number(at, end, count)) return wrong(fmt::format("expected a number of calls, found '{}'", value));
    if (callee_name_ == kNone) {
      callee_name_ = functions_.intern("???");
      FATHOM_CHECK(work_->diagnostics.warn("callgrind.callee", lines_.place(), "'calls=' without a 'cfn=' before it"));
    }
    // What is not said is as in the code that calls, inlined or not; it holds for this call only.
    callee_ = function(callee_name_, callee_file_ == kNone ? code_file_ : callee_file_,
                       callee_object_ == kNone ? object_ : callee_object_);
    callee_name_ = callee_file_ = callee_object_ = kNone;
    call_count_ = count;
    waiting_call_ = true;
    return {};
  }

  Result<void> costs(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto word = [&](const char* from) {
      const char* stop = from;
      while (stop < end && !is_blank(*stop)) ++stop;
      return std::string_view(from, static_cast<std::size_t>(stop - from));
    };
    for (std::size_t i = 0; i < positions_ && at < end; ++i) {
      const char* const begin = at;
      if (!skip_position(at, end)) return wrong(fmt::format("expected a position, found '{}'", word(begin)));
      skip_blanks(at, end);
    }
    if (jump_) {
      jump_ = false;
      return {};
    }
    if (events_.empty()) return wrong("costs before the line 'events:'");
    if (current_ == kNone) use(function(functions_.intern("???"), unknown_, kNone));
    std::uint64_t* const sums = waiting_call_ ? call_sums() : sums_ != nullptr ? sums_ : self_sums();
    waiting_call_ = false;
    for (std::size_t i = 0; at < end; ++i) {
      const char* const begin = at;
      std::uint64_t cost = 0;
      if (!read_number(at, end, cost)) return wrong(fmt::format("expected a cost, found '{}'", word(begin)));
      skip_blanks(at, end);
      if (i == events_.size()) return too_many(text);
      std::uint64_t& sum = sums[events_[i]];
      sum += cost;
      if (cost > INT64_MAX || sum > INT64_MAX) {
        sum = INT64_MAX;
        FATHOM_CHECK(work_->diagnostics.lost("callgrind.overflow", lines_.place(),
                                             "a sum of costs does not fit into 63 bits; it is cut to what does"));
      }
    }
    return {};
  }

  // Where the costs of a call are added up, and those of the function at hand; room for all events.
  std::uint64_t* call_sums() {
    Thread& to = thread();
    const auto [found, fresh] =
        to.call_index.try_emplace(std::uint64_t{current_} << 32 | callee_, static_cast<std::uint32_t>(to.calls.size()));
    if (fresh) to.calls.push_back({current_, callee_, 0, {}});
    Call& call = to.calls[found->second];
    call.count += call_count_;
    call.costs.resize(file_.events.size());
    return call.costs.data();
  }
  std::uint64_t* self_sums() {
    Thread& to = thread();
    if (to.self.size() <= current_) to.self.resize(current_ + std::size_t{1});
    to.self[current_].resize(file_.events.size());
    return sums_ = to.self[current_].data();
  }

  Result<void> too_many(std::string_view text) {
    return work_->diagnostics.warn("callgrind.cost_count", lines_.place(),
                                   fmt::format("a line has {} numbers where {} positions and {} events are; the rest "
                                               "is ignored",
                                               words(text).size(), positions_, events_.size()));
  }

  Result<void> judge_totals() {
    if (file_.totals.empty()) return {};
    file_.totals.resize(file_.events.size());
    std::vector<std::uint64_t> sums(file_.events.size());
    for (const Thread& one : file_.threads) {
      for (const auto& self : one.self) {
        for (std::size_t i = 0; i < self.size(); ++i) sums[i] += self[i];
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] == file_.totals[i]) continue;
      FATHOM_CHECK(work_->diagnostics.warn("callgrind.totals", blob_.place(),
                                           fmt::format("the costs of {} add up to {}, the file says {}",
                                                       file_.events[i].name, sums[i], file_.totals[i])));
    }
    return {};
  }

  struct FunctionKey {
    std::uint32_t name, file, object;
    bool operator==(const FunctionKey&) const = default;
  };
  struct HashFunction {
    std::size_t operator()(const FunctionKey& key) const {
      return ((std::uint64_t{key.name} << 32 | key.file) * 0x9E3779B97F4A7C15U ^ key.object) * 0xFF51AFD7ED558CCDU >>
             16;
    }
  };

  LineCursor lines_;
  Blob blob_;
  Work work_;
  CallgrindFile file_;
  Names files_, objects_, functions_;
  std::unordered_map<FunctionKey, std::uint32_t, HashFunction> function_index_;
  struct Met {
    std::uint32_t file = kNone, object = kNone, function = kNone;
  };
  std::vector<Met> met_;               // by name: the function of that name that was asked for last
  std::vector<std::uint32_t> events_;  // of the part: numbers of file_.events
  std::vector<Event> titles_;
  std::size_t positions_ = 1;
  std::string pid_, thread_;
  std::uint32_t thread_index_ = kNone;
  std::uint32_t unknown_ = 0;
  std::uint32_t file_id_ = kNone, object_ = kNone, current_ = kNone;
  std::uint32_t code_file_ = kNone;  // of the code at hand, which may be inlined
  std::uint32_t callee_name_ = kNone, callee_file_ = kNone, callee_object_ = kNone, callee_ = kNone;
  std::uint64_t call_count_ = 0;
  bool waiting_call_ = false;
  bool jump_ = false;
  std::uint64_t* sums_ = nullptr;  // of the current function, by event; none = not known yet
};

}  // namespace

Result<std::shared_ptr<const CallgrindFile>> read(const Blob& blob, const Work& work) {
  return Reader(blob, work).run();
}

}  // namespace fathom::callgrind
