// CubePL text, character by character: blanks and comments, symbols, words, numbers, texts. The first thing that is not
// as expected stops everything that follows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom::cubepl {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Past blanks and comments.
  void skip();
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char next() const { return text_[at_]; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void go_back(std::size_t at) { at_ = at; }

  bool peek(std::string_view symbol);
  bool accept(std::string_view symbol);
  // The same for words: no letter, digit or '_' may follow.
  bool peek_word(std::string_view word);
  bool accept_word(std::string_view word);
  void expect(std::string_view symbol);

  std::string_view variable_name();  // letters, digits, _ : - #
  std::string_view metric_name();    // letters, digits, _ : =
  std::string_view word();           // letters, digits, _
  double number();                   // 1.5e3 is an extension
  std::string quoted();
  // What stands between '/' and '/', with "\\/" for a slash.
  std::string_view pattern();
  // What stands between "<<" and the ">>" that belongs to it.
  std::string_view definition();

  // "expected ..., found ..." here.
  void fail(const std::string& expected);
  // Of several ways to read a text, the one that got furthest says what is wrong.
  void fail_with(std::string what, std::size_t at);
  [[nodiscard]] bool failed() const { return failed_; }
  void forget_failure() { failed_ = false; }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::size_t error_at() const { return error_at_; }

 private:
  template <class Allowed>
  std::string_view name(Allowed&& allowed, std::string_view what);

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::string error_;
  std::size_t error_at_ = 0;
};

}  // namespace fathom::cubepl
