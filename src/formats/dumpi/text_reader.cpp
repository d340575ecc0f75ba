#include "formats/dumpi/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <limits>

#include "base/text.hpp"
#include "formats/dumpi/names.hpp"
#include "formats/dumpi/writer.hpp"

namespace fathom::dumpi {

bool looks_like_text_dump(std::string_view head) {
  if (head.starts_with("version=") && head.find("\nstarttime=") != std::string_view::npos) return true;
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find(" entering at walltime ") != std::string_view::npos;
}

namespace {

struct Moment {
  std::int32_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  [[nodiscard]] bool zero() const { return seconds == 0 && nanoseconds == 0; }
};

struct Head {
  std::uint16_t id = 0;
  std::uint16_t thread = 0;
  std::array<Moment, 4> times;  // wall start, wall stop, CPU start, CPU stop
  std::size_t counters_at = 0;
  std::size_t arguments_at = 0;
  std::size_t end = 0;
  std::uint8_t counters = 0;
};

// One argument as the text shows it.
struct Field {
  bool ignored = false;  // <IGNORED> or (null)
  std::int64_t number = 0;
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<std::string_view>> lists;
  std::vector<Status> statuses;
};

class TextReader {
 public:
  TextReader(const Blob& blob) : blob_(blob), text_(blob.text()) {}

  Result<Blob> read();

 private:
  // What is expected at the cursor; moves behind it.
  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  template <class Int>
  bool take_number(Int& value) {
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc{}) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  std::string_view rest_of_line() {
    const auto end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    return line;
  }
  [[nodiscard]] std::string_view peek_line() const { return text_.substr(at_, text_.find('\n', at_) - at_); }
  [[nodiscard]] Error error(std::string what) const {
    const auto line =
        static_cast<std::uint64_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n')) +
        1;
    return Error(fmt::format("{}, found '{}'", what, peek_line().substr(0, 60)), Place::at_line(blob_.name(), line));
  }

  Result<void> header();
  Result<void> call(const Function& function);
  Result<void> moment(Head& head, std::size_t wall, std::size_t cpu);
  Result<void> counters(std::vector<std::int64_t>& values);
  Result<void> field(const Function& function, std::size_t order, Field& out);
  Result<void> sections();
  bool take_string(std::string_view& out, std::string_view next);
  void encode(const Function& function, const std::vector<Field>& fields);

  Blob blob_;
  std::string_view text_;
  std::size_t at_ = 0;
  Sections sections_;
  Rules rules_;
  std::vector<Head> heads_;
  ByteText bytes_;
};

std::vector<std::int32_t> numbers_of(std::string_view list) {
  std::vector<std::int32_t> values;
  if (list.starts_with('[')) list.remove_prefix(1);
  if (list.ends_with(']')) list.remove_suffix(1);
  for (const std::string_view part : split(list, ',')) {
    if (const auto value = parse_integer<std::int32_t>(trim(part))) values.push_back(*value);
  }
  return values;
}

Result<void> TextReader::header() {
  if (!text_.starts_with("version=")) return {};
  Header& header = sections_.header;
  sections_.set(Section::header);
  while (at_ < text_.size()) {
    const std::string_view line = peek_line();
    const auto equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : line.substr(equals + 1);
    if (key == "version") {
      const auto parts = split(value, '.');
      for (std::size_t i = 0; i < 3; ++i) {
        const auto number = i < parts.size() ? parse_integer<std::uint8_t>(parts[i]) : std::nullopt;
        if (!number) return error("the version must be three numbers");
        header.version[i] = *number;
      }
      rules_ = Rules::of_version(header.version);
    } else if (key == "starttime") {
      std::tm parts{};
      if (strptime(std::string(value).c_str(), "%a %b %d %H:%M:%S %Y", &parts) == nullptr) {
        return error("starttime must read like 'Sun Nov 15 06:16:56 2026'");
      }
      parts.tm_isdst = -1;
      header.start_time = static_cast<std::uint64_t>(std::mktime(&parts));
    } else if (key == "hostname") {
      header.host = value;
    } else if (key == "username") {
      header.user = value;
    } else if (key == "meshsize") {
      header.mesh_size = numbers_of(value);
    } else if (key == "meshcrd") {
      header.mesh_position = numbers_of(value);
    } else if (key != "meshdim") {
      break;
    }
    rest_of_line();
  }
  return {};
}

Result<void> TextReader::moment(Head& head, std::size_t wall, std::size_t cpu) {
  const auto one = [&](Moment& moment) {
    std::int32_t nanoseconds = 0;
    if (!take_number(moment.seconds) || !take(".") || !take_number(nanoseconds)) return false;
    moment.nanoseconds = static_cast<std::uint32_t>(nanoseconds);
    return true;
  };
  if (!one(head.times[wall]) || !take(", cputime ") || !one(head.times[cpu]) || !take(" seconds in thread ") ||
      !take_number(head.thread) || !take(".\n")) {
    return error("'WALL, cputime CPU seconds in thread N.' must follow");
  }
  return {};
}

Result<void> TextReader::counters(std::vector<std::int64_t>& values) {
  if (!take("Perfcounters: [")) return {};
  const std::string_view line = rest_of_line();
  for (const std::string_view part : split(line.substr(0, line.rfind(']')), ',')) {
    const auto equals = part.rfind('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_integer<std::int64_t>(part.substr(equals + 1));
    if (!value) return error("a counter must be NAME=NUMBER");
    values.push_back(*value);
  }
  if (values.size() > 255) return error("a record has at most 255 counters");
  return {};
}

// A quoted text that ends where a quote and then `next` stand: it may hold quotes and newlines itself.
bool TextReader::take_string(std::string_view& out, std::string_view next) {
  if (!take("\"")) return false;
  for (std::size_t end = text_.find('"', at_); end != std::string_view::npos; end = text_.find('"', end + 1)) {
    if (!text_.substr(end + 1).starts_with(next)) continue;
    out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }
  return false;
}

Result<void> TextReader::field(const Function& function, std::size_t order, Field& out) {
  const std::size_t i = function.text_order[order];
  const Argument& argument = function.argument[i];
  const auto wrong = [&] { return error(fmt::format("{} of {} must follow", argument.name, function.name)); };
  const bool fn = argument.name == "fn";
  if (!take(fn ? "int" : c_type(argument.type)) || !take(" ") || !take(argument.name)) return wrong();

  const auto statuses = [&]() -> bool {
    if (take("<IGNORED>\n")) {
      out.ignored = true;
      return true;
    }
    if (!take("[")) return false;
    while (true) {
      Status status;
      int cancelled = 0;
      int code = 0;
      if (!take("{bytes=") || !take_number(status.bytes) || !take(", cancelled=") || !take_number(cancelled) ||
          !take(", source=") || !take_number(status.source) || !take(", tag=") || !take_number(status.tag) ||
          !take(", error=") || !take_number(code) || !take("}")) {
        return false;
      }
      status.cancelled = static_cast<std::int8_t>(cancelled);
      status.error = static_cast<std::int8_t>(code);
      out.statuses.push_back(status);
      if (take("]\n")) return true;
      if (!take(", ")) return false;
    }
  };
  const auto list = [&](std::string_view separator) -> bool {
    std::vector<std::string_view> strings;
    if (!take("[")) return false;
    while (!take("]")) {
      if (!strings.empty() && !take(separator)) return false;
      // The text ends before the next one or before the end of the list.
      if (!take("\"")) return false;
      std::size_t end = text_.find('"', at_);
      while (end != std::string_view::npos) {
        const std::string_view after = text_.substr(end + 1);
        if (after.starts_with(']') || (after.starts_with(separator) && after.substr(separator.size()).starts_with('"')))
          break;
        end = text_.find('"', end + 1);
      }
      if (end == std::string_view::npos) return false;
      strings.push_back(text_.substr(at_, end - at_));
      at_ = end + 1;
    }
    out.lists.push_back(std::move(strings));
    return true;
  };

  if (argument.shape == Shape::scalar) {
    if (!take("=")) return wrong();
    if (argument.type == Type::status) return statuses() ? Result<void>() : wrong();
    if (argument.type == Type::str) {
      // What comes next tells where the text ends.
      std::string next = "\n";
      if (order + 1 < function.argument_count) {
        const Argument& following = function.argument[function.text_order[order + 1]];
        next += fmt::format("{} {}", c_type(following.type), following.name);
      } else {
        next += fmt::format("{} returning at walltime ", function.name);
      }
      std::string_view text;
      if (!take_string(text, next) || !take("\n")) return wrong();
      out.lists.push_back({text});
      return {};
    }
    const bool brackets = argument.type == Type::request || argument.type == Type::iorequest;
    if (brackets && !take("[")) return wrong();
    if (!take_number(out.number)) return wrong();
    if (fn) {
      // A label may hold anything; the line that follows is known.
      const std::string next = fmt::format("\")\n{} returning at walltime ", function.name);
      const auto end = text_.find(next, at_);
      if (end == std::string_view::npos) return wrong();
      at_ = end + 3;
      return {};
    }
    rest_of_line();
    return {};
  }

  if (!take("[")) return wrong();
  std::int64_t length = 0;
  if (!take_number(length) || !take("]")) return wrong();
  switch (argument.shape) {
    case Shape::array: {
      if (!take("=")) return wrong();
      if (argument.type == Type::status) return statuses() ? Result<void>() : wrong();
      if (take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!take("[")) return wrong();
      while (!take("]\n")) {
        if (!out.numbers.empty() && !take(", ")) return wrong();
        if (!take_number(out.numbers.emplace_back())) return wrong();
      }
      return {};
    }
    case Shape::triples: {
      if (!take("[3]=")) return wrong();
      if (take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!take("[")) return wrong();
      // The closing bracket has no newline behind it.
      while (!take("]")) {
        if (!out.numbers.empty() && !take(", ")) return wrong();
        if (!take("[")) return wrong();
        for (int n = 0; n < 3; ++n) {
          if (n > 0 && !take(", ")) return wrong();
          if (!take_number(out.numbers.emplace_back())) return wrong();
        }
        if (!take("]\n")) return wrong();
      }
      return {};
    }
    default: {
      const bool nested = argument.shape == Shape::list_of_lists;
      if (nested && !take("[-2]")) return wrong();
      if (!take("=")) return wrong();
      if (take("<IGNORED>\n")) {
        out.ignored = true;
        return {};
      }
      if (!nested) {
        if (!list(argument.shape == Shape::open_list ? "" : ", ") || !take("\n")) return wrong();
        return {};
      }
      if (!take("[")) return wrong();
      while (!take("]\n")) {
        if (!out.lists.empty() && !take(", ")) return wrong();
        if (!list("")) return wrong();
      }
      return {};
    }
  }
}

void TextReader::encode(const Function& function, const std::vector<Field>& fields) {
  const auto strings = [&](const std::vector<std::string_view>& list) {
    for (const std::string_view text : list) {
      bytes_.number(static_cast<std::int32_t>(text.size()));
      bytes_.bytes(text);
    }
  };
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    const Argument& argument = function.argument[i];
    const Field& field = fields[i];
    if (argument.only_if >= 0 && fields[static_cast<std::size_t>(argument.only_if)].number !=
                                     fields[static_cast<std::size_t>(argument.equals)].number) {
      continue;
    }
    if (argument.type == Type::status) {
      bytes_.number(static_cast<std::int32_t>(field.statuses.size()));
      for (const Status& status : field.statuses) {
        bytes_.number(status.bytes);
        bytes_.number(status.source);
        bytes_.number(status.cancelled);
        bytes_.number(status.error);
        if (rules_.status_size >= 14) bytes_.number(status.tag);
      }
      continue;
    }
    switch (argument.shape) {
      case Shape::scalar:
        if (argument.type == Type::str) {
          strings(field.lists.empty() ? std::vector<std::string_view>{""} : field.lists[0]);
          break;
        }
        bytes_.value(argument.type, field.number);
        if (rules_.repeated_argc && function.id == ids::kInit && i == 0) bytes_.value(argument.type, field.number);
        break;
      case Shape::array:
        if ((rules_.single_coords && function.id == ids::kCartGet && i == 5) ||
            (rules_.single_indices && function.id == ids::kTypeStruct && i == 2)) {
          bytes_.value(argument.type, field.numbers.empty() ? 0 : field.numbers[0]);
          break;
        }
        bytes_.number(static_cast<std::int32_t>(field.numbers.size()));
        for (const std::int64_t value : field.numbers) bytes_.value(argument.type, value);
        break;
      case Shape::triples:
        bytes_.number(static_cast<std::int32_t>(field.numbers.size() / 3));
        for (std::size_t n = 0; n < field.numbers.size(); ++n) {
          if (n % 3 == 0) bytes_.number(std::int32_t{3});
          bytes_.number(static_cast<std::int32_t>(field.numbers[n]));
        }
        break;
      case Shape::string_by_arg:
        if (!field.lists.empty()) strings(field.lists[0]);
        break;
      case Shape::list_of_lists:
        bytes_.number(static_cast<std::int32_t>(field.lists.size()));
        for (const auto& one : field.lists) {
          bytes_.number(static_cast<std::int32_t>(one.size()));
          strings(one);
        }
        break;
      default:
        bytes_.number(static_cast<std::int32_t>(field.lists.empty() ? 0 : field.lists[0].size()));
        if (!field.lists.empty()) strings(field.lists[0]);
    }
  }
}

// The cursor stands behind "NAME entering at walltime ".
Result<void> TextReader::call(const Function& function) {
  Head head;
  head.id = function.id;
  FATHOM_CHECK(moment(head, 0, 2));
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  FATHOM_CHECK(counters(before));
  std::vector<Field> fields(function.argument_count);
  for (std::size_t n = 0; n < function.argument_count; ++n) {
    FATHOM_CHECK(field(function, n, fields[function.text_order[n]]));
  }
  if (!take(function.name) || !take(" returning at walltime ")) {
    return error(fmt::format("'{} returning at walltime' must follow", function.name));
  }
  FATHOM_CHECK(moment(head, 1, 3));
  FATHOM_CHECK(counters(after));
  if (before.size() != after.size()) return error("a call must have the same counters at its entry and exit");
  // As many strings as argc says, or the record cannot be read back.
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    if (function.argument[i].shape != Shape::string_by_arg) continue;
    const std::int64_t said = fields[static_cast<std::size_t>(function.argument[i].length)].number;
    const std::size_t are = fields[i].lists.empty() ? 0 : fields[i].lists[0].size();
    if (said != static_cast<std::int64_t>(are))
      return error(fmt::format("{} says {} strings, there are {}", function.name, said, are));
  }
  head.counters = static_cast<std::uint8_t>(before.size());
  head.counters_at = bytes_.size();
  for (std::size_t i = 0; i < before.size(); ++i) {
    bytes_.number(before[i]);
    bytes_.number(after[i]);
  }
  head.arguments_at = bytes_.size();
  encode(function, fields);
  head.end = bytes_.size();
  heads_.push_back(head);
  return {};
}

Result<void> TextReader::sections() {
  while (at_ < text_.size()) {
    if (peek_line().empty()) {
      rest_of_line();
      continue;
    }
    if (take("Total keyvals: ")) {
      std::uint32_t count = 0;
      if (!take_number(count) || !take("\n")) return error("a number of keyvals must follow");
      for (std::uint32_t i = 0; i < count && at_ < text_.size(); ++i) {
        const std::string_view line = rest_of_line();
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return error("key=value must follow");
        sections_.keyvals.emplace_back(line.substr(0, equals), line.substr(equals + 1));
      }
    } else if (take("Performance counters: ")) {
      std::uint32_t count = 0;
      if (!take_number(count) || !take("\n")) return error("a number of counters must follow");
      for (std::uint32_t i = 0; i < count && at_ < text_.size(); ++i) {
        sections_.counters.emplace_back(trim(rest_of_line()));
      }
    } else if (take("Function address ")) {
      std::int64_t address = 0;
      if (!take_number(address) || !take(" has label ")) return error("'ADDRESS has label TEXT' must follow");
      sections_.addresses.push_back({static_cast<std::uint64_t>(address), std::string(rest_of_line())});
    } else if (take("Datatype ")) {
      std::uint32_t id = 0;
      std::int32_t size = 0;
      const bool numbered = take_number(id);
      const auto at = text_.find(" has size ", at_);
      if (!numbered || at == std::string_view::npos) return error("'ID (NAME) has size N' must follow");
      at_ = at + std::string_view(" has size ").size();
      if (!take_number(size) || !take("\n")) return error("a size must follow");
      if (id != sections_.sizes.size()) return error(fmt::format("datatype {} must come next", sections_.sizes.size()));
      sections_.sizes.push_back(size);
      sections_.set(Section::sizes);
    } else {
      // "NAME called N times and ignored M times"
      const std::string_view name = text_.substr(at_, text_.find(' ', at_) - at_);
      const Function* found = function(name);
      const std::size_t slot = name == "MPI_ALL_FUNCTIONS" ? kAllFunctions
                               : found != nullptr          ? found->id
                                                           : kFooterSlots;
      std::int32_t called = 0;
      std::int32_t ignored = 0;
      if (slot >= kFooterSlots || !take(name) || !take(" called ") || !take_number(called) ||
          !take(" times and ignored ") || !take_number(ignored) || !take(" times\n")) {
        return error("a call or a line of one of the sections must follow");
      }
      sections_.footer.called[slot] = static_cast<std::uint32_t>(called);
      sections_.footer.ignored[slot] = static_cast<std::uint32_t>(ignored);
      sections_.set(Section::footer);
    }
  }
  return {};
}

Result<Blob> TextReader::read() {
  FATHOM_CHECK(header());
  constexpr std::string_view kEntering = " entering at walltime ";
  while (at_ < text_.size()) {
    const std::string_view name = text_.substr(at_, text_.find(' ', at_) - at_);
    if (!text_.substr(std::min(at_ + name.size(), text_.size())).starts_with(kEntering)) break;
    const Function* found = function(name);
    if (found == nullptr) return error("the name of a call must follow");
    at_ += name.size() + kEntering.size();
    FATHOM_CHECK(call(*found));
  }
  FATHOM_CHECK(sections());

  // A clock that is zero everywhere was not recorded. The bias is the earliest second.
  std::array<bool, 2> used{};
  std::array<std::int32_t, 2> bias = {std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::max()};
  for (const Head& head : heads_) {
    for (std::size_t clock = 0; clock < 2; ++clock) {
      for (std::size_t end = 0; end < 2; ++end) {
        const Moment& moment = head.times[2 * clock + end];
        used[clock] = used[clock] || !moment.zero();
        bias[clock] = std::min(bias[clock], moment.seconds);
      }
    }
  }
  ByteText out;
  out.bytes(kMagic);
  out.number(used[1] ? bias[1] : std::int32_t{0});
  out.number(used[0] ? bias[0] : std::int32_t{0});
  for (const Head& head : heads_) {
    std::uint8_t mask = kMaskStatus | kMaskThread;
    if (used[1]) mask |= kMaskCpu;
    if (used[0]) mask |= kMaskWall;
    if (head.counters > 0) mask |= kMaskCounters;
    out.number(head.id);
    out.number(mask);
    out.number(head.thread);
    for (const std::size_t clock : {std::size_t{1}, std::size_t{0}}) {
      if (!used[clock]) continue;
      for (std::size_t end = 0; end < 2; ++end) {
        const Moment& moment = head.times[2 * clock + end];
        out.number(static_cast<std::uint16_t>(moment.seconds - bias[clock]));
        out.number(moment.nanoseconds);
      }
    }
    if (head.counters > 0) out.number(head.counters);
    out.bytes(std::string_view(bytes_.text()).substr(head.counters_at, head.end - head.counters_at));
  }
  out.number(kEndOfStream);
  out.bytes(encode_sections(sections_, Layout{}, out.size()));
  return Blob::own(blob_.name(), out.text());
}

}  // namespace

Result<Blob> binary_of_text(const Blob& text, const Work& work) {
  FATHOM_TRY(const auto reserved, work->budget.reserve(text.size(), "records of a text dump"));
  return TextReader(text).read();
}

}  // namespace fathom::dumpi
