// Runs a compiled tree over a block of cells at once. Numbers that differ between the cells are rows; where cells take
// different ways through a program, each way is run for those that take it. Where texts or positions would differ, the
// run ends as `diverged` and the caller repeats it with smaller blocks.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "profile/expression/program.hpp"

namespace fathom::expression {

// What is said of a program that takes too many steps, in one run or in all.
Error endless_error();
// Largest position in a variable.
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 24;

// What a tree sees of the world.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Values of metrics[index] in the cells of the block.
  virtual Datum metric(std::size_t index) = 0;
  // metrics[index] at a context (the id the file uses) and a system node (-1: all).
  virtual Result<double> metric_at(std::size_t index, double context, double system) = 0;
  // Of one cell of the block.
  [[nodiscard]] virtual Point point(std::size_t cell) const = 0;
  // All cells of the block lie in one row.
  [[nodiscard]] virtual bool one_row() const = 0;
  // A number of the block, the same in every run of the same program: random numbers follow from it.
  [[nodiscard]] virtual std::uint64_t number() const = 0;
  [[nodiscard]] virtual bool metric_exists(std::string_view name) const = 0;
};

enum class Outcome : std::uint8_t { done, diverged, failed };

class Interpreter {
 public:
  Interpreter(const Tree& tree, const Program& program, Surroundings& surroundings, std::size_t cells,
              const StepLimit& limit);
  void set_arguments(Datum first, Datum second);
  // Init expressions run once and may go over all call paths: their bounds grow with these.
  void allow_for(std::size_t contexts);
  Outcome run();
  // One number per cell, after Outcome::done.
  [[nodiscard]] std::vector<double> numbers() &&;
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  using Mask = std::vector<std::uint8_t>;  // by cell: does it take the way that is being run?

  Datum eval(NodeIndex at);
  Datum eval_metric(const Node& node);
  Datum eval_variable(const Node& node);
  Datum eval_external(const Node& node);
  Datum eval_function(const Node& node);
  Datum eval_text_function(const Node& node);
  Datum compare_texts(const Node& node);
  Datum logical(const Node& node);
  Datum choose(const Node& node);
  Datum get_property(const Node& node);
  void set_property(const Node& node);
  void assign(const Node& node);
  void branch(const Node& node);
  void loop(const Node& node);
  template <class F>
  Datum zip(Datum a, Datum b, F&& f);
  template <class F>
  Datum map(Datum a, F&& f);

  // Does the cell take the way that is being run?
  [[nodiscard]] bool active(std::size_t cell) const { return !mask_ || (*mask_)[cell] != 0; }
  // Of the cells on this way, those where the condition is as wanted; nothing when it is so for none.
  [[nodiscard]] std::optional<Mask> cells_where(const Datum& condition, bool wanted) const;
  // The one number or text that all cells agree on; `diverged` when they do not.
  double uniform_number(const Datum& datum);
  std::string uniform_text(const Datum& datum);
  bool check_position(double at);
  Array& array(std::uint32_t variable) { return *bound_[variable]; }
  double random_up_to(double bound);
  void fail(Error error);
  void diverge() { outcome_ = outcome_ == Outcome::done ? Outcome::diverged : outcome_; }
  [[nodiscard]] bool going() const { return outcome_ == Outcome::done; }

  const Tree& tree_;
  const Program& program_;
  Surroundings& surroundings_;
  std::size_t cells_;
  std::optional<Mask> mask_;  // nothing: all cells
  std::vector<Array> locals_;
  std::vector<bool> declared_local_;
  std::vector<Array*> bound_;  // variable -> where it lives
  Datum arguments_[2];
  Datum result_;
  std::optional<std::mt19937_64> random_;
  std::uint64_t steps_ = 0;
  StepLimit limit_;
  bool metered_ = true;
  std::uint64_t stored_ = 0;  // bytes in variables
  std::uint64_t max_stored_ = std::uint64_t{64} << 20;
  Outcome outcome_ = Outcome::done;
  Error error_;
};

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

}  // namespace fathom::expression
