#include "formats/perf_script/sample_text.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.hpp"

namespace fathom::perf_script {

namespace {

struct Token {
  std::string_view text;
  std::size_t begin;
};

void split_blanks(std::string_view line, std::vector<Token>& out) {
  out.clear();
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    const std::size_t begin = at;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t') ++at;
    if (at > begin) out.push_back({line.substr(begin, at - begin), begin});
  }
}

bool is_cpu(std::string_view text) {
  return text.size() >= 3 && text.front() == '[' && text.back() == ']' &&
         parse_integer<std::int64_t>(text.substr(1, text.size() - 2));
}

// "U", "K", "Sp": in which mode the sample was taken (-F +misc).
bool is_mode(std::string_view text) {
  return !text.empty() && text.size() <= 2 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}

// "441995.133575:": seconds with 6 or 9 decimals.
std::optional<std::int64_t> time_of(std::string_view text) {
  if (!text.ends_with(':')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || text.size() - dot - 1 > 9) return std::nullopt;
  const auto seconds = parse_integer<std::int64_t>(text.substr(0, dot));
  auto fraction = parse_integer<std::int64_t>(text.substr(dot + 1));
  constexpr std::int64_t kMost = 4'000'000'000;
  if (!seconds || !fraction || *seconds < 0 || *seconds > kMost || *fraction < 0) return std::nullopt;
  for (std::size_t digits = text.size() - dot - 1; digits < 9; ++digits) *fraction *= 10;
  return *seconds * 1'000'000'000 + *fraction;
}

bool is_hex(char c) {
  const char low = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (low >= 'a' && low <= 'f');
}

bool is_hex_word(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_hex); }

// Not a word of the letters a to f.
bool is_address(std::string_view text) {
  constexpr std::size_t kLong = 8;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_hex_word(text) &&
         (digit(text.front()) || (text.size() >= kLong && std::any_of(text.begin(), text.end(), digit)));
}

// Where the " (" of the module stands, or npos: it closes at the end of the text. Modules may have blanks and brackets
// ("/lib/x.so (deleted)"), symbols, too; where brackets do not match it is the last one.
std::size_t module_bracket(std::string_view text) {
  std::size_t last = std::string_view::npos;
  std::size_t depth = 0;
  for (std::size_t at = text.size(); at-- > 1;) {
    if (text[at] == ')') ++depth;
    if (text[at] != '(') continue;
    const bool after_blank = text[at - 1] == ' ';
    if (after_blank && last == std::string_view::npos) last = at - 1;
    if (--depth == 0) return after_blank ? at - 1 : last;
  }
  return last;
}

// "symbol+0x1f" as "symbol".
std::string_view without_offset(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_hex(text[end - 1])) --end;
  return end < text.size() && text.substr(0, end).ends_with("+0x") ? text.substr(0, end - 3) : text;
}

// "pid/tid" or "tid"
bool read_numbers(std::string_view text, SampleHeader& out) {
  const std::size_t slash = text.find('/');
  const auto first = parse_integer<std::int64_t>(text.substr(0, slash));
  if (!first || *first < -1) return false;  // -1: perf does not know
  out.thread = *first;
  if (slash == std::string_view::npos) return true;
  const auto second = parse_integer<std::int64_t>(text.substr(slash + 1));
  if (!second) return false;
  out.process = first;
  out.thread = *second;
  return true;
}

// "period address symbol" without an event in between. Names of functions begin with no digit, so that of two numbers
// the first is the period.
bool read_eventless(std::string_view line, std::span<const Token> behind_time, SampleHeader& out) {
  out.period.reset();
  if (behind_time.size() > 2 && is_address(behind_time[1].text)) {
    out.period = parse_integer<std::int64_t>(behind_time[0].text);
    if (out.period && *out.period < 0) return false;
    if (out.period) behind_time = behind_time.subspan(1);
  }
  if (behind_time.size() < 2 || !is_address(behind_time[0].text)) return false;
  const char symbol = behind_time[1].text.front();
  if (symbol >= '0' && symbol <= '9') return false;
  out.rest = line.substr(behind_time[0].begin - 1);  // with a blank in front, as frames have
  return true;
}

}  // namespace

std::optional<SampleHeader> parse_bare_header(std::string_view line) {
  thread_local std::vector<Token> tokens;
  split_blanks(line, tokens);
  SampleHeader out;
  if (tokens.size() < 2 || !read_numbers(tokens.back().text, out)) return std::nullopt;
  out.command = trim(line.substr(0, tokens.back().begin));
  return out;
}

std::optional<SampleHeader> parse_header(std::string_view line) {
  thread_local std::vector<Token> tokens;
  split_blanks(line, tokens);
  // The command may have blanks: the number is the first one behind which the rest makes sense.
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    SampleHeader out;
    if (!read_numbers(tokens[i].text, out)) continue;
    std::size_t at = i + 1;
    if (at + 1 < tokens.size() && is_mode(tokens[at].text) &&
        (is_cpu(tokens[at + 1].text) || time_of(tokens[at + 1].text))) {
      ++at;
    }
    if (at < tokens.size() && is_cpu(tokens[at].text)) {
      ++at;
      // Flags of the moment ("d..2.") stand between them where they are asked for.
      if (at + 1 < tokens.size() && !time_of(tokens[at].text) && time_of(tokens[at + 1].text)) ++at;
    }
    if (at < tokens.size()) {
      out.time_ns = time_of(tokens[at].text);
      if (out.time_ns) ++at;
    }
    const auto behind_time = std::span<const Token>(tokens).subspan(at);
    if (at + 1 < tokens.size()) {
      out.period = parse_integer<std::int64_t>(tokens[at].text);
      if (out.period && *out.period < 0) continue;
      if (out.period) ++at;
    }
    if (at < tokens.size()) {
      std::string_view event = tokens[at].text;
      if (event.ends_with(':') && event.size() > 1 && !time_of(event)) {
        event.remove_suffix(1);
        // "cycles:u" is cycles with a modifier, "sched:sched_switch" a name.
        if (const std::size_t colon = event.rfind(':'); colon != std::string_view::npos && colon > 0) {
          const std::string_view modifier = event.substr(colon + 1);
          if (modifier.find_first_not_of("ukhGHpPSDWe") == std::string_view::npos) event = event.substr(0, colon);
        }
        out.event = event;
        out.rest = trim(line.substr(tokens[at].begin + tokens[at].text.size()));
      } else if (!out.time_ns || !read_eventless(line, behind_time, out)) {
        continue;
      }
    } else if (!out.time_ns) {
      continue;
    }
    const std::size_t begin = tokens.front().begin;
    out.command = trim(line.substr(begin, tokens[i].begin - begin));
    return out;
  }
  return std::nullopt;
}

std::optional<FrameLine> parse_frame(std::string_view line) {
  // Without a blank in front it may be a command whose name looks like an address ("dd").
  const bool indented = !line.empty() && (line.front() == ' ' || line.front() == '\t');
  line = trim(line);
  if (!indented && !line.ends_with(')')) return std::nullopt;
  std::size_t blank = 0;
  while (blank < line.size() && is_hex(line[blank])) ++blank;
  // A tab: simpleperf of Android.
  if (blank == 0 || blank == line.size() || (line[blank] != ' ' && line[blank] != '\t')) return std::nullopt;
  FrameLine out;
  out.address = line.substr(0, blank);
  std::string_view rest = trim(line.substr(blank));
  // Commands can look like addresses, too ("dd 5 1.000000: cycles: ..."); names of functions begin with no digit.
  if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9' && parse_header(line)) return std::nullopt;
  if (rest.ends_with(')')) {
    const std::size_t open = module_bracket(rest);
    if (open != std::string_view::npos) {
      out.module = rest.substr(open + 2, rest.size() - open - 3);
      rest = trim(rest.substr(0, open));
    } else if (rest.front() == '(') {
      out.module = rest.substr(1, rest.size() - 2);
      rest = {};
    }
  }
  out.inlined = out.module == "inlined";
  rest = without_offset(rest);
  out.symbol = rest.empty() ? "[unknown]" : rest;
  return out;
}

bool is_certain_frame(std::string_view line) {
  if (!line.starts_with('\t')) return false;
  const auto frame = parse_frame(line);
  return frame && is_address(frame->address);
}

std::optional<FrameLine> frame_of(const SampleHeader& header) {
  if (header.event.empty()) return header.rest.empty() ? std::nullopt : parse_frame(header.rest);
  // What tracepoints print may begin with a word of such letters; addresses are longer.
  constexpr std::size_t kShortest = 4;
  if (!header.rest.ends_with(')') || header.rest.find(' ') < kShortest) return std::nullopt;
  return parse_frame(header.rest);
}

std::string name_of(const FrameLine& frame) {
  if (frame.symbol != "[unknown]" || frame.module.empty() || frame.module == "[unknown]")
    return std::string(frame.symbol);
  const std::size_t slash = frame.module.rfind('/');
  std::string_view base = slash == std::string_view::npos ? frame.module : frame.module.substr(slash + 1);
  if (base.starts_with('[') && base.ends_with(']')) return std::string(base);
  return "[" + std::string(base) + "]";
}

}  // namespace fathom::perf_script
