#include "profile/expression/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "profile/expression/program.hpp"

namespace fathom {

namespace expression {

namespace {

struct NamedFunction {
  std::string_view name;
  Function function;
  std::size_t least, most;  // operands
};

constexpr std::size_t kAny = 64;
constexpr NamedFunction kFunctions[] = {
    {"abs", Function::abs, 1, 1},        {"sqrt", Function::sqrt, 1, 1},
    {"sin", Function::sin, 1, 1},        {"cos", Function::cos, 1, 1},
    {"tan", Function::tan, 1, 1},        {"cot", Function::cot, 1, 1},
    {"asin", Function::asin, 1, 1},      {"acos", Function::acos, 1, 1},
    {"atan", Function::atan, 1, 1},      {"exp", Function::exp, 1, 1},
    {"log", Function::log, 1, 1},        {"ln", Function::log, 1, 1},
    {"log2", Function::log2, 1, 1},      {"log10", Function::log10, 1, 1},
    {"floor", Function::floor, 1, 1},    {"ceil", Function::ceil, 1, 1},
    {"round", Function::round, 1, 1},    {"sgn", Function::sign, 1, 1},
    {"pos", Function::positive, 1, 1},   {"neg", Function::negative, 1, 1},
    {"random", Function::random, 1, 1},  {"min", Function::minimum, 1, kAny},
    {"max", Function::maximum, 1, kAny}, {"sum", Function::sum, 1, kAny},
    {"mean", Function::mean, 1, kAny},   {"stddev", Function::deviation, 1, kAny},
    {"pow", Function::product, 2, 2},  // compiled to Op::power
};

class Parser {
 public:
  Parser(std::string_view text, const Definitions& defs) : text_(text), defs_(defs) {}

  Result<Tree> parse() {
    tree_.root = disjunction();
    if (!failed_) {
      skip_blanks();
      if (at_ < text_.size()) fail("an operator or the end of the expression");
    }
    if (failed_) return error_;
    return std::move(tree_);
  }

 private:
  static bool word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '.';
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  void fail(const std::string& expected) {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
    fail_with(fmt::format("expected {}, found {}", expected, found), at_);
  }
  void fail_with(const std::string& what, std::size_t at) {
    if (failed_) return;
    failed_ = true;
    error_ = Error::usage(fmt::format("expression, character {}: {}", at + 1, what));
  }

  bool accept(std::string_view symbol) {
    skip_blanks();
    if (failed_ || !text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (failed_ || !rest.starts_with(word) || (rest.size() > word.size() && word_char(rest[word.size()]))) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!failed_ && !accept(symbol)) fail(fmt::format("'{}'", symbol));
  }

  NodeIndex disjunction() {
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

  NodeIndex negation() {
    std::size_t count = 0;
    while (accept_word("not")) ++count;
    NodeIndex value = comparison();
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 2 - count % 2); ++i) {
      value = tree_.add(Op::logical_not, {value});
    }
    return value;
  }

  NodeIndex comparison() {
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

  NodeIndex sum() {
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

  NodeIndex product() {
    NodeIndex left = signed_factor();
    while (!failed_) {
      if (accept("*")) {
        left = tree_.add(Op::multiply, {left, signed_factor()});
      } else if (accept("/")) {
        left = tree_.add(Op::divide, {left, signed_factor()});
      } else {
        break;
      }
      if (++chain_ > kMaxChainLength) fail_with("too long", at_);
    }
    return left;
  }

  NodeIndex signed_factor() {
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

  NodeIndex power() {
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

  NodeIndex primary() {
    skip_blanks();
    if (failed_) return 0;
    if (at_ >= text_.size()) {
      fail("a number, a metric or '('");
      return 0;
    }
    const char c = text_[at_];
    if (accept("(")) {
      const NodeIndex inner = disjunction();
      expect(")");
      return inner;
    }
    if (c == '|' && accept("|")) {
      const NodeIndex inner = disjunction();
      expect("|");
      return tree_.add_function(Function::abs, {inner});
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (c == '\'' || c == '"') return quoted();
    if (word_start(c)) return word();
    fail("a number, a metric or '('");
    return 0;
  }

  NodeIndex number() {
    double value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc{}) {
      fail("a number");
      return 0;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return tree_.add_number(value);
  }

  NodeIndex quoted() {
    const std::size_t begin = at_;
    const char quote = text_[at_];
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      fail_with(fmt::format("the name has no closing {}", quote), begin);
      return 0;
    }
    at_ = end + 1;
    return metric(text_.substr(begin + 1, end - begin - 1), begin);
  }

  NodeIndex word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && word_char(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '(') return metric(name, begin);
    ++at_;
    if (name == "inclusive" || name == "exclusive" || name == "total") return flavoured(name);
    std::vector<NodeIndex> operands{disjunction()};
    while (accept(",") && operands.size() <= kAny) operands.push_back(disjunction());
    expect(")");
    if (failed_) return 0;
    if (name == "choose" && operands.size() == 3) return tree_.add(Op::choose, std::move(operands));
    for (const NamedFunction& known : kFunctions) {
      if (known.name != name) continue;
      if (operands.size() < known.least || operands.size() > known.most) break;
      if (name == "pow") return tree_.add(Op::power, std::move(operands));
      return tree_.add_function(known.function, std::move(operands));
    }
    fail_with(fmt::format("there is no function '{}' of {} operands", name, operands.size()), begin);
    return 0;
  }

  NodeIndex flavoured(std::string_view how) {
    skip_blanks();
    const std::size_t begin = at_;
    const std::size_t known = tree_.nodes.size();
    const NodeIndex inner = primary();
    expect(")");
    if (failed_) return 0;
    if (tree_.nodes.size() != known + 1 || tree_.nodes[inner].op != Op::metric) {
      fail_with(fmt::format("{}() takes a metric's name", how), begin);
      return 0;
    }
    MetricReference reference = tree_.metrics[tree_.nodes[inner].index];
    if (how == "inclusive") reference.flavour = Wanted::inclusive;
    if (how == "exclusive") reference.flavour = Wanted::exclusive;
    if (how == "total") reference.reach = Reach::system;
    tree_.nodes[inner].index = tree_.reference(reference);
    return inner;
  }

  NodeIndex metric(std::string_view name, std::size_t begin) {
    if (!defs_.find_metric(name).valid()) {
      fail_with(fmt::format("there is no metric '{}'{}", name, did_you_mean(name, defs_.metric_names())), begin);
      return 0;
    }
    return tree_.add_metric({std::string(name), Reach::here, Wanted::running, Wanted::running});
  }

  // A chain of sums makes a tree as deep as it is long.
  static constexpr std::size_t kMaxChainLength = 400;

  std::string_view text_;
  const Definitions& defs_;
  Tree tree_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t chain_ = 0;
  bool failed_ = false;
  Error error_;
};

}  // namespace

Result<std::shared_ptr<const Program>> compile(std::string_view text, const Definitions& defs) {
  auto program = std::make_shared<Program>();
  FATHOM_TRY(program->value, Parser(text, defs).parse());
  program->language = "derive";
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace expression

Result<DerivedMetric> parse_definition(std::string_view text) {
  DerivedMetric out;
  std::string_view rest = trim(text);
  // A quoted name may hold '='; elsewhere the first one that is no comparison ends the name.
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    const std::size_t end = rest.find(rest[0], 1);
    if (end != std::string_view::npos) {
      out.name = rest.substr(1, end - 1);
      rest = trim(rest.substr(end + 1));
    }
  }
  const std::size_t equals = rest.find('=');
  const bool comparison = equals != std::string_view::npos && equals + 1 < rest.size() && rest[equals + 1] == '=';
  if (equals == std::string_view::npos || comparison || (!out.name.empty() && equals != 0)) {
    return Error::usage(fmt::format("a derived metric is written 'name = expression', found '{}'", text));
  }
  if (out.name.empty()) out.name = trim(rest.substr(0, equals));
  out.expression = trim(rest.substr(equals + 1));
  if (out.name.empty() || out.expression.empty()) {
    return Error::usage(fmt::format("a derived metric is written 'name = expression', found '{}'", text));
  }
  return out;
}

Result<ProfilePtr> with_program(const ProfilePtr& profile, const DerivedMetric& wanted,
                                std::shared_ptr<const expression::Program> program) {
  const Definitions& defs = profile->defs();
  if (defs.find_metric(wanted.name).valid()) {
    return Error::usage(fmt::format("there is a metric '{}' already", wanted.name));
  }
  Metric metric;
  metric.name = wanted.name;
  metric.display_name = wanted.name;
  metric.unit = wanted.unit;
  metric.type = {ValueKind::f64, 0};
  metric.derivation = wanted.derivation;
  metric.expression = wanted.expression;
  if (!wanted.parent.empty()) {
    metric.parent = defs.find_metric(wanted.parent);
    if (!metric.parent.valid()) {
      return Error::usage(
          fmt::format("there is no metric '{}'{}", wanted.parent, did_you_mean(wanted.parent, defs.metric_names())));
    }
  }
  for (const Metric& other : defs.metrics) metric.file_id = std::max(metric.file_id, other.file_id + 1);
  auto extended = std::make_shared<Definitions>(defs);
  extended->metrics.push_back(std::move(metric));
  auto out = std::make_shared<Profile>(*profile);
  out->programs[MetricId(extended->metrics.size() - 1)] = std::move(program);
  out->definitions = std::move(extended);
  return ProfilePtr(std::move(out));
}

Result<ProfilePtr> with_derived(const ProfilePtr& profile, const DerivedMetric& wanted) {
  FATHOM_TRY(auto program, expression::compile(wanted.expression, profile->defs()));
  return with_program(profile, wanted, std::move(program));
}

Result<ProfilePtr> with_derived(const ProfilePtr& profile, std::string_view definition) {
  FATHOM_TRY(const DerivedMetric wanted, parse_definition(definition));
  return with_derived(profile, wanted);
}

}  // namespace fathom
