// What every front end (--derive, CubePL, HPCToolkit formulas) compiles to: a tree of operations with texts, variables,
// control flow and metric references, evaluated by one interpreter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/work.hpp"
#include "profile/expression/datum.hpp"
#include "profile/expression/environment.hpp"
#include "profile/expression/pattern.hpp"

namespace fathom::expression {

// Front ends refuse deeper nesting, so that evaluating a tree needs a bounded stack.
inline constexpr std::size_t kMaxNesting = 200;

inline constexpr Option<std::uint64_t> kMaxSteps{"max-steps", "N", "most steps for a value of a derived metric"};

// Operations (weighted by cells) that a program may take before it counts as endless. Whoever opens a profile sets the
// first through kMaxSteps in its work; the others follow from it.
struct StepLimit {
  std::uint64_t one_run = 2'000'000;
  [[nodiscard]] std::uint64_t all_runs() const { return one_run > kUnbounded / 25 ? kUnbounded : one_run * 25; }
  // All runs together may take so many more for every value that they gave.
  [[nodiscard]] std::uint64_t per_value() const { return one_run / 2000; }

  static StepLimit of(const WorkContext& work);

 private:
  static constexpr std::uint64_t kUnbounded = std::uint64_t{1} << 62;
};

enum class Op : std::uint8_t {
  number,    // Node::number
  text,      // texts[index]; counts as 0 where a number is wanted
  metric,    // metrics[index]; Reach::call: children are context[, system node]
  variable,  // variables[index], child: position in it (none = 0)
  external,  // index: id in the environment, child: position in it (none = 0)
  argument,  // index 0, 1: operands of plus, minus and aggregation
  add,
  subtract,
  multiply,
  divide,  // 0 when the dividend is 0, NaN (0 when `detail` is 1) when only the divisor is
  power,
  negate,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  text_equal,
  text_equal_ignoring_case,
  matches,  // patterns[index]
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  choose,          // condition, then, else
  function,        // Node::function of the children
  text_function,   // index: TextFunction
  size_of,         // variables[index]; external when `detail` is 1
  defined,         // variables[index]: `detail` is 1 when the text knows it; else is it global, or a metric?
  sequence,        // all children in order; the value is the last one's
  assign,          // variables[index] at [child 0] = child 1
  branch,          // condition, block, condition, block, ..., [block]
  loop,            // condition, block
  declare_local,   // variables[index]
  declare_global,  // variables[index]
  get_property,    // metrics[index].metric, child: name of the property
  set_property,    // metrics[index].metric, children: name, value
};

enum class Function : std::uint8_t {
  abs,
  sqrt,  // 0 of what is negative or NaN, as in CubePL
  sin,
  cos,
  tan,
  cot,
  asin,
  acos,
  atan,
  acot,
  exp,
  log,  // NaN of 0, 0 of what is negative, as in CubePL
  log2,
  log10,
  floor,
  ceil,
  round,
  sign,
  positive,
  negative,
  random,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  factorial,
  minimum,  // of any number of operands, as all that follow
  maximum,
  sum,
  mean,
  deviation,  // of a population
  product,
  modulo,        // of two operands, with the sign of the first
  logarithm,     // of the first operand to the base of the second
  combinations,  // of n things, k at a time
};

enum class TextFunction : std::uint8_t { lowercase, uppercase, environment };

// Which values of a metric an expression means.
enum class Reach : std::uint8_t {
  here,    // of the cell being worked out
  system,  // of its context, over the whole system
  fixed,   // of the cell being worked out; in pre-derived metrics as `system`
  total,   // `system`, but in pre-derived metrics of the whole run
  roots,   // inclusive, of all roots together, over the cell's locations
  call,    // of a context and maybe a system node that the expression names
};
enum class Wanted : std::uint8_t { running, inclusive, exclusive };
// How the locations of a cell become one number. Only those whose value is not zero count, except for the sum.
enum class Over : std::uint8_t { sum, count, squares, lowest, highest };

struct MetricReference {
  std::string metric;
  Reach reach = Reach::here;
  Wanted flavour = Wanted::running;
  Wanted system = Wanted::running;
  Over over = Over::sum;
  friend bool operator==(const MetricReference&, const MetricReference&) = default;
};

using NodeIndex = std::uint32_t;

struct Node {
  Op op = Op::number;
  Function function = Function::abs;
  std::uint8_t detail = 0;
  std::uint32_t index = 0;
  double number = 0;
  std::vector<NodeIndex> children;
};

// MT: safe (const).
struct Tree {
  std::vector<Node> nodes;
  NodeIndex root = 0;
  std::vector<std::string> texts;
  std::vector<std::string> variables;
  std::vector<MetricReference> metrics;
  std::vector<PatternPtr> patterns;
  bool changes_globals = false;
  std::string source;  // the text it was compiled from

  // Building blocks for front ends.
  NodeIndex add(Op op, std::vector<NodeIndex> children = {}, std::uint32_t index = 0);
  NodeIndex add_number(double value);
  NodeIndex add_text(std::string text);
  NodeIndex add_metric(const MetricReference& reference, std::vector<NodeIndex> children = {});
  NodeIndex add_function(Function function, std::vector<NodeIndex> operands);
  std::uint32_t variable(std::string_view name);
  std::uint32_t reference(const MetricReference& reference);
};

// What a program has cost so far, so that many runs cannot add up to a hang.
// MT: internally synchronised.
class Meter {
 public:
  // False when the runs have taken more than they may.
  bool spend(std::uint64_t steps, std::uint64_t values, const StepLimit& limit) {
    const std::uint64_t earned = values * limit.per_value();
    const std::uint64_t all_earned = earned_.fetch_add(earned) + earned;
    const std::uint64_t all_steps = steps_.fetch_add(steps) + steps;
    return all_steps <= limit.all_runs() + all_earned;
  }
  void give_up() { given_up_ = true; }
  [[nodiscard]] bool given_up() const { return given_up_; }

 private:
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::uint64_t> earned_{0};
  std::atomic<bool> given_up_{false};
};

// MT: safe (const).
class Program {
 public:
  Tree value;  // without nodes: there are inclusive values only
  // Instead of `value` where inclusive values are asked for; without nodes: there are none.
  std::optional<Tree> inclusive;
  std::vector<Tree> init;         // once before the first use
  std::optional<Tree> plus;       // of arg1 and arg2, along the call tree
  std::optional<Tree> minus;      // of arg1 and arg2, along the call tree
  std::optional<Tree> aggregate;  // of arg1 and arg2, over locations
  std::shared_ptr<const Environment> environment;
  std::shared_ptr<Globals> globals;  // of all programs of one profile
  std::string language;              // "derive", "cubepl", ...: what Metric::expression is written in
  std::shared_ptr<Meter> meter = std::make_shared<Meter>();
};

// Whether it asks for contexts by the ids of their file.
bool names_call_paths(const Program& program);

}  // namespace fathom::expression
