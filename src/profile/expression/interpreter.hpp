// Runs a compiled tree over a block of cells at once. Numbers that differ between the cells are rows; where texts,
// indices or the way through the program would differ, the run ends as `diverged` and the caller repeats it cell by
// cell.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "profile/expression/program.hpp"

namespace fathom::expression {

// Operations (weighted by cells) that one run may take before it counts as endless.
inline constexpr std::uint64_t kMaxSteps = 10'000'000;
// Largest position in a variable.
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 20;

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
  [[nodiscard]] virtual bool metric_exists(std::string_view name) const = 0;
};

enum class Outcome : std::uint8_t { done, diverged, failed };

class Interpreter {
 public:
  Interpreter(const Tree& tree, const Program& program, Surroundings& surroundings, std::size_t cells);
  void set_arguments(Datum first, Datum second);
  Outcome run();
  // One number per cell, after Outcome::done.
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Datum eval(NodeIndex at);
  Datum eval_metric(const Node& node);
  Datum eval_variable(const Node& node);
  Datum eval_external(const Node& node);
  Datum eval_function(const Node& node);
  Datum eval_text_function(const Node& node);
  Datum compare_texts(const Node& node);
  Datum logical(const Node& node);
  Datum choose(const Node& node);
  void assign(const Node& node);
  void branch(const Node& node);
  void loop(const Node& node);
  template <class F>
  Datum zip(const Datum& a, const Datum& b, F&& f);
  template <class F>
  Datum map(const Datum& a, F&& f);

  // The one number or text that all cells agree on; `diverged` when they do not.
  double uniform_number(const Datum& datum);
  std::string uniform_text(const Datum& datum);
  bool truth(const Datum& datum) { return uniform_number(datum) != 0; }
  std::int64_t position(const Node& node, std::size_t child);
  Array& array(std::uint32_t variable);
  void fail(std::string what);
  void diverge() { outcome_ = outcome_ == Outcome::done ? Outcome::diverged : outcome_; }
  [[nodiscard]] bool going() const { return outcome_ == Outcome::done; }

  const Tree& tree_;
  const Program& program_;
  Surroundings& surroundings_;
  std::size_t cells_;
  std::vector<Array> locals_;
  std::vector<Array*> bound_;  // variable -> where it lives
  Datum arguments_[2];
  Datum result_;
  std::uint64_t steps_ = 0;
  std::uint64_t stored_ = 0;  // bytes in variables
  Outcome outcome_ = Outcome::done;
  Error error_;
};

}  // namespace fathom::expression
