#include "formats/tau/tau_file.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/text.hpp"
#include "io/line_cursor.hpp"

namespace fathom::tau {

namespace {

constexpr std::string_view kTemplated = " templated_functions";
constexpr std::string_view kMulti = "_MULTI_";

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '&') {
      out.push_back(text[i]);
      continue;
    }
    const std::size_t end = text.find(';', i);
    const std::string_view name = end == std::string_view::npos ? "" : text.substr(i + 1, end - i - 1);
    const char c = name == "lt"     ? '<'
                   : name == "gt"   ? '>'
                   : name == "amp"  ? '&'
                   : name == "quot" ? '"'
                   : name == "apos" ? '\''
                                    : 0;
    const auto number = name.starts_with('#') ? parse_integer<unsigned>(name.substr(1)) : std::nullopt;
    if (c == 0 && !(number && *number > 0 && *number < 128)) {
      out.push_back('&');
      continue;
    }
    out.push_back(c != 0 ? c : static_cast<char>(*number));
    i = end;
  }
  return out;
}

// <attribute><name>…</name><value>…</value></attribute>…
Attributes read_metadata(std::string_view text) {
  Attributes out;
  const auto between = [&](std::string_view open, std::string_view close,
                           std::size_t& at) -> std::optional<std::string_view> {
    const std::size_t begin = text.find(open, at);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = text.find(close, begin + open.size());
    if (end == std::string_view::npos) return std::nullopt;
    at = end + close.size();
    return text.substr(begin + open.size(), end - begin - open.size());
  };
  for (std::size_t at = 0;;) {
    const auto name = between("<name>", "</name>", at);
    if (!name) break;
    const auto value = between("<value>", "</value>", at);
    if (!value) break;
    out.emplace_back(unescape(*name), unescape(*value));
  }
  return out;
}

// The last words of a line are numbers; what stands before them in quotes is a name, which may contain quotes.
bool parse_numbers(std::string_view text, std::span<double> numbers, std::string_view& name) {
  text = trim(text);
  for (std::size_t i = numbers.size(); i-- > 0;) {
    const std::size_t blank = text.find_last_of(" \t");
    if (blank == std::string_view::npos) return false;
    const auto number = parse_double(text.substr(blank + 1));
    if (!number) return false;
    numbers[i] = *number;
    text = trim(text.substr(0, blank));
  }
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  name = text.substr(1, text.size() - 2);
  return true;
}

bool parse_function(std::string_view line, FunctionLine& out) {
  constexpr std::string_view kGroup = "GROUP=\"";
  const std::size_t group = line.rfind(kGroup);
  if (group != std::string_view::npos) {
    const std::string_view rest = line.substr(group + kGroup.size());
    out.groups = rest.substr(0, rest.rfind('"'));
    line = line.substr(0, group);
  }
  double numbers[5] = {};
  if (!parse_numbers(line, numbers, out.name)) return false;
  out.calls = numbers[0];
  out.subrs = numbers[1];
  out.exclusive = numbers[2];
  out.inclusive = numbers[3];
  return true;
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : work_(work), lines_(blob) { file_.blob = blob; }

  Result<TauFile> run() {
    const auto first = lines_.next();
    const std::string_view head = first ? trim(*first) : std::string_view();
    const std::size_t at = head.find(kTemplated);
    const auto count = at == std::string_view::npos ? std::nullopt : parse_integer<std::uint64_t>(head.substr(0, at));
    if (!count)
      return Error("expected 'N templated_functions' in the first line", Place::at_line(file_.blob.name(), 1));
    std::string_view rest = head.substr(at + kTemplated.size());
    if (rest.starts_with(kMulti)) file_.metric = std::string(rest.substr(kMulti.size()));
    metadata();
    FATHOM_CHECK(entries(*count, "functions", [&](std::string_view line) {
      FunctionLine function;
      if (!parse_function(line, function)) return false;
      file_.functions.push_back(function);
      return true;
    }));
    FATHOM_TRY(const std::uint64_t aggregates, counted("aggregates"));
    FATHOM_CHECK(entries(aggregates, "aggregates", [](std::string_view) { return true; }));
    if (aggregates > 0) {
      work_->diagnostics.info("tau.aggregates", lines_.place(),
                              "aggregates, which repeat what functions have, are not read");
    }
    FATHOM_TRY(const std::uint64_t events, counted("userevents"));
    FATHOM_CHECK(entries(events, "user events", [&](std::string_view line) {
      UserEvent event;
      double numbers[5] = {};
      if (!parse_numbers(line, numbers, event.name)) return false;
      event.count = numbers[0];
      event.maximum = numbers[1];
      event.minimum = numbers[2];
      event.mean = numbers[3];
      event.sum_of_squares = numbers[4];
      file_.events.push_back(event);
      return true;
    }));
    return std::move(file_);
  }

 private:
  // On the second line, after the names of the columns; values may contain line ends.
  void metadata() {
    const auto line = lines_.next();
    if (!line) return;
    const std::size_t begin = line->find("<metadata>");
    if (begin == std::string_view::npos) return;
    const std::string_view text = file_.blob.text();
    const std::size_t from = static_cast<std::size_t>(line->data() - text.data()) + begin;
    constexpr std::string_view kEnd = "</metadata>";
    const std::size_t end = text.find(kEnd, from);
    if (end == std::string_view::npos) return;
    file_.metadata = read_metadata(text.substr(from, end - from));
    const char* last = line->data() + line->size();
    while (last < text.data() + end) {
      const auto more = lines_.next();
      if (!more) return;
      last = more->data() + more->size();
    }
  }

  std::optional<std::string_view> next_line() {
    if (kept_) return std::exchange(kept_, std::nullopt);
    return lines_.next();
  }

  // "12 aggregates": what comes next, and how much of it.
  static std::optional<std::uint64_t> count_in(std::string_view line, std::string_view what) {
    line = trim(line);
    if (!line.ends_with(what)) return std::nullopt;
    return parse_integer<std::uint64_t>(trim(line.substr(0, line.size() - what.size())));
  }

  // Lines of one section, each with a name in quotes. All that are there are taken, however many were announced.
  Result<void> entries(std::uint64_t announced, std::string_view what,
                       const std::function<bool(std::string_view)>& take) {
    std::uint64_t found = 0;
    while (const auto line = next_line()) {
      const std::string_view text = trim(*line);
      if (text.starts_with('#')) continue;
      if (!text.starts_with('"')) {
        const bool next_section = count_in(text, "aggregates") || count_in(text, "userevents");
        if (text.empty() && found >= announced) continue;
        if (next_section || found >= announced) {
          kept_ = line;
          break;
        }
      }
      ++found;
      if (!text.starts_with('"') || !take(*line)) FATHOM_CHECK(refuse());
    }
    if (found == announced) return {};
    if (found < announced && !kept_) {
      return work_->diagnostics.lost("tau.cut_off", lines_.place(),
                                     fmt::format("the file ends after {} {} of {}", found, what, announced));
    }
    return work_->diagnostics.warn(
        "tau.count", lines_.place(),
        fmt::format("there are {} {} where the file says {}; all of them are used", found, what, announced));
  }

  Result<std::uint64_t> counted(std::string_view what) {
    const auto line = next_line();
    if (!line) return std::uint64_t{0};
    if (const auto count = count_in(*line, what)) return *count;
    FATHOM_CHECK(work_->diagnostics.warn("tau.line", lines_.place(), fmt::format("expected 'N {}'", what)));
    if (count_in(*line, "userevents")) kept_ = line;
    return std::uint64_t{0};
  }

  Result<void> refuse() {
    return work_->diagnostics.warn("tau.line", lines_.place(),
                                   "expected a name in quotes and five numbers; the line is left out");
  }

  Work work_;
  LineCursor lines_;
  std::optional<std::string_view> kept_;  // a line that was looked at and belongs to what comes next
  TauFile file_;
};

}  // namespace

bool looks_like_profile(std::string_view head) {
  const std::size_t end = head.find('\n');
  const std::string_view line = head.substr(0, end);
  const std::size_t at = line.find(kTemplated);
  if (at == std::string_view::npos || at == 0 || end == std::string_view::npos) return false;
  return parse_integer<std::uint64_t>(line.substr(0, at)).has_value();
}

Result<TauFile> read(const Blob& blob, const Work& work) { return Reader(blob, work).run(); }

}  // namespace fathom::tau
