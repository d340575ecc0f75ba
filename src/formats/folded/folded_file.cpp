#include "formats/folded/folded_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.hpp"
#include "io/line_cursor.hpp"
#include "profile/build/profile_builder.hpp"

namespace fathom::folded {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view without_blanks_at_end(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// "# interval: 100", as austin writes it, is about the run. A stack may begin with '#', too: one has a ';'.
bool is_about_run(std::string_view text) {
  if (!text.starts_with("# ") || text.find(';') != std::string_view::npos) return false;
  const std::size_t key_end = text.find_first_of(": ", 2);
  return key_end != std::string_view::npos && key_end > 2 && text[key_end] == ':';
}

// What flame graph tools mark frames with.
struct Annotation {
  std::string_view suffix;
  const char* paradigm;
};
constexpr Annotation kAnnotations[] = {{"_[k]", "kernel"}, {"_[i]", "inlined"}, {"_[j]", "jit"}, {"_[w]", "waker"}};

// How many bytes two texts have in common at their begin; stacks are long and differ late.
std::size_t shared_length(std::string_view a, std::string_view b) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + kWord <= most; at += kWord) {
    std::uint64_t one = 0, other = 0;
    std::memcpy(&one, a.data() + at, kWord);
    std::memcpy(&other, b.data() + at, kWord);
    if (one != other) break;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

class Reader {
 public:
  Reader(const Blob& blob, const Work& work, bool two, bool decimal)
      : blob_(blob), work_(work), two_(two), decimal_(decimal), builder_(work, blob.name()) {}

  // False: there are decimal counts, and it is to be read again with them.
  bool run() {
    const auto metric = [&](std::string_view name, std::string_view title) {
      Metric made;
      made.name = std::string(name);
      made.display_name = std::string(title);
      made.unit = "occ";
      made.type = {decimal_ ? ValueKind::f64 : ValueKind::i64, 0};
      return builder_.add_metric(std::move(made));
    };
    if (two_) before_ = metric("before", "Samples before");
    count_ = two_ ? metric("after", "Samples after") : metric("samples", "Samples");
    location_ = add_single_location(builder_.system);
    LineCursor lines(blob_);
    while (const auto line = lines.next()) {
      const std::string_view text = without_blanks_at_end(*line);
      if (text.empty() || take_about_run(text)) continue;
      const auto parsed = parse_line(text);
      if (!parsed) {
        if (refused_++ == 0) first_refused_ = lines.place();
        continue;
      }
      const bool two = two_ && !parsed->before.empty();
      // A number that is no count of its own belongs to the last frame.
      const std::string_view stack =
          two || parsed->before.empty()
              ? parsed->stack
              : std::string_view(
                    parsed->stack.data(),
                    static_cast<std::size_t>(parsed->before.data() - parsed->stack.data()) + parsed->before.size());
      const auto node = node_of(stack);
      if (!value(count_, node, parsed->count)) return false;
      if (two && !value(before_, node, parsed->before)) return false;
    }
    return true;
  }

  Result<ProfilePtr> finish() && {
    if (refused_ > 0) {
      FATHOM_CHECK(work_->diagnostics.add("folded.line", Severity::warning, first_refused_,
                                          "a line does not end in a count; left out", refused_));
    }
    return std::move(builder_).finish();
  }

 private:
  bool take_about_run(std::string_view text) {
    if (!is_about_run(text)) return false;
    const std::size_t colon = text.find(':');
    builder_.attributes.emplace_back(trim(text.substr(1, colon - 1)), trim(text.substr(colon + 1)));
    return true;
  }

  // Lines mostly come sorted: what a line shares with the one before it is not looked up again.
  ProfileBuilder::Node node_of(std::string_view stack) {
    const std::size_t same = shared_length(stack, last_);
    // Whole frames only: up to a ';' that both have, or their ends.
    while (!frames_.empty()) {
      const std::size_t end = frames_.back().end;
      const bool ends_here = end <= same && (end == stack.size() || stack[end] == ';');
      if (ends_here) break;
      frames_.pop_back();
    }
    std::size_t at = frames_.empty() ? 0 : frames_.back().end + 1;
    auto node = frames_.empty() ? ProfileBuilder::kRoot : frames_.back().node;
    while (at <= stack.size() && !(at == stack.size() && !frames_.empty())) {
      const std::size_t end = std::min(stack.find(';', at), stack.size());
      node = frame(node, stack.substr(at, end - at));
      frames_.push_back({end, node});
      at = end + 1;
    }
    last_ = stack;
    return node;
  }

  ProfileBuilder::Node frame(ProfileBuilder::Node parent, std::string_view name) {
    const RegionId region = builder_.region(name);
    const Annotation* found = nullptr;
    if (name.ends_with(']')) {
      for (const Annotation& one : kAnnotations) {
        if (name.ends_with(one.suffix)) found = &one;
      }
    }
    if (found == nullptr) return builder_.child(parent, region);
    builder_[region].paradigm = found->paradigm;
    const bool inlined = found->suffix == "_[i]" && parent != ProfileBuilder::kRoot;
    return builder_.child(parent, region, inlined ? Edge::inlined_call : Edge::call);
  }

  bool value(MetricId metric, ProfileBuilder::Node node, std::string_view text) {
    if (decimal_) {
      builder_.add(location_, metric, node, parse_double(text).value_or(0));
      return true;
    }
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{} || end != text.data() + text.size()) return false;
    builder_.add(location_, metric, node, number);
    return true;
  }

  struct Open {
    std::size_t end = 0;  // in the line
    ProfileBuilder::Node node = 0;
  };

  Blob blob_;
  Work work_;
  bool two_;
  bool decimal_;
  ProfileBuilder builder_;
  MetricId before_, count_;
  LocationId location_;
  std::string_view last_;
  std::vector<Open> frames_;
  std::uint64_t refused_ = 0;
  Place first_refused_;
};

// Every line that has a count has two: the output of difffolded.
bool has_two_counts(const Blob& blob) {
  LineCursor lines(blob);
  bool any = false;
  while (const auto line = lines.next()) {
    const std::string_view text = without_blanks_at_end(*line);
    const auto parsed = is_about_run(text) ? std::nullopt : parse_line(text);
    if (!parsed) continue;
    if (parsed->before.empty()) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::string_view number_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && !is_blank(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin);
  std::size_t digits = 0;
  std::size_t at = word.starts_with('-') ? 1 : 0;
  for (; at < word.size() && word[at] >= '0' && word[at] <= '9'; ++at) ++digits;
  if (digits == 0) return {};
  if (at < word.size() && word[at] == '.') {
    for (++at; at < word.size() && word[at] >= '0' && word[at] <= '9';) ++at;
  }
  if (at + 1 < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    at += word[at + 1] == '-' || word[at + 1] == '+' ? 2 : 1;
    const std::size_t exponent = at;
    while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
    if (at == exponent) return {};
  }
  return at == word.size() ? word : std::string_view();
}

std::optional<FoldedLine> parse_line(std::string_view line) {
  const std::string_view count = number_at_end(line);
  if (count.empty() || count.size() == line.size()) return std::nullopt;
  FoldedLine out;
  out.count = count;
  out.stack = without_blanks_at_end(line.substr(0, line.size() - count.size()));
  if (out.stack.empty()) return std::nullopt;
  const std::string_view before = number_at_end(out.stack);
  if (!before.empty() && before.size() < out.stack.size()) {
    const std::string_view rest = without_blanks_at_end(out.stack.substr(0, out.stack.size() - before.size()));
    if (!rest.empty()) {
      out.before = before;
      out.stack = rest;
    }
  }
  return out;
}

Result<ProfilePtr> read(const Blob& blob, const Work& work) {
  const bool two = has_two_counts(blob);
  for (const bool decimal : {false, true}) {
    Reader reader(blob, work, two, decimal);
    if (reader.run()) return std::move(reader).finish();
  }
  return Error("has counts that are no numbers", blob.place());
}

}  // namespace fathom::folded
