#include "profile/cubepl/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace fathom::cubepl {

namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Scanner::skip() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

bool Scanner::peek(std::string_view symbol) {
  skip();
  return !failed_ && text_.substr(at_).starts_with(symbol);
}

bool Scanner::accept(std::string_view symbol) {
  if (!peek(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool Scanner::peek_word(std::string_view word) {
  if (!peek(word)) return false;
  const std::size_t end = at_ + word.size();
  return end >= text_.size() || !(is_alnum(text_[end]) || text_[end] == '_');
}

bool Scanner::accept_word(std::string_view word) {
  if (!peek_word(word)) return false;
  at_ += word.size();
  return true;
}

void Scanner::expect(std::string_view symbol) {
  if (!failed_ && !accept(symbol)) fail(fmt::format("'{}'", symbol));
}

void Scanner::fail(const std::string& expected) {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
  fail_with(fmt::format("expected {}, found {}", expected, found), at_);
}

void Scanner::fail_with(std::string what, std::size_t at) {
  if (!failed_ && (error_.empty() || at >= error_at_)) {
    error_ = std::move(what);
    error_at_ = at;
  }
  failed_ = true;
}

template <class Allowed>
std::string_view Scanner::name(Allowed&& allowed, std::string_view what) {
  skip();
  const std::size_t begin = at_;
  while (at_ < text_.size() && allowed(text_[at_])) ++at_;
  if (at_ == begin) fail(std::string(what));
  return text_.substr(begin, at_ - begin);
}

std::string_view Scanner::variable_name() {
  return name([](char c) { return is_alnum(c) || c == '_' || c == ':' || c == '-' || c == '#'; }, "a variable's name");
}

std::string_view Scanner::metric_name() {
  return name([](char c) { return is_alnum(c) || c == '_' || c == ':' || c == '='; }, "a metric's name");
}

std::string_view Scanner::word() {
  return name([](char c) { return is_alnum(c) || c == '_'; }, "a word");
}

double Scanner::number() {
  const std::size_t begin = at_;
  std::size_t dots = 0;
  while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) dots += text_[at_++] == '.' ? 1 : 0;
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    std::size_t end = at_ + 1;
    if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
    const std::size_t digits = end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end > digits) at_ = end;
  }
  const std::string digits(text_.substr(begin, at_ - begin));
  if (dots > 1 || digits == ".") fail_with(fmt::format("'{}' is no number", digits), begin);
  return std::strtod(digits.c_str(), nullptr);
}

std::string Scanner::quoted() {
  if (!accept("\"")) {
    fail("a text in quotes");
    return {};
  }
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      out += text_[at_] == 't' ? '\t' : text_[at_] == 'n' ? '\n' : text_[at_];
    } else {
      out += text_[at_];
    }
    ++at_;
  }
  if (at_ >= text_.size()) {
    fail("a closing '\"'");
  } else {
    ++at_;
  }
  return out;
}

std::string_view Scanner::pattern() {
  expect("/");
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '/') at_ += text_[at_] == '\\' ? 2 : 1;
  at_ = std::min(at_, text_.size());
  const std::string_view out = text_.substr(begin, at_ - begin);
  if (!failed_ && at_ == text_.size()) fail("a closing '/'");
  if (!failed_) ++at_;
  return out;
}

std::string_view Scanner::definition() {
  expect("<<");
  const std::size_t begin = at_;
  std::size_t open = 1;
  while (!failed_ && open > 0) {
    const std::string_view rest = text_.substr(at_);
    if (rest.empty()) {
      fail("'>>'");
    } else if (rest.starts_with("<<")) {
      ++open;
      at_ += 2;
    } else if (rest.starts_with(">>")) {
      --open;
      at_ += 2;
    } else {
      ++at_;
    }
  }
  return failed_ ? std::string_view() : text_.substr(begin, at_ - begin - 2);
}

}  // namespace fathom::cubepl
