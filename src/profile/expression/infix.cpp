#include "profile/expression/infix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace fathom::expression {

bool InfixParser::word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool InfixParser::word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '.';
}

Result<Tree> InfixParser::parse() {
  tree_.root = expression();
  if (!failed_) {
    skip_blanks();
    if (!at_end()) fail("an operator or the end of the expression");
  }
  if (failed_) return error_;
  return std::move(tree_);
}

std::string_view InfixParser::take_word() {
  const std::size_t begin = at_;
  while (!at_end() && word_char(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view InfixParser::take_quoted() {
  const std::size_t begin = at_;
  const char quote = text_[at_];
  const std::size_t end = text_.find(quote, at_ + 1);
  if (end == std::string_view::npos) {
    fail_with(fmt::format("the name has no closing {}", quote), begin);
    return {};
  }
  at_ = end + 1;
  return text_.substr(begin + 1, end - begin - 1);
}

std::vector<NodeIndex> InfixParser::arguments() {
  std::vector<NodeIndex> operands;
  if (accept(")")) return operands;
  operands.push_back(expression());
  while (accept(",") && operands.size() <= kAnyNumber) operands.push_back(expression());
  expect(")");
  return operands;
}

NodeIndex InfixParser::call(std::span<const NamedFunction> table, std::string_view name,
                            std::vector<NodeIndex> operands, std::size_t begin) {
  if (failed_) return 0;
  for (const NamedFunction& known : table) {
    if (known.name != name || operands.size() < known.least || operands.size() > known.most) continue;
    return tree_.add_function(known.function, std::move(operands));
  }
  fail_with(fmt::format("there is no function '{}' of {} operands", name, operands.size()), begin);
  return 0;
}

void InfixParser::skip_blanks() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
}

void InfixParser::fail(const std::string& expected) {
  const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
  fail_with(fmt::format("expected {}, found {}", expected, found), at_);
}
void InfixParser::fail_with(const std::string& what, std::size_t at) {
  if (failed_) return;
  failed_ = true;
  error_ = Error::usage(fmt::format("expression, character {}: {}", at + 1, what));
}

bool InfixParser::accept(std::string_view symbol) {
  skip_blanks();
  if (failed_ || !text_.substr(at_).starts_with(symbol)) return false;
  at_ += symbol.size();
  return true;
}
bool InfixParser::accept_word(std::string_view word) {
  skip_blanks();
  const std::string_view rest = text_.substr(at_);
  if (failed_ || !rest.starts_with(word) || (rest.size() > word.size() && word_char(rest[word.size()]))) return false;
  at_ += word.size();
  return true;
}
void InfixParser::expect(std::string_view symbol) {
  if (!failed_ && !accept(symbol)) fail(fmt::format("'{}'", symbol));
}

NodeIndex InfixParser::expression() {
  if (++depth_ > kMaxNesting) fail_with("nested too deeply", at_);
  NodeIndex left = failed_ ? 0 : negation();
  while (!failed_) {
    const Op op = accept_word("and") || accept("&&")  ? Op::logical_and
                  : accept_word("or") || accept("||") ? Op::logical_or
                  : accept_word("xor")                ? Op::logical_xor
                                                      : Op::number;
    if (op == Op::number) break;
    left = tree_.add(op, {left, negation()});
  }
  --depth_;
  return left;
}

NodeIndex InfixParser::negation() {
  std::size_t count = 0;
  while (accept_word("not")) ++count;
  NodeIndex value = comparison();
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 2 - count % 2); ++i) {
    value = tree_.add(Op::logical_not, {value});
  }
  return value;
}

NodeIndex InfixParser::comparison() {
  const NodeIndex left = sum();
  struct Symbol {
    std::string_view text;
    Op op;
  };
  constexpr Symbol kSymbols[] = {{"<=", Op::less_equal}, {">=", Op::greater_equal}, {"==", Op::equal},
                                 {"!=", Op::not_equal},  {"<", Op::less},           {">", Op::greater}};
  for (const Symbol& symbol : kSymbols) {
    if (accept(symbol.text)) return tree_.add(symbol.op, {left, sum()});
  }
  return left;
}

NodeIndex InfixParser::sum() {
  NodeIndex left = product();
  while (!failed_) {
    if (accept("+")) {
      left = tree_.add(Op::add, {left, product()});
    } else if (accept("-")) {
      left = tree_.add(Op::subtract, {left, product()});
    } else {
      break;
    }
    if (++chain_ > kMaxChainLength) fail_with("too long", at_);
  }
  return left;
}

NodeIndex InfixParser::product() {
  NodeIndex left = signed_factor();
  while (!failed_) {
    if (accept("*")) {
      left = tree_.add(Op::multiply, {left, signed_factor()});
    } else if (accept("/")) {
      left = divide(left, signed_factor());
    } else {
      break;
    }
    if (++chain_ > kMaxChainLength) fail_with("too long", at_);
  }
  return left;
}

NodeIndex InfixParser::signed_factor() {
  bool minus = false;
  for (;;) {
    if (accept("-")) {
      minus = !minus;
    } else if (!accept("+")) {
      break;
    }
  }
  const NodeIndex value = power();
  return minus ? tree_.add(Op::negate, {value}) : value;
}

NodeIndex InfixParser::power() {
  std::vector<NodeIndex> operands{primary()};
  std::vector<bool> minus{false};
  while (accept("^")) {
    minus.push_back(accept("-"));
    operands.push_back(primary());
    if (operands.size() > kMaxNesting) fail_with("too long", at_);
    if (failed_) return 0;
  }
  // 2^3^2 is 2^(3^2).
  NodeIndex right = operands.back();
  for (std::size_t i = operands.size(); i-- > 1;) {
    if (minus[i]) right = tree_.add(Op::negate, {right});
    right = tree_.add(Op::power, {operands[i - 1], right});
  }
  return right;
}

NodeIndex InfixParser::primary() {
  skip_blanks();
  if (failed_) return 0;
  if (at_ >= text_.size()) {
    fail("a number, a metric or '('");
    return 0;
  }
  const char c = text_[at_];
  if (accept("(")) {
    const NodeIndex inner = expression();
    expect(")");
    return inner;
  }
  if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
  return operand();
}

NodeIndex InfixParser::number() {
  double value = 0;
  const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (status != std::errc{}) {
    fail("a number");
    return 0;
  }
  at_ = static_cast<std::size_t>(end - text_.data());
  return tree_.add_number(value);
}

}  // namespace fathom::expression
