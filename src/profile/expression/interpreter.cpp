#include "profile/expression/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cancel.hpp"
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
      declared_local_(tree.variables.size(), false),
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
  limit_.one_run += contexts * limit_.per_value() * 5;
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

std::optional<Interpreter::Mask> Interpreter::cells_where(const Datum& condition, bool wanted) const {
  Mask out(cells_);
  bool any = false;
  for (std::size_t i = 0; i < cells_; ++i) {
    out[i] = active(i) && (condition.row[i] != 0) == wanted ? 1 : 0;
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
    case Op::text: {
      Datum text(tree_.texts[node.index]);
      text.literal = true;
      return text;
    }
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
      // Nothing of what is not known is nothing; the reference looks at the left one only.
      return binary([](double a, double b) { return a == 0 ? 0 : a * b; });
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
    // A name keeps its first declaration, whoever made it.
    case Op::declare_local:
      if (bound_[node.index] == &locals_[node.index]) declared_local_[node.index] = true;
      return {};
    case Op::declare_global:
      if (program_.globals && !declared_local_[node.index]) {
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

Datum Interpreter::logical(const Node& node) {
  Datum a = eval(node.children[0]);
  if (!going()) return {};
  // The second operand is looked at where the first leaves the matter open.
  const std::optional<Mask> before = mask_;
  if (node.op != Op::logical_xor) {
    const bool undecided = node.op == Op::logical_and;
    if (a.kind != Datum::Kind::row) {
      if ((a.as_number() != 0) != undecided) return undecided ? 0.0 : 1.0;
    } else {
      std::optional<Mask> open = cells_where(a, undecided);
      if (!open) return undecided ? 0.0 : 1.0;
      if (cells_where(a, !undecided)) mask_ = std::move(open);
    }
  }
  Datum b = eval(node.children[1]);
  mask_ = before;
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
  value.literal = false;
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
    if (condition.kind != Datum::Kind::row) {
      if (condition.as_number() == 0) continue;
      (void)eval(node.children[i + 1]);
      break;
    }
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
    if (condition.kind != Datum::Kind::row) {
      if (condition.as_number() == 0) break;
      (void)eval(node.children[1]);
      continue;
    }
    std::optional<Mask> yes = cells_where(condition, true);
    if (!yes) break;
    if (cells_where(condition, false)) mask_ = std::move(yes);
    (void)eval(node.children[1]);
  }
  mask_ = before;
}

}  // namespace fathom::expression
