#include "formats/dumpi/call_printer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/dumpi/names.hpp"

namespace fathom::dumpi {

namespace {

using namespace text_writing;

char* put_time(char* to, std::int32_t seconds, std::uint32_t nanoseconds) {
  to = put_signed(to, seconds);
  *to++ = '.';
  if (nanoseconds < 1'000'000'000) [[likely]]
    return put_nine(to, nanoseconds);
  // More than a second's worth, as some CPU clocks have it: printed as a signed int of at least nine digits.
  const auto text = fmt::format("{:09d}", static_cast<std::int32_t>(nanoseconds));
  return put(to, text);
}

std::int32_t biased(std::uint16_t seconds, std::int32_t bias) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(bias) + seconds);
}

char* put_status(char* to, const Status& status) {
  to = put(to, "{bytes=");
  to = put_signed(to, status.bytes);
  to = put(to, ", cancelled=");
  to = put_signed(to, status.cancelled);
  to = put(to, ", source=");
  to = put_signed(to, status.source);
  to = put(to, ", tag=");
  to = put_signed(to, status.tag);
  to = put(to, ", error=");
  to = put_signed(to, status.error);
  *to++ = '}';
  return to;
}

std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

constexpr std::size_t kHeadRoom = 512;    // both lines around the arguments, without counters
constexpr std::size_t kFieldRoom = 256;   // any scalar, or what stands around an array
constexpr std::size_t kValueRoom = 24;    // one number of an array
constexpr std::size_t kStatusRoom = 100;  // one status of an array

}  // namespace

CallPrinter::CallPrinter(const File& file) : file_(file), texts_(kIds) {
  for (const Function& function : functions()) {
    Texts& texts = texts_[function.id];
    texts.entering = fmt::format("{} entering at walltime ", function.name);
    texts.returning = fmt::format("{} returning at walltime ", function.name);
    texts.replaced_by.fill(-1);
    for (std::size_t i = 0; i < function.argument_count; ++i) {
      const Argument& argument = function.argument[i];
      const bool in_brackets = argument.shape == Shape::scalar && argument.type != Type::str &&
                               (argument.type == Type::request || argument.type == Type::iorequest);
      texts.lines[i].prefix = fmt::format("{} {}={}", c_type(argument.type), argument.name, in_brackets ? "[" : "");
      texts.lines[i].opening = fmt::format("{} {}[", c_type(argument.type), argument.name);
      if (argument.name == "fn") texts.lines[i].prefix = "int fn=";
      const bool replaces = argument.shape == Shape::array && argument.type != Type::status && argument.length >= 0;
      if (replaces) texts.replaced_by[static_cast<std::size_t>(argument.length)] = static_cast<std::int8_t>(i);
    }
  }
  for (const std::string& label : file.sections().counters) counter_text_size_ += label.size();
  counter_text_size_ += 256 * (std::size_t{kValueRoom} + 8) + 64;
}

// A length as the text shows it: the array's own count wins over the argument.
std::int64_t CallPrinter::shown(const Call& call, std::size_t i) const {
  const std::int8_t array = texts_[call.id].replaced_by[i];
  if (array >= 0 && call.present(static_cast<std::size_t>(array))) {
    return call.values(static_cast<std::size_t>(array)).size();
  }
  return call.integer(i);
}

char* CallPrinter::counters(const Call& call, bool at_exit, char* to) const {
  const auto& labels = file_.sections().counters;
  to = put(to, "Perfcounters: [");
  for (std::size_t i = 0; i < call.counter_count; ++i) {
    if (i > 0) to = put(to, ", ");
    if (i < labels.size()) to = put(to, labels[i]);
    *to++ = '=';
    to = put_signed(to, at_exit ? call.counter_out(i) : call.counter_in(i));
  }
  return put(to, "]\n");
}

void CallPrinter::strings(const Strings& list, std::string_view separator, TextBuffer& out) const {
  auto each = list.begin();
  for (std::uint32_t n = 0; n < list.size(); ++n, each.advance()) {
    if (n > 0) out.append(separator);
    const std::string_view text = until_nul(*each);
    char* to = out.room(text.size() + 2);
    *to++ = '"';
    to = put(to, text);
    *to++ = '"';
    out.written(to);
  }
}

void CallPrinter::statuses(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  const Statuses list = call.statuses(i);
  if (argument.shape == Shape::array) {
    to = put(to, line.opening);
    to = put_signed(to, shown(call, static_cast<std::size_t>(argument.length)));
    to = put(to, "]=");
  } else {
    to = put(to, line.prefix);
  }
  if (list.empty()) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  out.written(to);
  to = out.room(kStatusRoom * list.size() + 8);
  *to++ = '[';
  for (std::uint32_t n = 0; n < list.size(); ++n) {
    if (n > 0) to = put(to, ", ");
    to = put_status(to, list[n]);
  }
  to = put(to, "]\n");
  out.written(to);
}

void CallPrinter::string(const Call& call, std::size_t i, TextBuffer& out) const {
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  to = put(to, line.prefix);
  if (!call.present(i)) {
    to = put(to, "\"(null)\"\n");
    out.written(to);
    return;
  }
  out.written(to);
  const std::string_view text = until_nul(call.string(i));
  to = out.room(text.size() + 4);
  *to++ = '"';
  to = put(to, text);
  to = put(to, "\"\n");
  out.written(to);
}

void CallPrinter::number(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  to = put(to, line.prefix);
  const std::int64_t value = texts_[call.id].replaced_by[i] >= 0 ? shown(call, i) : call.integer(i);
  to = put_signed(to, value);
  switch (argument.type) {
    case Type::i32:
      break;
    case Type::i64:
      if (argument.name == "fn") {
        out.written(to);
        const std::string* label = file_.sections().label(static_cast<std::uint64_t>(value));
        out.append(" (\"");
        out.append(label != nullptr ? std::string_view(*label) : "(null)");
        out.append("\")");
        to = out.room(2);
      }
      break;
    case Type::dest:
      if (value == -2) to = put(to, " (MPI_ROOT)");
      break;
    case Type::source:
      if (value == -1) to = put(to, " (MPI_ANY_SOURCE)");
      if (value == -2) to = put(to, " (MPI_ROOT)");
      break;
    case Type::tag:
      if (value == -1) to = put(to, " (MPI_ANY_TAG)");
      break;
    case Type::request:
    case Type::iorequest:
      *to++ = ']';
      break;
    default:
      to = put(to, " (");
      to = put(to, value_name(argument.type, value));
      *to++ = ')';
  }
  *to++ = '\n';
  out.written(to);
}

void CallPrinter::array(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  const std::int64_t length = shown(call, static_cast<std::size_t>(argument.length));
  to = put(to, line.opening);
  to = put_signed(to, length);
  to = put(to, "]=");
  const Values values = call.values(i);
  const bool brackets_when_empty =
      argument.type == Type::datatype || argument.type == Type::info || argument.type == Type::distribution;
  if ((length < 1 || values.empty()) && !brackets_when_empty) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  out.written(to);
  to = out.room(kValueRoom * values.size() + 8);
  *to++ = '[';
  for (std::uint32_t n = 0; n < values.size(); ++n) {
    if (n > 0) to = put(to, ", ");
    to = put_signed(to, values[n]);
  }
  to = put(to, "]\n");
  out.written(to);
}

void CallPrinter::triples(const Call& call, std::size_t i, TextBuffer& out) const {
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  const std::byte* p = call.raw(i);
  const std::uint32_t rows = p == nullptr ? 0 : detail::load<std::uint32_t>(p);
  to = put(to, line.opening);
  to = put_unsigned(to, rows);
  to = put(to, "][3]=");
  if (rows < 1) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  out.written(to);
  to = out.room(rows * (3 * kValueRoom + 8) + 8);
  *to++ = '[';
  p += 4;
  for (std::uint32_t row = 0; row < rows; ++row, p += 16) {
    to = put(to, row > 0 ? ", [" : "[");
    for (std::size_t n = 0; n < 3; ++n) {
      if (n > 0) to = put(to, ", ");
      to = put_signed(to, detail::load<std::int32_t>(p + 4 + 4 * n));
    }
    to = put(to, "]\n");
  }
  // The original leaves out the newline: the next argument goes on in this line.
  *to++ = ']';
  out.written(to);
}

void CallPrinter::string_list(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  const Strings list = call.strings(i);
  to = put(to, line.opening);
  to = put_signed(to, list.size() > 0 || call.present(i) ? static_cast<std::int64_t>(list.size())
                                                         : call.integer(static_cast<std::size_t>(argument.length)));
  to = put(to, "]=");
  if (list.size() == 0) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  *to++ = '[';
  out.written(to);
  strings(list, ", ", out);
  out.append("]\n");
}

void CallPrinter::open_list(const Call& call, std::size_t i, TextBuffer& out) const {
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  to = put(to, line.opening);
  to = put(to, "-2]=");
  if (!call.present(i)) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  *to++ = '[';
  out.written(to);
  strings(call.strings(i), "", out);
  out.append("]\n");
}

void CallPrinter::list_of_lists(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  const Line& line = texts_[call.id].lines[i];
  char* to = out.room(kFieldRoom);
  const std::byte* p = call.raw(i);
  const std::uint32_t lists = p == nullptr ? 0 : detail::load<std::uint32_t>(p);
  to = put(to, line.opening);
  to = put_signed(to, p != nullptr ? lists : call.integer(static_cast<std::size_t>(argument.length)));
  to = put(to, "][-2]=");
  if (lists == 0) {
    to = put(to, "<IGNORED>\n");
    out.written(to);
    return;
  }
  *to++ = '[';
  out.written(to);
  p += 4;
  for (std::uint32_t n = 0; n < lists; ++n) {
    const Strings list(p + 4, detail::load<std::uint32_t>(p));
    out.append(n > 0 ? ", [" : "[");
    strings(list, "", out);
    out.append("]");
    auto each = list.begin();
    for (std::uint32_t k = 0; k < list.size(); ++k) each.advance();
    p = each.position();
  }
  out.append("]\n");
}

void CallPrinter::argument(const Call& call, std::size_t i, TextBuffer& out) const {
  const Argument& argument = call.function().argument[i];
  if (argument.type == Type::status) return statuses(call, i, out);
  switch (argument.shape) {
    case Shape::scalar:
      return argument.type == Type::str ? string(call, i, out) : number(call, i, out);
    case Shape::array:
      return array(call, i, out);
    case Shape::triples:
      return triples(call, i, out);
    case Shape::string_by_arg:
    case Shape::string_list:
      return string_list(call, i, out);
    case Shape::open_list:
      return open_list(call, i, out);
    case Shape::list_of_lists:
      return list_of_lists(call, i, out);
  }
}

void CallPrinter::print(const Call& call, TextBuffer& out) const {
  const Texts& texts = texts_[call.id];
  const auto times = [&](char* to, std::int32_t wall_s, std::uint32_t wall_ns, std::int32_t cpu_s,
                         std::uint32_t cpu_ns) {
    to = put_time(to, wall_s, wall_ns);
    to = put(to, ", cputime ");
    to = put_time(to, cpu_s, cpu_ns);
    to = put(to, " seconds in thread ");
    to = put_unsigned(to, call.thread);
    return put(to, ".\n");
  };
  const std::int32_t wall_bias = call.has_wall() ? file_.wall_bias() : 0;
  const std::int32_t cpu_bias = call.has_cpu() ? file_.cpu_bias() : 0;
  const bool has_counters = (call.mask & kMaskCounters) != 0;
  char* to = out.room(kHeadRoom + (has_counters ? counter_text_size_ : 0));
  to = put(to, texts.entering);
  to = times(to, biased(call.wall.start_s, wall_bias), call.wall.start_ns, biased(call.cpu.start_s, cpu_bias),
             call.cpu.start_ns);
  if (has_counters) to = counters(call, false, to);
  out.written(to);
  const Function& function = call.function();
  for (std::size_t n = 0; n < function.argument_count; ++n) argument(call, function.text_order[n], out);
  to = out.room(kHeadRoom + (has_counters ? counter_text_size_ : 0));
  to = put(to, texts.returning);
  to = times(to, biased(call.wall.stop_s, wall_bias), call.wall.stop_ns, biased(call.cpu.stop_s, cpu_bias),
             call.cpu.stop_ns);
  if (has_counters) to = counters(call, true, to);
  out.written(to);
}

}  // namespace fathom::dumpi
