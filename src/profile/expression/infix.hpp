// Infix expressions: what the languages of --derive and of HPCToolkit formulas have in common. A language says what its
// operands and functions are.
//
//   comparisons and 'and', 'or', 'xor', 'not' over + - * / ^, unary signs, (...), numbers, operands, name(...)
//
// a^b^c is a^(b^c), -a^b is -(a^b).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/expression/program.hpp"

namespace fathom::expression {

struct NamedFunction {
  std::string_view name;
  Function function;
  std::size_t least, most;  // operands
};
inline constexpr std::size_t kAnyNumber = 64;

class InfixParser {
 public:
  virtual ~InfixParser() = default;
  // Errors point at the character.
  Result<Tree> parse();

 protected:
  explicit InfixParser(std::string_view text) : text_(text) {}
  // What starts neither a number nor a parenthesis: a name, a variable. Fails when it is nothing of the language.
  virtual NodeIndex operand() = 0;
  // x/0 is what the language says: a node of Op::divide.
  virtual NodeIndex divide(NodeIndex a, NodeIndex b) { return tree_.add(Op::divide, {a, b}); }

  static bool word_start(char c);
  static bool word_char(char c);
  void skip_blanks();
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  // Takes letters, digits and what else names may hold.
  std::string_view take_word();
  // Takes 'name' or "name" with its quotes; empty after an error.
  std::string_view take_quoted();
  void fail(const std::string& expected);
  void fail_with(const std::string& what, std::size_t at);
  bool accept(std::string_view symbol);
  bool accept_word(std::string_view word);
  void expect(std::string_view symbol);
  NodeIndex expression();
  NodeIndex primary();
  // Operands up to the closing parenthesis.
  std::vector<NodeIndex> arguments();
  // A function of the table, or an error at `begin`.
  NodeIndex call(std::span<const NamedFunction> table, std::string_view name, std::vector<NodeIndex> operands,
                 std::size_t begin);

  std::string_view text_;
  Tree tree_;
  std::size_t at_ = 0;
  bool failed_ = false;

 private:
  NodeIndex negation();
  NodeIndex comparison();
  NodeIndex sum();
  NodeIndex product();
  NodeIndex signed_factor();
  NodeIndex power();
  NodeIndex number();

  // A chain of sums makes a tree as deep as it is long.
  static constexpr std::size_t kMaxChainLength = 400;

  std::size_t depth_ = 0;
  std::size_t chain_ = 0;
  Error error_;
};

}  // namespace fathom::expression
