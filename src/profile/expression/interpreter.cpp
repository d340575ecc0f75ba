#include "profile/expression/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "profile/expression/functions.hpp"

namespace fathom::expression {

namespace {

std::uint64_t bytes_of(const Datum& datum) {
  return sizeof(Datum) + datum.text.size() + datum.row.size() * sizeof(double);
}

}  // namespace

Error endless_error() {
  return Error("the expression does not come to an end in reasonable time").hint("--max-steps N allows for more");
}

Interpreter::Interpreter(const Tree& tree, const Program& program, Surroundings& surroundings, std::size_t cells,
                         const StepLimit& limit)
    : tree_(tree),
      program_(program),
      surroundings_(surroundings),
      cells_(cells),
      locals_(tree.variables.size()),
      limit_(limit) {
  bound_.reserve(locals_.size());
  for (Array& local : locals_) bound_.push_back(&local);
  if (!program.globals || bound_.empty()) return;
  const std::lock_guard lock(program.globals->mutex);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const auto found = program.globals->variables.find(tree.variables[i]);
    if (found != program.globals->variables.end()) bound_[i] = &found->second;
  }
}

void Interpreter::allow_for(std::size_t contexts) {
  limit_.one_run += contexts * limit_.per_value();
  metered_ = false;
  max_stored_ += contexts * 1024;
}

void Interpreter::set_arguments(Datum first, Datum second) {
  arguments_[0] = std::move(first);
  arguments_[1] = std::move(second);
}

Outcome Interpreter::run() {
  outcome_ = Outcome::done;
  if (!tree_.nodes.empty()) result_ = eval(tree_.root);
  if (metered_ && !program_.meter->spend(steps_, outcome_ == Outcome::done ? cells_ : 0, limit_)) {
    program_.meter->give_up();
    fail(endless_error());
  }
  return outcome_;
}

std::vector<double> Interpreter::numbers() && {
  if (result_.kind == Datum::Kind::row) return std::move(result_.row);
  return std::vector<double>(cells_, result_.as_number());
}

void Interpreter::fail(Error error) {
  if (outcome_ == Outcome::failed) return;
  outcome_ = Outcome::failed;
  error_ = std::move(error);
}

template <class F>
Datum Interpreter::zip(Datum a, Datum b, F&& f) {
  const bool row_a = a.kind == Datum::Kind::row;
  const bool row_b = b.kind == Datum::Kind::row;
  if (!row_a && !row_b) return Datum(static_cast<double>(f(a.as_number(), b.as_number())));
  // The result takes the place of an operand.
  Datum& out = row_a ? a : b;
  if (row_a && row_b) {
    for (std::size_t i = 0; i < cells_; ++i) out.row[i] = static_cast<double>(f(a.row[i], b.row[i]));
  } else if (row_a) {
    const double y = b.as_number();
    for (double& x : out.row) x = static_cast<double>(f(x, y));
  } else {
    const double x = a.as_number();
    for (double& y : out.row) y = static_cast<double>(f(x, y));
  }
  return std::move(out);
}

template <class F>
Datum Interpreter::map(Datum a, F&& f) {
  if (a.kind != Datum::Kind::row) return Datum(static_cast<double>(f(a.as_number())));
  for (double& x : a.row) x = static_cast<double>(f(x));
  return a;
}

std::optional<Interpreter::Mask> Interpreter::cells_where(const Datum& condition, bool wanted) const {
  Mask out(cells_);
  bool any = false;
  for (std::size_t i = 0; i < cells_; ++i) {
    const double value = condition.kind == Datum::Kind::row ? condition.row[i] : condition.as_number();
    out[i] = active(i) && (value != 0) == wanted ? 1 : 0;
    any = any || out[i] != 0;
  }
  if (!any) return std::nullopt;
  return out;
}

double Interpreter::uniform_number(const Datum& datum) {
  if (datum.kind != Datum::Kind::row) return datum.as_number();
  std::optional<double> known;
  for (std::size_t i = 0; i < cells_; ++i) {
    if (!active(i)) continue;
    const double x = datum.row[i];
    if (!known) known = x;
    if (x != *known && !(std::isnan(x) && std::isnan(*known))) {
      diverge();
      break;
    }
  }
  return known.value_or(0);
}

std::string Interpreter::uniform_text(const Datum& datum) {
  return datum.kind == Datum::Kind::text ? datum.text : number_text(uniform_number(datum));
}

double Interpreter::random_up_to(double bound) {
  if (!random_) random_.emplace(surroundings_.number());
  return std::uniform_real_distribution<double>(0, 1)(*random_) * bound;
}

bool Interpreter::check_position(double at) {
  if (at > -1 && at <= static_cast<double>(kMaxPosition)) return true;
  fail(Error(fmt::format("position {:g} in an array is not between 0 and {}", at, kMaxPosition)));
  return false;
}

Datum Interpreter::eval(NodeIndex at) {
  if (!going()) return {};
  steps_ += 1 + cells_ / 64;
  if (steps_ > limit_.one_run) {
    if (cells_ == 1) program_.meter->give_up();
    fail(endless_error());
    return {};
  }
  if ((steps_ & 0xFFFF) == 0 && cancelled()) {
    fail(cancelled_error());
    return {};
  }
  const Node& node = tree_.nodes[at];
  const auto binary = [&](auto&& f) {
    Datum a = eval(node.children[0]);
    Datum b = eval(node.children[1]);
    return going() ? zip(std::move(a), std::move(b), f) : Datum();
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
      const bool global = bound_[node.index] != &locals_[node.index];
      return node.detail == 1 || global || surroundings_.metric_exists(tree_.variables[node.index]) ? 1.0 : 0.0;
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
    case Op::get_property:
      return get_property(node);
    case Op::set_property:
      set_property(node);
      return {};
  }
  return {};
}

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
  if (node.op == Op::matches) return search(*tree_.patterns[node.index], a) ? 1.0 : 0.0;
  const std::string b = uniform_text(eval(node.children[1]));
  if (!going()) return {};
  if (node.op == Op::text_equal) return a == b ? 1.0 : 0.0;
  return equal_ignoring_case(a, b) ? 1.0 : 0.0;
}

Datum Interpreter::logical(const Node& node) {
  Datum a = eval(node.children[0]);
  if (!going()) return {};
  if (a.kind != Datum::Kind::row && node.op != Op::logical_xor) {
    const bool known = a.as_number() != 0;
    if (node.op == Op::logical_and && !known) return 0.0;
    if (node.op == Op::logical_or && known) return 1.0;
  }
  Datum b = eval(node.children[1]);
  if (!going()) return {};
  switch (node.op) {
    case Op::logical_and:
      return zip(std::move(a), std::move(b), [](double x, double y) { return x != 0 && y != 0; });
    case Op::logical_or:
      return zip(std::move(a), std::move(b), [](double x, double y) { return x != 0 || y != 0; });
    default:
      return zip(std::move(a), std::move(b), [](double x, double y) { return (x != 0) != (y != 0); });
  }
}

Datum Interpreter::choose(const Node& node) {
  Datum condition = eval(node.children[0]);
  if (!going()) return {};
  if (condition.kind != Datum::Kind::row) return eval(node.children[condition.as_number() != 0 ? 1 : 2]);
  const Datum a = eval(node.children[1]);
  const Datum b = eval(node.children[2]);
  if (!going()) return {};
  for (std::size_t i = 0; i < cells_; ++i) {
    const Datum& from = condition.row[i] != 0 ? a : b;
    condition.row[i] = from.kind == Datum::Kind::row ? from.row[i] : from.as_number();
  }
  return condition;
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

void Interpreter::assign(const Node& node) {
  const double at = uniform_number(eval(node.children[0]));
  Datum value = eval(node.children[1]);
  if (!going() || !check_position(at)) return;
  if (cells_ == 1 && value.kind == Datum::Kind::row) value = Datum(value.row[0]);  // globals outlive this block
  const auto [place, fresh] = array(node.index).cells.try_emplace(static_cast<std::uint32_t>(at));
  Datum& slot = place->second;
  if (mask_) {
    if (value.kind == Datum::Kind::text || slot.kind == Datum::Kind::text) return diverge();
    // An array that grows for some cells only has a size that differs between them.
    const bool sized = std::any_of(tree_.nodes.begin(), tree_.nodes.end(),
                                   [](const Node& other) { return other.op == Op::size_of && other.detail == 0; });
    if (fresh && sized) return diverge();
    const auto at_cell = [](const Datum& datum, std::size_t cell) {
      return datum.kind == Datum::Kind::row ? datum.row[cell] : datum.number;
    };
    std::vector<double> merged(cells_);
    for (std::size_t i = 0; i < cells_; ++i) merged[i] = at_cell(active(i) ? value : slot, i);
    value = Datum(std::move(merged));
  }
  stored_ += bytes_of(value);
  if (!fresh) stored_ -= std::min(stored_, bytes_of(slot));
  slot = std::move(value);
  if (stored_ > max_stored_) fail(Error("the expression's variables need too much memory"));
}

void Interpreter::branch(const Node& node) {
  const std::optional<Mask> before = mask_;
  std::size_t i = 0;
  for (; i + 1 < node.children.size() && going(); i += 2) {
    const Datum condition = eval(node.children[i]);
    if (!going()) return;
    std::optional<Mask> yes = cells_where(condition, true);
    if (!yes) continue;
    std::optional<Mask> no = cells_where(condition, false);
    if (no) mask_ = std::move(yes);
    (void)eval(node.children[i + 1]);
    if (!no) break;  // all went this way
    mask_ = std::move(no);
  }
  const bool rest = i + 1 == node.children.size();
  if (rest) (void)eval(node.children[i]);
  mask_ = before;
}

void Interpreter::loop(const Node& node) {
  const std::optional<Mask> before = mask_;
  while (going()) {
    const Datum condition = eval(node.children[0]);
    if (!going()) return;
    std::optional<Mask> yes = cells_where(condition, true);
    if (!yes) break;
    if (cells_where(condition, false)) mask_ = std::move(yes);
    (void)eval(node.children[1]);
  }
  mask_ = before;
}

}  // namespace fathom::expression
