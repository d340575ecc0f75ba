// One evaluation of one metric's program over rows × columns of cells.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "profile/aggregate.hpp"
#include "profile/expression/interpreter.hpp"

namespace fathom::expression {

class Session {
 public:
  // `flavour` is that of the running calculation: metrics referred to without a flavour take it.
  Session(const Profile& profile, MetricId metric, Flavour flavour, Grouping grouping);

  Result<Cells> run();

  // Runs the init expressions of the metrics that share globals with this one, each once; the error is this one's.
  static Result<void> initialise(const Profile& profile, MetricId metric);

 private:
  class Block;
  // Values over all contexts that metric::call asked for, by metric, flavour and system node (-1: all).
  // MT: internally synchronised by `mutex`.
  struct Called {
    std::mutex mutex;
    std::map<std::tuple<MetricId, Wanted, std::int64_t>, std::shared_ptr<const Cells>> tables;
  };

  // Some rows at a time, where their operands can be had without the other rows.
  Result<void> run_in_bands(std::size_t rows_at_once, Cells& out);
  Result<void> run_rows(Cells& out, std::size_t first_row);
  [[nodiscard]] bool rows_stand_alone(const Tree& tree) const;
  [[nodiscard]] const Tree& tree() const;  // what is run for the flavour that is asked for
  Result<void> fetch(const Tree& tree);
  Result<void> run_init();
  Result<void> run_block(const Tree& tree, std::size_t begin, std::size_t end, Cells& out);
  // One attempt; `done` is false when the cells go ways that cannot be run together.
  Result<bool> try_block(const Tree& tree, std::size_t begin, std::size_t end, Cells& out);
  Result<double> value_at(const MetricReference& reference, double context, double system);
  // What a reference means in this kind of derived metric.
  [[nodiscard]] Reach reach_of(const MetricReference& reference) const;
  [[nodiscard]] Flavour flavour_of(Wanted wanted) const;
  [[nodiscard]] bool wants_inclusive() const;
  [[nodiscard]] Point point(std::size_t cell) const;
  [[nodiscard]] bool must_run_in_order(const Tree& tree) const;

  const Profile& profile_;
  MetricId metric_;
  Flavour flavour_;
  Grouping grouping_;
  const Program& program_;
  StepLimit limit_;
  std::size_t rows_;
  std::size_t columns_;
  bool whole_system_ = false;
  std::vector<SystemNodeId> resources_;                 // by column: see Point
  std::vector<ContextId> contexts_;                     // where each row is one context: all of them
  std::vector<LocationId> locations_;                   // where each column is one location: all of them
  std::vector<std::shared_ptr<const Cells>> operands_;  // by metric reference; null: no such metric
  std::size_t first_cell_ = 0;                          // where a band begins in the whole
  std::size_t first_row_ = 0;                           // of the table that takes the results
  std::shared_ptr<Called> called_ = std::make_shared<Called>();
};

}  // namespace fathom::expression
