#include "profile/expression/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <string>

namespace fathom::expression {

namespace {

// Steps of one search, KiB of memory for it, nesting of parentheses, bytes of a pattern.
constexpr std::uint32_t kMatchLimit = 100'000;
constexpr std::uint32_t kHeapLimit = 16 * 1024;
constexpr std::uint32_t kNestLimit = 200;
constexpr std::size_t kMaxLength = 10'000;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>>;

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Pattern {
  Code code;
  MatchContext limits;
};

Result<PatternPtr> make_pattern(std::string_view text, std::size_t* fault) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  auto pattern = std::make_shared<Pattern>();
  pattern->limits.reset(pcre2_match_context_create(nullptr));
  if (!context || !pattern->limits) return Error("no memory for a regular expression");
  pcre2_set_parens_nest_limit(context.get(), kNestLimit);
  pcre2_set_max_pattern_length(context.get(), kMaxLength);
  pcre2_set_match_limit(pattern->limits.get(), kMatchLimit);
  pcre2_set_heap_limit(pattern->limits.get(), kHeapLimit);
  // ECMAScript: $ is the very end, [] is empty, a group that took no part matches nothing, \u and \x as there.
  constexpr std::uint32_t kOptions = PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                                     PCRE2_ALT_BSUX | PCRE2_NEVER_BACKSLASH_C;
  int problem = 0;
  std::size_t at = 0;
  pattern->code.reset(pcre2_compile(units(text), text.size(), kOptions, &problem, &at, context.get()));
  if (!pattern->code) {
    if (fault != nullptr) *fault = at;
    return Error("regular expression: " + message(problem));
  }
  return PatternPtr(std::move(pattern));
}

Result<bool> search(const Pattern& pattern, std::string_view text) {
  const MatchData data(pcre2_match_data_create(1, nullptr));
  if (!data) return Error("no memory for a regular expression");
  const int found = pcre2_match(pattern.code.get(), units(text), text.size(), 0, 0, data.get(), pattern.limits.get());
  if (found >= 0) return true;
  if (found == PCRE2_ERROR_NOMATCH) return false;
  return Error("regular expression: " + message(found));
}

}  // namespace fathom::expression
