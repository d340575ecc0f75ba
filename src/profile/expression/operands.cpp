// The interpreter's part that works out single operands: metrics, variables, functions, texts, properties.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"
#include "profile/expression/functions.hpp"
#include "profile/expression/interpreter.hpp"

namespace fathom::expression {

Datum Interpreter::eval_metric(const Node& node) {
  if (tree_.metrics[node.index].reach != Reach::call) return surroundings_.metric(node.index);
  Datum context = eval(node.children[0]);
  Datum system = node.children.size() > 1 ? eval(node.children[1]) : Datum(-1.0);
  if (!going()) return {};
  const auto ask = [&](double c, double s) {
    auto value = surroundings_.metric_at(node.index, c, s);
    if (value.ok()) return *value;
    fail(std::move(value).error());
    return 0.0;
  };
  return zip(std::move(context), std::move(system), ask);
}

Datum Interpreter::eval_variable(const Node& node) {
  const Array& cells = array(node.index);
  Datum index = node.children.empty() ? Datum(0.0) : eval(node.children[0]);
  if (!going()) return {};
  const auto cell = [&](double at) -> const Datum* {
    const auto found = cells.cells.find(static_cast<std::uint32_t>(at));
    return found == cells.cells.end() ? nullptr : &found->second;
  };
  if (index.kind != Datum::Kind::row || cells_ == 1) {
    const double at = index.as_number();
    const Datum* found = check_position(at) ? cell(at) : nullptr;
    return found == nullptr ? Datum() : *found;
  }
  // Each cell of the block has its own position.
  for (std::size_t i = 0; i < cells_; ++i) {
    double& at = index.row[i];
    if (!active(i)) {
      at = 0;
      continue;
    }
    const Datum* found = check_position(at) ? cell(at) : nullptr;
    if (!going()) return {};
    if (found != nullptr && found->kind == Datum::Kind::text) diverge();
    at = found == nullptr ? 0 : found->kind == Datum::Kind::row ? found->row[i] : found->number;
  }
  return index;
}

Datum Interpreter::eval_external(const Node& node) {
  const Environment& environment = *program_.environment;
  Datum index = node.children.empty() ? Datum(0.0) : eval(node.children[0]);
  if (!going()) return {};
  if (index.kind == Datum::Kind::text) index = index.as_number();
  const auto whole = [](double x) { return x > -1e9 && x < 1e9 ? static_cast<std::int64_t>(x) : std::int64_t{-1}; };
  const Varies varies = environment.varies(node.index);
  const bool varied = varies == Varies::by_cell || (varies == Varies::by_row && !surroundings_.one_row());
  if (index.kind != Datum::Kind::row && !varied) {
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
    row[i] = value.as_number();
  }
  return row;
}

Datum Interpreter::eval_function(const Node& node) {
  if (node.function == Function::random) {
    return map(eval(node.children[0]), [&](double x) { return random_up_to(x); });
  }
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
  if (node.op == Op::matches) {
    auto found = search(*tree_.patterns[node.index], a);
    if (found.ok()) return *found ? 1.0 : 0.0;
    fail(std::move(found).error());
    return {};
  }
  const std::string b = uniform_text(eval(node.children[1]));
  if (!going()) return {};
  if (node.op == Op::text_equal) return a == b ? 1.0 : 0.0;
  return equal_ignoring_case(a, b) ? 1.0 : 0.0;
}

Datum Interpreter::get_property(const Node& node) {
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

void Interpreter::set_property(const Node& node) {
  const std::string name = uniform_text(eval(node.children[0]));
  const std::string value = uniform_text(eval(node.children[1]));
  if (mask_) diverge();
  if (!going() || !program_.globals) return;
  const std::lock_guard lock(program_.globals->mutex);
  program_.globals->properties[{tree_.metrics[node.index].metric, name}] = value;
}

}  // namespace fathom::expression
