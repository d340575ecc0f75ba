#include "profile/expression/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>

#include "base/cancel.hpp"
#include "base/text.hpp"

namespace fathom::expression {

namespace {

constexpr std::uint64_t kMaxStored = std::uint64_t{64} << 20;  // bytes that variables of one run may hold

double divide(double a, double b) {
  if (a == 0) return 0;
  return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / b;
}

double divide_or_zero(double a, double b) { return b == 0 ? 0 : a / b; }

double combinations(double n, double k) {
  constexpr double kMost = 1e6;
  double out = 1;
  for (double i = 1; i <= std::min({k, n - k, kMost}); ++i) out *= (n - i + 1) / i;
  return k < 0 || k > n ? 0 : std::round(out);
}

double random_up_to(double bound) {
  // Seeded the same each time: results can be repeated.
  thread_local std::mt19937_64 generator(20240229);
  return std::uniform_real_distribution<double>(0, 1)(generator) * bound;
}

double apply(Function function, double x) {
  switch (function) {
    case Function::abs:
      return std::abs(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
    case Function::tan:
      return std::tan(x);
    case Function::cot:
      return 1 / std::tan(x);
    case Function::asin:
      return std::asin(x);
    case Function::acos:
      return std::acos(x);
    case Function::atan:
      return std::atan(x);
    case Function::acot:
      return std::atan2(1, x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::log2:
      return std::log2(x);
    case Function::log10:
      return std::log10(x);
    case Function::floor:
      return std::floor(x);
    case Function::ceil:
      return std::ceil(x);
    case Function::round:
      return std::round(x);
    case Function::sign:
      return x > 0 ? 1 : (x < 0 ? -1 : 0);
    case Function::positive:
      return x > 0 ? x : 0;
    case Function::negative:
      return x < 0 ? x : 0;
    case Function::random:
      return random_up_to(x);
    case Function::sinh:
      return std::sinh(x);
    case Function::cosh:
      return std::cosh(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::asinh:
      return std::asinh(x);
    case Function::acosh:
      return std::acosh(x);
    case Function::atanh:
      return std::atanh(x);
    case Function::factorial:
      return std::tgamma(std::floor(x) + 1);
    default:
      return x;
  }
}

}  // namespace

Interpreter::Interpreter(const Tree& tree, const Program& program, Surroundings& surroundings, std::size_t cells)
    : tree_(tree), program_(program), surroundings_(surroundings), cells_(cells), locals_(tree.variables.size()) {
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    Array* at = &locals_[i];
    if (program.globals) {
      const std::lock_guard lock(program.globals->mutex);
      const auto found = program.globals->variables.find(tree.variables[i]);
      if (found != program.globals->variables.end()) at = &found->second;
    }
    bound_.push_back(at);
  }
}

void Interpreter::set_arguments(Datum first, Datum second) {
  arguments_[0] = std::move(first);
  arguments_[1] = std::move(second);
}

Outcome Interpreter::run() {
  outcome_ = Outcome::done;
  if (!tree_.nodes.empty()) result_ = eval(tree_.root);
  return outcome_;
}

std::vector<double> Interpreter::numbers() const {
  if (result_.kind == Datum::Kind::row) return result_.row;
  return std::vector<double>(cells_, result_.as_number());
}

void Interpreter::fail(std::string what) {
  if (outcome_ == Outcome::failed) return;
  outcome_ = Outcome::failed;
  error_ = Error(std::move(what));
}

template <class F>
Datum Interpreter::zip(const Datum& a, const Datum& b, F&& f) {
  const bool rows = a.kind == Datum::Kind::row || b.kind == Datum::Kind::row;
  if (!rows) return Datum(static_cast<double>(f(a.as_number(), b.as_number())));
  std::vector<double> out(cells_);
  if (a.kind == Datum::Kind::row && b.kind == Datum::Kind::row) {
    for (std::size_t i = 0; i < cells_; ++i) out[i] = static_cast<double>(f(a.row[i], b.row[i]));
  } else if (a.kind == Datum::Kind::row) {
    const double y = b.as_number();
    for (std::size_t i = 0; i < cells_; ++i) out[i] = static_cast<double>(f(a.row[i], y));
  } else {
    const double x = a.as_number();
    for (std::size_t i = 0; i < cells_; ++i) out[i] = static_cast<double>(f(x, b.row[i]));
  }
  return out;
}

template <class F>
Datum Interpreter::map(const Datum& a, F&& f) {
  if (a.kind != Datum::Kind::row) return Datum(static_cast<double>(f(a.as_number())));
  std::vector<double> out(cells_);
  for (std::size_t i = 0; i < cells_; ++i) out[i] = static_cast<double>(f(a.row[i]));
  return out;
}

double Interpreter::uniform_number(const Datum& datum) {
  if (datum.kind == Datum::Kind::row) {
    const double first = datum.row.empty() ? 0 : datum.row[0];
    for (const double x : datum.row) {
      if (x != first && !(std::isnan(x) && std::isnan(first))) diverge();
    }
  }
  return datum.as_number();
}

std::string Interpreter::uniform_text(const Datum& datum) {
  if (datum.kind == Datum::Kind::text) return datum.text;
  return fmt::format("{:g}", uniform_number(datum));
}

std::int64_t Interpreter::position(const Node& node, std::size_t child) {
  if (node.children.size() <= child) return 0;
  const double at = uniform_number(eval(node.children[child]));
  if (!going()) return 0;
  if (!(at > -1) || !(at <= static_cast<double>(kMaxPosition))) {
    fail(fmt::format("position {:g} in an array is not between 0 and {}", at, kMaxPosition));
    return 0;
  }
  return static_cast<std::int64_t>(at);
}

Array& Interpreter::array(std::uint32_t variable) { return *bound_[variable]; }

Datum Interpreter::eval(NodeIndex at) {
  if (!going()) return {};
  steps_ += 1 + cells_ / 64;
  if (steps_ > kMaxSteps) {
    fail("the expression does not come to an end");
    return {};
  }
  if ((steps_ & 0xFFFF) == 0 && cancelled()) {
    outcome_ = Outcome::failed;
    error_ = cancelled_error();
    return {};
  }
  const Node& node = tree_.nodes[at];
  const auto binary = [&](auto&& f) {
    const Datum a = eval(node.children[0]);
    const Datum b = eval(node.children[1]);
    return going() ? zip(a, b, f) : Datum();
  };
  switch (node.op) {
    case Op::number:
      return node.number;
    case Op::text:
      return tree_.texts[node.index];
    case Op::metric:
      return eval_metric(node);
    case Op::variable:
      return eval_variable(node);
    case Op::external:
      return eval_external(node);
    case Op::argument:
      return arguments_[node.index & 1];
    case Op::add:
      return binary([](double a, double b) { return a + b; });
    case Op::subtract:
      return binary([](double a, double b) { return a - b; });
    case Op::multiply:
      return binary([](double a, double b) { return a * b; });
    case Op::divide:
      return node.detail == 1 ? binary(divide_or_zero) : binary(divide);
    case Op::power:
      return binary([](double a, double b) { return std::pow(a, b); });
    case Op::negate:
      return map(eval(node.children[0]), [](double a) { return -a; });
    case Op::less:
      return binary([](double a, double b) { return a < b; });
    case Op::less_equal:
      return binary([](double a, double b) { return a <= b; });
    case Op::greater:
      return binary([](double a, double b) { return a > b; });
    case Op::greater_equal:
      return binary([](double a, double b) { return a >= b; });
    case Op::equal:
      return binary([](double a, double b) { return a == b; });
    case Op::not_equal:
      return binary([](double a, double b) { return a != b; });
    case Op::text_equal:
    case Op::text_equal_ignoring_case:
    case Op::matches:
      return compare_texts(node);
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
      return logical(node);
    case Op::logical_not:
      return map(eval(node.children[0]), [](double a) { return a == 0; });
    case Op::choose:
      return choose(node);
    case Op::function:
      return eval_function(node);
    case Op::text_function:
      return eval_text_function(node);
    case Op::size_of:
      if (node.detail == 1) {
        return static_cast<double>(program_.environment->size(node.index, surroundings_.point(0)));
      }
      return static_cast<double>(array(node.index).size());
    case Op::defined: {
      const std::string& name = tree_.variables[node.index];
      return !array(node.index).cells.empty() || node.detail == 1 || surroundings_.metric_exists(name) ? 1.0 : 0.0;
    }
    case Op::sequence: {
      Datum last;
      for (const NodeIndex child : node.children) last = eval(child);
      return last;
    }
    case Op::assign:
      assign(node);
      return {};
    case Op::branch:
      branch(node);
      return {};
    case Op::loop:
      loop(node);
      return {};
    case Op::declare_local:
      bound_[node.index] = &locals_[node.index];
      return {};
    case Op::declare_global:
      if (program_.globals) {
        const std::lock_guard lock(program_.globals->mutex);
        bound_[node.index] = &program_.globals->variables[tree_.variables[node.index]];
      }
      return {};
    case Op::get_property: {
      const std::string name = uniform_text(eval(node.children[0]));
      const std::string& metric = tree_.metrics[node.index].metric;
      if (!going() || !program_.environment) return {};
      if (program_.globals) {
        const std::lock_guard lock(program_.globals->mutex);
        const auto found = program_.globals->properties.find({metric, name});
        if (found != program_.globals->properties.end()) return found->second;
      }
      const Point here = surroundings_.point(0);
      return program_.environment->property(*here.profile, metric, name);
    }
    case Op::set_property: {
      const std::string name = uniform_text(eval(node.children[0]));
      const std::string value = uniform_text(eval(node.children[1]));
      if (!going() || !program_.globals) return {};
      const std::lock_guard lock(program_.globals->mutex);
      program_.globals->properties[{tree_.metrics[node.index].metric, name}] = value;
      return {};
    }
  }
  return {};
}

Datum Interpreter::eval_metric(const Node& node) {
  if (tree_.metrics[node.index].reach != Reach::call) return surroundings_.metric(node.index);
  const Datum context = eval(node.children[0]);
  const Datum system = node.children.size() > 1 ? eval(node.children[1]) : Datum(-1.0);
  if (!going()) return {};
  const auto ask = [&](double c, double s) {
    auto value = surroundings_.metric_at(node.index, c, s);
    if (value.ok()) return *value;
    if (outcome_ != Outcome::failed) {
      outcome_ = Outcome::failed;
      error_ = std::move(value).error();
    }
    return 0.0;
  };
  return zip(context, system, ask);
}

Datum Interpreter::eval_variable(const Node& node) {
  const std::int64_t at = position(node, 0);
  const Array& cells = array(node.index);
  const auto found = cells.cells.find(static_cast<std::uint32_t>(at));
  return found == cells.cells.end() ? Datum() : found->second;
}

Datum Interpreter::eval_external(const Node& node) {
  const Environment& environment = *program_.environment;
  Datum index = node.children.empty() ? Datum(0.0) : eval(node.children[0]);
  if (!going()) return {};
  if (index.kind == Datum::Kind::text) index = index.as_number();
  const auto whole = [](double x) { return x > -1e9 && x < 1e9 ? static_cast<std::int64_t>(x) : std::int64_t{-1}; };
  if (index.kind != Datum::Kind::row && !environment.varies(node.index)) {
    return environment.value(node.index, whole(index.number), surroundings_.point(0));
  }
  std::vector<double> row(cells_);
  for (std::size_t i = 0; i < cells_; ++i) {
    const double at = index.kind == Datum::Kind::row ? index.row[i] : index.number;
    Datum value = environment.value(node.index, whole(at), surroundings_.point(i));
    if (value.kind == Datum::Kind::text) {
      if (cells_ > 1) diverge();
      return value;
    }
    row[i] = value.number;
  }
  return row;
}

Datum Interpreter::eval_function(const Node& node) {
  if (node.function < Function::minimum) {
    return map(eval(node.children[0]), [&](double x) { return apply(node.function, x); });
  }
  std::vector<Datum> operands;
  for (const NodeIndex child : node.children) operands.push_back(eval(child));
  if (!going() || operands.empty()) return {};
  const auto fold = [&](auto&& f) {
    Datum out = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) out = zip(out, operands[i], f);
    return out;
  };
  const auto plus = [](double a, double b) { return a + b; };
  const auto count = static_cast<double>(operands.size());
  switch (node.function) {
    case Function::minimum:
      return fold([](double a, double b) { return b < a ? b : a; });
    case Function::maximum:
      return fold([](double a, double b) { return b > a ? b : a; });
    case Function::product:
      return fold([](double a, double b) { return a * b; });
    case Function::modulo:
      return fold([](double a, double b) { return std::fmod(a, b); });
    case Function::logarithm:
      return fold([](double a, double b) { return std::log(a) / std::log(b); });
    case Function::combinations:
      return fold(combinations);
    case Function::mean:
      return map(fold(plus), [&](double sum) { return sum / count; });
    case Function::deviation: {
      const Datum mean = map(fold(plus), [&](double sum) { return sum / count; });
      Datum squares(0.0);
      for (const Datum& x : operands) {
        squares = zip(squares, zip(x, mean, [](double a, double b) { return (a - b) * (a - b); }), plus);
      }
      return map(squares, [&](double sum) { return std::sqrt(sum / count); });
    }
    default:
      return fold(plus);
  }
}

Datum Interpreter::eval_text_function(const Node& node) {
  std::string text = uniform_text(eval(node.children[0]));
  if (!going()) return {};
  switch (static_cast<TextFunction>(node.index)) {
    case TextFunction::lowercase:
      return to_lower(text);
    case TextFunction::uppercase:
      std::transform(text.begin(), text.end(), text.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
      return text;
    case TextFunction::environment:
      break;
  }
  const char* value = std::getenv(text.c_str());
  return std::string(value == nullptr ? "" : value);
}

Datum Interpreter::compare_texts(const Node& node) {
  const std::string a = uniform_text(eval(node.children[0]));
  if (!going()) return {};
  if (node.op == Op::matches) return search(*tree_.patterns[node.index], a) ? 1.0 : 0.0;
  const std::string b = uniform_text(eval(node.children[1]));
  if (!going()) return {};
  if (node.op == Op::text_equal) return a == b ? 1.0 : 0.0;
  return equal_ignoring_case(a, b) ? 1.0 : 0.0;
}

Datum Interpreter::logical(const Node& node) {
  const Datum a = eval(node.children[0]);
  if (!going()) return {};
  if (a.kind != Datum::Kind::row && node.op != Op::logical_xor) {
    const bool known = a.as_number() != 0;
    if (node.op == Op::logical_and && !known) return 0.0;
    if (node.op == Op::logical_or && known) return 1.0;
  }
  const Datum b = eval(node.children[1]);
  if (!going()) return {};
  switch (node.op) {
    case Op::logical_and:
      return zip(a, b, [](double x, double y) { return x != 0 && y != 0; });
    case Op::logical_or:
      return zip(a, b, [](double x, double y) { return x != 0 || y != 0; });
    default:
      return zip(a, b, [](double x, double y) { return (x != 0) != (y != 0); });
  }
}

Datum Interpreter::choose(const Node& node) {
  const Datum condition = eval(node.children[0]);
  if (!going()) return {};
  if (condition.kind != Datum::Kind::row) return eval(node.children[condition.as_number() != 0 ? 1 : 2]);
  const Datum a = eval(node.children[1]);
  const Datum b = eval(node.children[2]);
  if (!going()) return {};
  std::vector<double> out(cells_);
  for (std::size_t i = 0; i < cells_; ++i) {
    const Datum& from = condition.row[i] != 0 ? a : b;
    out[i] = from.kind == Datum::Kind::row ? from.row[i] : from.as_number();
  }
  return out;
}

void Interpreter::assign(const Node& node) {
  const std::int64_t at = position(node, 0);
  Datum value = eval(node.children[1]);
  if (!going()) return;
  if (cells_ == 1 && value.kind == Datum::Kind::row) value = Datum(value.row[0]);  // globals outlive this block
  stored_ += sizeof(Datum) + value.text.size() + value.row.size() * sizeof(double);
  Array& target = array(node.index);
  const auto [slot, fresh] = target.cells.try_emplace(static_cast<std::uint32_t>(at));
  if (!fresh)
    stored_ -= std::min<std::uint64_t>(
        stored_, sizeof(Datum) + slot->second.text.size() + slot->second.row.size() * sizeof(double));
  slot->second = std::move(value);
  if (stored_ > kMaxStored) fail("the expression's variables need too much memory");
}

void Interpreter::branch(const Node& node) {
  std::size_t i = 0;
  for (; i + 1 < node.children.size(); i += 2) {
    const bool yes = truth(eval(node.children[i]));
    if (!going()) return;
    if (yes) {
      (void)eval(node.children[i + 1]);
      return;
    }
  }
  if (i < node.children.size()) (void)eval(node.children[i]);
}

void Interpreter::loop(const Node& node) {
  while (going()) {
    if (!truth(eval(node.children[0])) || !going()) return;
    (void)eval(node.children[1]);
  }
}

}  // namespace fathom::expression
