// Extra-P text: one field per line.
//
//   PARAMETER name...        appended; a repeated name is ignored
//   POINTS 1 2 3 | (1 2)...  appended; duplicates ignored
//   METRIC name              the rest of the line; data restart at the first point
//   REGION call->path        the rest of the line; data restart at the first point
//   DATA v v v               the repetitions of the next point
//
// Blank lines are skipped, '#' in the first column starts a comment.
#include "formats/extrap/text_reader.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "io/line_cursor.hpp"

namespace fathom::extrap {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view strip(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Runs of white space become one blank; most lines have none longer than that and are used as they are.
std::string_view normalised(std::string_view text, std::string& buffer) {
  bool clean = true;
  for (std::size_t i = 0; i < text.size() && clean; ++i) {
    clean = !is_blank(text[i]) || (text[i] == ' ' && (i + 1 == text.size() || !is_blank(text[i + 1])));
  }
  if (clean) return text;
  buffer.clear();
  for (const char c : text) {
    if (!is_blank(c)) {
      buffer += c;
    } else if (buffer.empty() || buffer.back() != ' ') {
      buffer += ' ';
    }
  }
  return buffer;
}

// As Python's float(): also inf, nan, a leading '+', and '_' between digits.
std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto value = parse_double(text)) return value;
  if (text.find('_') == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return std::nullopt;
    }
  }
  return parse_double(digits);
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work) : lines_(blob), builder_(blob.name(), work) {}

  Result<ExperimentPtr> read() {
    bool any = false;
    while (const auto line = lines_.next()) {
      if (strip(*line).empty()) continue;
      any = true;
      if (line->front() == '#') continue;
      FATHOM_CHECK(field(*line));
    }
    if (!any) return Error("File contains no data").hint("an Extra-P text file starts with 'PARAMETER name'");
    FATHOM_TRY(ExperimentPtr experiment, std::move(builder_).finish());
    return experiment;
  }

 private:
  Error wrong(std::string what) { return Error(std::move(what), lines_.place()); }

  Result<void> field(std::string_view raw) {
    const std::string_view line = normalised(raw, buffer_);
    const auto blank = line.find(' ');
    const std::string_view name = line.substr(0, blank);
    const std::string_view value = blank == std::string_view::npos ? std::string_view{} : strip(line.substr(blank));
    if (name == "DATA") return data(value);
    if (name == "REGION") {
      callpath_ = builder_.callpath(value);
      has_callpath_ = true;
      next_point_ = 0;
      return {};
    }
    if (name == "METRIC") {
      metric_ = builder_.metric(value);
      has_metric_ = true;
      next_point_ = 0;
      return {};
    }
    if (name == "POINTS") return points(value);
    if (name == "PARAMETER") {
      for (const std::string_view parameter : split(value, ' ')) {
        if (!parameter.empty()) builder_.parameter(parameter);
      }
      return {};
    }
    return wrong(fmt::format("Encountered wrong field: \"{}\": {}", name, fit(strip(line), 60)))
        .hint(name.empty() ? "a field must start in the first column"
                           : "fields are PARAMETER, POINTS, METRIC, REGION and DATA, in capitals");
  }

  Result<void> need_parameters() {
    if (builder_.parameter_count() == 0) {
      return wrong("This file has no parameters.").hint("PARAMETER must come before POINTS and DATA");
    }
    return {};
  }

  Result<double> parse(std::string_view text) {
    if (const auto value = number(text)) return *value;
    auto error = wrong(fmt::format("'{}' is not a number", fit(text, 40)));
    if (text.find(',') == std::string_view::npos) return error;
    return std::move(error).hint("numbers are separated by blanks, and have a '.' before their decimals");
  }

  Result<void> points(std::string_view value) {
    FATHOM_CHECK(need_parameters());
    std::vector<double> point;
    if (value.find('(') == std::string_view::npos) {
      for (const std::string_view token : split(value, ' ')) {
        if (token.empty()) continue;
        FATHOM_TRY(const double x, parse(token));
        builder_.point(std::array{x});
      }
      return {};
    }
    // "(1 2) (3 4)", "(1 2)(3 4)" and "((1) (2)) ((3) (4))": a point ends where the outermost bracket closes.
    int depth = 0;
    std::size_t at = 0;
    while (at < value.size()) {
      const char c = value[at];
      if (c == '(') {
        if (++depth > 2) return wrong("brackets nested more than twice in POINTS");
        ++at;
      } else if (c == ')') {
        if (--depth < 0) return wrong("a ')' without its '(' in POINTS");
        ++at;
        if (depth == 0) {
          if (point.empty()) return wrong("a point without coordinates in POINTS");
          builder_.point(point);  // a duplicate is ignored
          point.clear();
        }
      } else if (c == ' ') {
        ++at;
      } else {
        const std::size_t begin = at;
        while (at < value.size() && value[at] != ' ' && value[at] != '(' && value[at] != ')') ++at;
        if (depth == 0) return wrong("a number outside the brackets in POINTS");
        FATHOM_TRY(const double x, parse(value.substr(begin, at - begin)));
        point.push_back(x);
      }
    }
    if (depth != 0) return wrong("a '(' without its ')' in POINTS");
    return {};
  }

  Result<void> data(std::string_view value) {
    FATHOM_CHECK(need_parameters());
    const std::size_t count = builder_.point_count();
    if (next_point_ >= count) {
      return wrong(fmt::format("Too many DATA lines ({}) for the number of POINTS ({})", next_point_ + 1, count))
          .hint(count == 0 ? "POINTS must come before DATA"
                           : "one DATA line per point; METRIC or REGION starts again at the first point");
    }
    values_.clear();
    while (!value.empty()) {
      const auto end = value.find(' ');
      const std::string_view token = value.substr(0, end);
      value = end == std::string_view::npos ? std::string_view{} : value.substr(end + 1);
      if (token.empty()) continue;
      FATHOM_TRY(const double x, parse(token));
      values_.push_back(x);
    }
    if (values_.empty()) return wrong("DATA without values").hint("write 'nan' for a value that is not known");
    const auto point = static_cast<std::uint32_t>(next_point_++);
    if (!has_metric_) {
      metric_ = builder_.metric("");
      has_metric_ = true;
    }
    // Data before any REGION belong to no listed call path: validation says so.
    if (has_callpath_) builder_.add(callpath_, metric_, point, values_);
    return builder_.ok() ? Result<void>() : Result<void>(Error(builder_.status().error()).where(lines_.place()));
  }

  LineCursor lines_;
  ExperimentBuilder builder_;
  std::string buffer_;
  std::vector<double> values_;
  std::uint32_t metric_ = 0;
  std::uint32_t callpath_ = 0;
  bool has_metric_ = false;
  bool has_callpath_ = false;
  std::size_t next_point_ = 0;
};

}  // namespace

Result<ExperimentPtr> read_text(const Blob& blob, const Work& work) {
  auto result = Reader(blob, work).read();
  if (!result) return std::move(result).error().where(Place::in(blob.name()));
  return result;
}

Match recognise_text(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (!head.empty()) {
    const auto end = head.find_first_of("\r\n");
    const std::string_view line = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view{} : head.substr(end + 1);
    const std::string_view content = strip(line);
    if (content.empty() || line.front() == '#') continue;
    for (const std::string_view field : {"PARAMETER", "POINTS", "METRIC", "REGION", "DATA"}) {
      const std::string_view word = content.substr(0, field.size());
      const bool ends = content.size() <= field.size() || is_blank(content[field.size()]);
      if (word == field && ends) return {Confidence::certain, fmt::format("its first field is {}", field)};
      if (equal_ignoring_case(word, field) && ends) {
        return {Confidence::maybe, fmt::format("its first field looks like {}", field)};
      }
    }
    return {};
  }
  return {};
}

}  // namespace fathom::extrap
