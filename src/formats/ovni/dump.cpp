#include "formats/ovni/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/pipeline.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "formats/ovni/merge.hpp"

namespace fathom::ovni {

namespace {

constexpr std::size_t kBatchEvents = 1 << 15;
constexpr std::size_t kSlots = 6;
constexpr char kHexDigits[] = "0123456789abcdef";

template <class Int>
void append_number(std::string& text, Int value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  text.append(buffer, end);
}

// printf's %10d: clocks are signed there.
void append_clock(std::string& text, std::int64_t clock) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, clock).ptr;
  const auto length = end - buffer;
  if (length < 10) text.append(static_cast<std::size_t>(10 - length), ' ');
  text.append(buffer, end);
}

void append_payload(std::string& text, const Event& event) {
  for (const std::byte byte : event.payload()) {
    text += ':';
    text += kHexDigits[static_cast<unsigned>(byte) >> 4];
    text += kHexDigits[static_cast<unsigned>(byte) & 0xf];
  }
}

void append_argument(std::string& text, const Event& event, const Argument& argument) {
  switch (argument.type) {
    case ArgType::i32:
      append_number(text, event.argument<std::int32_t>(argument.offset));
      break;
    case ArgType::u32:
      append_number(text, event.argument<std::uint32_t>(argument.offset));
      break;
    case ArgType::i64:
      append_number(text, event.argument<std::int64_t>(argument.offset));
      break;
    case ArgType::u64: {
      // Tags: the only ones in hexadecimal; zero has no prefix.
      const auto value = event.argument<std::uint64_t>(argument.offset);
      char buffer[24];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr;
      if (value != 0) text += "0x";
      text.append(buffer, end);
      break;
    }
    case ArgType::text:
      text += visible(event.text(argument.offset));
      break;
  }
}

struct Line {
  Event event;
  std::uint32_t stream;
  std::int64_t delta;  // to the clock before, of the same stream (v1-c) or of the line before (v1-a, v1-b)
};

struct Batch {
  std::vector<Line> lines;
  std::string text;        // old forms
  std::string room;        // current forms: only a part of it is filled
  std::string_view shown;  // that part
  std::uint64_t unknown = 0;
  std::uint64_t damaged = 0;
  const Line* first_unknown = nullptr;
  const Line* first_damaged = nullptr;
};

// What stands for a stream in a line, worked out once.
std::vector<std::string> stream_names(const NativeTrace& trace, DumpForm form) {
  std::vector<std::string> names;
  for (const Stream& stream : trace.streams) {
    if (form != DumpForm::old) {
      names.push_back("  " + visible(stream.path) + "  ");
    } else if (trace.layout == Layout::v2) {
      names.push_back("  " + visible(stream.path) + ".obs  ");
    } else if (trace.layout == Layout::v1_c) {
      names.push_back(visible(stream.path) + ".obs  ");
    } else {
      std::string loom = stream.metadata.loom.value_or("");
      if (trace.layout == Layout::v1_b) loom = loom.substr(0, loom.find('.'));
      names.push_back(
          fmt::format("{}.{}.{}  ", visible(loom), stream.metadata.pid.value_or(0), stream.metadata.tid.value_or(0)));
    }
  }
  return names;
}

void append_code(std::string& text, const Event& event) {
  std::array<char, 3> buffer;
  text += visible(mcv_text(event.mcv(), buffer));
}

void format_old(const NativeTrace& trace, const Line& line, const std::string& name, std::string& text) {
  const auto clock = static_cast<std::int64_t>(line.event.clock());
  if (trace.layout == Layout::v1_b && line.delta < 0) {
    text += fmt::format("warning: backwards jump in time {} -> {}\n", clock - line.delta, clock);
  }
  text += name;
  if (trace.layout == Layout::v1_c) {
    append_clock(text, clock);
    text += fmt::format("  {:>+10d}", line.delta);
  } else {
    append_number(text, clock);
  }
  text += "  ";
  append_code(text, line.event);
  if (line.event.payload_size > 0) {
    text += ' ';
    append_payload(text, line.event);
  }
  text += '\n';
}

// Room for a clock, a code, two separators and the end of the line.
constexpr std::size_t kLineRoom = 48;

char* put(char* at, std::string_view text) { return std::copy_n(text.data(), text.size(), at); }

char* put_payload(char* at, const Event& event) {
  for (const std::byte byte : event.payload()) {
    *at++ = ':';
    *at++ = kHexDigits[static_cast<unsigned>(byte) >> 4];
    *at++ = kHexDigits[static_cast<unsigned>(byte) & 0xf];
  }
  return at;
}

// clock, code, stream: the beginning of a line in the current form.
char* put_head(char* at, const Event& event, std::string_view name) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(event.clock())).ptr;
  const auto length = static_cast<std::size_t>(end - digits);
  if (length < 10) at = std::fill_n(at, 10 - length, ' ');
  at = std::copy_n(digits, length, at);
  *at++ = ' ';
  *at++ = ' ';
  std::array<char, 3> code;
  // Any three bytes may stand there; other controls are made visible where text leaves the program.
  for (const char c : mcv_text(event.mcv(), code)) at = c == '\n' ? put(at, "\\x0a") : put(at, {&c, 1});
  return put(at, name);
}

void format_batch(const NativeTrace& trace, DumpForm form, const std::vector<std::string>& names, Batch& batch) {
  batch.unknown = batch.damaged = 0;
  // The old form of version 2 and of version 3 traces is the sentence; only version 1 differs as a whole.
  if (form == DumpForm::old && trace.layout < Layout::v2) {
    batch.text.clear();
    for (const Line& line : batch.lines) format_old(trace, line, names[line.stream], batch.text);
    return;
  }
  // Lines go straight into room that is made ahead; the text keeps its size from batch to batch.
  std::string& text = batch.room;
  std::string sentence;
  std::size_t used = 0;
  for (const Line& line : batch.lines) {
    const std::string& name = names[line.stream];
    std::string_view tail;
    if (form != DumpForm::raw) {
      const int index = find_event(line.event.mcv());
      const EventInfo* info = index < 0 ? nullptr : &event_info(index);
      if (info != nullptr && info->arguments.empty()) {
        tail = info->def->sentence;
      } else {
        sentence.clear();
        if (!append_sentence(sentence, line.event)) {
          const Line*& first = info == nullptr ? batch.first_unknown : batch.first_damaged;
          std::uint64_t& count = info == nullptr ? batch.unknown : batch.damaged;
          if (count++ == 0) first = &line;
        }
        tail = sentence;
      }
    }
    const std::size_t room =
        kLineRoom + name.size() + (form == DumpForm::raw ? 3 * std::size_t{line.event.payload_size} : tail.size());
    if (text.size() - used < room) text.resize(2 * text.size() + room);
    char* at = put_head(text.data() + used, line.event, name);
    at = form == DumpForm::raw ? put_payload(at, line.event) : put(at, tail);
    *at++ = '\n';
    used = static_cast<std::size_t>(at - text.data());
  }
  batch.shown = std::string_view(text).substr(0, used);
}

Result<void> report_batch(const NativeTrace& trace, const Batch& batch, const Work& work) {
  std::array<char, 3> code;
  if (batch.unknown > 0) {
    FATHOM_CHECK(work->diagnostics.add(
        "ovni.unknown_event", Severity::warning,
        place_in(trace.streams[batch.first_unknown->stream], batch.first_unknown->event.at),
        fmt::format("event {} is not in the catalogue", mcv_text(batch.first_unknown->event.mcv(), code)),
        batch.unknown));
  }
  if (batch.damaged > 0) {
    FATHOM_CHECK(
        work->diagnostics.add("ovni.bad_payload", Severity::warning,
                              place_in(trace.streams[batch.first_damaged->stream], batch.first_damaged->event.at),
                              fmt::format("payload of event {} does not hold its arguments",
                                          mcv_text(batch.first_damaged->event.mcv(), code)),
                              batch.damaged));
  }
  return {};
}

// Patterns over codes and streams, decided once per stream and per code.
class Filter {
 public:
  Filter(const NativeTrace& trace, const DumpFilter& filter) : codes_(filter.codes) {
    for (const Stream& stream : trace.streams) streams_.push_back(matches(filter.streams, stream.path));
  }
  bool wants(std::uint32_t stream, const Event& event) {
    if (streams_[stream] == 0) return false;
    if (codes_.empty()) return true;
    std::array<char, 3> code;
    return matches(codes_, mcv_text(event.mcv(), code)) != 0;
  }

 private:
  static char matches(const std::vector<std::string>& patterns, std::string_view text) {
    if (patterns.empty()) return 1;
    for (const std::string& pattern : patterns) {
      if (matches_pattern(pattern, text)) return 1;
    }
    return 0;
  }
  std::vector<std::string> codes_;
  std::vector<char> streams_;
};

}  // namespace

bool holds_arguments(const Event& event, const EventInfo& info) {
  return info.arguments.empty() || (event.jumbo() == info.def->jumbo && event.data().size() >= info.minimum_payload);
}

std::string payload_defect(const Event& event, const EventInfo& info) {
  return fmt::format("{} of {} bytes, expected {} of at least {}", event.jumbo() ? "jumbo payload" : "payload",
                     event.data().size(), info.def->jumbo ? "a jumbo payload" : "a payload", info.minimum_payload);
}

bool append_sentence(std::string& text, const Event& event) {
  const int index = find_event(event.mcv());
  if (index < 0) {
    text += "UNKNOWN";
    return false;
  }
  const EventInfo& info = event_info(index);
  if (!holds_arguments(event, info)) {
    text += fmt::format("DAMAGED ({})", payload_defect(event, info));
    return false;
  }
  for (const SentencePart& part : info.sentence) {
    text += part.literal;
    if (part.argument >= 0) append_argument(text, event, info.arguments[static_cast<std::size_t>(part.argument)]);
  }
  return true;
}

void append_arguments(std::string& text, const Event& event) {
  const int index = find_event(event.mcv());
  if (index < 0) return;
  const EventInfo& info = event_info(index);
  if (!holds_arguments(event, info)) return;
  for (const Argument& argument : info.arguments) {
    if (!text.empty() && text.back() != ';') text += ';';
    text += argument.name;
    text += '=';
    append_argument(text, event, argument);
  }
}

Result<void> report_incomplete(const NativeTrace& trace, std::size_t stream, const StreamCursor& cursor,
                               const Work& work) {
  if (cursor.left() == 0) return {};
  return work->diagnostics.lost("ovni.incomplete_event", place_in(trace.streams[stream], cursor.position()),
                                fmt::format("stream {} ends with an incomplete event: {} bytes left over",
                                            trace.streams[stream].path, cursor.left()));
}

Result<void> dump(const NativeTrace& trace, DumpForm form, const DumpFilter& wanted, const TextSink& sink,
                  const Work& work) {
  const std::vector<std::string> names = stream_names(trace, form);
  Merge merge(trace.streams);
  Filter filter(trace, wanted);
  std::vector<Batch> batches(kSlots);
  // The old forms show the distance to a clock before: per stream in v1-c, of the line before otherwise.
  const bool with_delta = form == DumpForm::old;
  const bool per_stream = trace.layout == Layout::v1_c;
  std::vector<std::int64_t> last(trace.streams.size() + 1, 0);
  bool first = true;
  const auto make = [&](std::size_t slot) -> Result<bool> {
    auto& lines = batches[slot].lines;
    lines.clear();
    Line line{};
    std::int64_t clock = 0;
    while (lines.size() < kBatchEvents) {
      if (!merge.next(line.event, line.stream, clock)) return false;
      if (!filter.wants(line.stream, line.event)) continue;
      if (with_delta) {
        std::int64_t& before = last[per_stream ? line.stream : 0];
        line.delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(clock) - static_cast<std::uint64_t>(before));
        if (!per_stream && first) line.delta = 0;
        first = false;
        before = clock;
      }
      lines.push_back(line);
    }
    return true;
  };
  const auto status = run_pipeline(
      kSlots, make,
      [&](std::size_t slot) -> Result<void> {
        format_batch(trace, form, names, batches[slot]);
        return {};
      },
      [&](std::size_t slot) -> Result<bool> {
        FATHOM_CHECK(report_batch(trace, batches[slot], work));
        return sink(batches[slot].text.empty() ? batches[slot].shown : batches[slot].text);
      });
  if (!status.ok()) return status;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    FATHOM_CHECK(report_incomplete(trace, i, merge.cursor(i), work));
  }
  return {};
}

}  // namespace fathom::ovni
