#include "formats/dumpi/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "base/text.hpp"
#include "formats/dumpi/text_fields.hpp"

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

class TextReader {
 public:
  explicit TextReader(const Blob& blob) : in_(blob) {}

  Result<Blob> read();

 private:
  Result<void> header();
  Result<void> call(const Function& function);
  Result<void> moment(Head& head, std::size_t wall, std::size_t cpu);
  Result<void> counters(std::vector<std::int64_t>& values);
  Result<void> sections();

  TextCursor in_;
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
  if (!in_.text.starts_with("version=")) return {};
  Header& header = sections_.header;
  sections_.set(Section::header);
  while (!in_.at_end()) {
    const std::string_view line = in_.peek_line();
    const auto equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : line.substr(equals + 1);
    if (key == "version") {
      const auto parts = split(value, '.');
      for (std::size_t i = 0; i < 3; ++i) {
        const auto number = i < parts.size() ? parse_integer<std::uint8_t>(parts[i]) : std::nullopt;
        if (!number) return in_.error("the version must be three numbers");
        header.version[i] = *number;
      }
      rules_ = Rules::of_version(header.version);
    } else if (key == "starttime") {
      std::tm parts{};
      if (strptime(std::string(value).c_str(), "%a %b %d %H:%M:%S %Y", &parts) == nullptr) {
        return in_.error("starttime must read like 'Sun Nov 15 06:16:56 2026'");
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
    in_.rest_of_line();
  }
  return {};
}

Result<void> TextReader::moment(Head& head, std::size_t wall, std::size_t cpu) {
  const auto one = [&](Moment& moment) {
    std::int32_t nanoseconds = 0;
    if (!in_.take_number(moment.seconds) || !in_.take(".") || !in_.take_number(nanoseconds)) return false;
    moment.nanoseconds = static_cast<std::uint32_t>(nanoseconds);
    return true;
  };
  if (!one(head.times[wall]) || !in_.take(", cputime ") || !one(head.times[cpu]) || !in_.take(" seconds in thread ") ||
      !in_.take_number(head.thread) || !in_.take(".\n")) {
    return in_.error("'WALL, cputime CPU seconds in thread N.' must follow");
  }
  return {};
}

Result<void> TextReader::counters(std::vector<std::int64_t>& values) {
  if (!in_.take("Perfcounters: [")) return {};
  const std::string_view line = in_.rest_of_line();
  if (line == "]") return {};  // a record that says it has counters, of a file that has none
  for (const std::string_view part : split(line.substr(0, line.rfind(']')), ',')) {
    const auto equals = part.rfind('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_integer<std::int64_t>(part.substr(equals + 1));
    if (!value) return in_.error("a counter must be NAME=NUMBER");
    values.push_back(*value);
  }
  if (values.size() > 255) return in_.error("a record has at most 255 counters");
  return {};
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
    FATHOM_CHECK(read_field(in_, function, n, fields[function.text_order[n]]));
  }
  if (!in_.take(function.name) || !in_.take(" returning at walltime ")) {
    return in_.error(fmt::format("'{} returning at walltime' must follow", function.name));
  }
  FATHOM_CHECK(moment(head, 1, 3));
  FATHOM_CHECK(counters(after));
  if (before.size() != after.size()) return in_.error("a call must have the same counters at its entry and exit");
  // As many strings as argc says, or the record cannot be read back.
  for (std::size_t i = 0; i < function.argument_count; ++i) {
    if (function.argument[i].shape != Shape::string_by_arg) continue;
    const std::int64_t said = fields[static_cast<std::size_t>(function.argument[i].length)].number;
    const std::size_t are = fields[i].lists.empty() ? 0 : fields[i].lists[0].size();
    if (said != static_cast<std::int64_t>(are))
      return in_.error(fmt::format("{} says {} strings, there are {}", function.name, said, are));
  }
  head.counters = static_cast<std::uint8_t>(before.size());
  head.counters_at = bytes_.size();
  for (std::size_t i = 0; i < before.size(); ++i) {
    bytes_.number(before[i]);
    bytes_.number(after[i]);
  }
  head.arguments_at = bytes_.size();
  encode_fields(function, fields, rules_, bytes_);
  head.end = bytes_.size();
  heads_.push_back(head);
  return {};
}

Result<void> TextReader::sections() {
  while (!in_.at_end()) {
    if (in_.peek_line().empty()) {
      in_.rest_of_line();
      continue;
    }
    if (in_.take("Total keyvals: ")) {
      std::uint32_t count = 0;
      if (!in_.take_number(count) || !in_.take("\n")) return in_.error("a number of keyvals must follow");
      for (std::uint32_t i = 0; i < count && !in_.at_end(); ++i) {
        const std::string_view line = in_.rest_of_line();
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return in_.error("key=value must follow");
        sections_.keyvals.emplace_back(line.substr(0, equals), line.substr(equals + 1));
      }
    } else if (in_.take("Performance counters: ")) {
      std::uint32_t count = 0;
      if (!in_.take_number(count) || !in_.take("\n")) return in_.error("a number of counters must follow");
      for (std::uint32_t i = 0; i < count && !in_.at_end(); ++i) {
        sections_.counters.emplace_back(trim(in_.rest_of_line()));
      }
    } else if (in_.take("Function address ")) {
      std::int64_t address = 0;
      if (!in_.take_number(address) || !in_.take(" has label "))
        return in_.error("'ADDRESS has label TEXT' must follow");
      sections_.addresses.push_back({static_cast<std::uint64_t>(address), std::string(in_.rest_of_line())});
    } else if (in_.take("Datatype ")) {
      std::uint32_t id = 0;
      std::int32_t size = 0;
      const bool numbered = in_.take_number(id);
      const auto at = in_.text.find(" has size ", in_.at);
      if (!numbered || at == std::string_view::npos) return in_.error("'ID (NAME) has size N' must follow");
      in_.at = at + std::string_view(" has size ").size();
      if (!in_.take_number(size) || !in_.take("\n")) return in_.error("a size must follow");
      if (id != sections_.sizes.size())
        return in_.error(fmt::format("datatype {} must come next", sections_.sizes.size()));
      sections_.sizes.push_back(size);
      sections_.set(Section::sizes);
    } else {
      // "NAME called N times and ignored M times"
      const std::string_view name = in_.text.substr(in_.at, in_.text.find(' ', in_.at) - in_.at);
      const Function* found = function(name);
      const std::size_t slot = name == "MPI_ALL_FUNCTIONS" ? kAllFunctions
                               : found != nullptr          ? found->id
                                                           : kFooterSlots;
      std::int32_t called = 0;
      std::int32_t ignored = 0;
      if (slot >= kFooterSlots || !in_.take(name) || !in_.take(" called ") || !in_.take_number(called) ||
          !in_.take(" times and ignored ") || !in_.take_number(ignored) || !in_.take(" times\n")) {
        return in_.error("a call or a line of one of the sections must follow");
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
  while (!in_.at_end()) {
    const std::string_view name = in_.text.substr(in_.at, in_.text.find(' ', in_.at) - in_.at);
    if (!in_.text.substr(std::min(in_.at + name.size(), in_.text.size())).starts_with(kEntering)) break;
    const Function* found = function(name);
    if (found == nullptr) return in_.error("the name of a call must follow");
    in_.at += name.size() + kEntering.size();
    FATHOM_CHECK(call(*found));
  }
  FATHOM_CHECK(sections());

  // A clock that is zero everywhere was not recorded, nor is it in single calls where the others are further away than
  // seconds behind the bias can be. The bias is the earliest second.
  std::array<bool, 2> used{};
  std::array<bool, 2> pauses{};  // some calls are without it
  std::array<std::int32_t, 2> bias{};
  const auto silent = [](const Head& head, std::size_t clock) {
    return head.times[2 * clock].zero() && head.times[2 * clock + 1].zero();
  };
  for (std::size_t clock = 0; clock < 2; ++clock) {
    bool zeros = false;
    std::int32_t first = std::numeric_limits<std::int32_t>::max();
    for (const Head& head : heads_) {
      zeros = zeros || silent(head, clock);
      if (silent(head, clock)) continue;
      used[clock] = true;
      first = std::min({first, head.times[2 * clock].seconds, head.times[2 * clock + 1].seconds});
    }
    pauses[clock] = zeros && used[clock] && first > std::numeric_limits<std::uint16_t>::max();
    bias[clock] = zeros && !pauses[clock] ? std::min(first, 0) : first;
  }
  ByteText out;
  out.bytes(kMagic);
  out.number(used[1] ? bias[1] : std::int32_t{0});
  out.number(used[0] ? bias[0] : std::int32_t{0});
  for (const Head& head : heads_) {
    std::uint8_t mask = kMaskStatus | kMaskThread;
    const auto has = [&](std::size_t clock) { return used[clock] && !(pauses[clock] && silent(head, clock)); };
    if (has(1)) mask |= kMaskCpu;
    if (has(0)) mask |= kMaskWall;
    if (head.counters > 0) mask |= kMaskCounters;
    out.number(head.id);
    out.number(mask);
    out.number(head.thread);
    for (const std::size_t clock : {std::size_t{1}, std::size_t{0}}) {
      if (!has(clock)) continue;
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
  return Blob::own(in_.source.name(), out.text());
}

}  // namespace

Result<Blob> binary_of_text(const Blob& text, const Work& work) {
  FATHOM_TRY(const auto reserved, work->budget.reserve(text.size(), "records of a text dump"));
  return TextReader(text).read();
}

}  // namespace fathom::dumpi
