// A comparison as text, JSON, CSV, Markdown and JUnit; and whether it fails.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "profile/diff/changes.hpp"

namespace fathom::cli {

struct DiffLook {
  std::string before;  // paths
  std::string after;
  std::string match;
  std::string flavour;               // empty = none
  std::optional<double> fail_above;  // relative growth
  double least_share = 0;            // of the total, from which on a row can fail
  std::uint64_t number = 0;          // of rows in text and Markdown; 0 = all
  bool full_names = false;
};

class DiffReport {
 public:
  DiffReport(const std::vector<MetricChanges>& changes, DiffLook look);

  [[nodiscard]] bool failed() const { return failed_; }
  void write_text(Session& session) const;
  void write_json(Session& session) const;
  void write_csv(Session& session) const;
  void write_markdown(Session& session) const;
  [[nodiscard]] Result<void> write_junit(const std::filesystem::path& file) const;

 private:
  // Rows of one metric are neighbours in the table.
  struct Metric {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t changed = 0;  // come first
    bool failed = false;
  };
  void judge(std::size_t metric);
  [[nodiscard]] bool grew_too_much(const Table& table, std::size_t row) const;
  [[nodiscard]] std::size_t shown(const Metric& metric) const;
  [[nodiscard]] std::string name_at(std::size_t row) const;
  // What grew too much: the total, and which rows.
  [[nodiscard]] std::string failure_text(const Metric& metric, std::size_t number) const;

  DiffLook look_;
  Table totals_;
  Table rows_;
  std::vector<Metric> metrics_;
  std::vector<bool> counts_;      // by row: large enough to fail
  std::vector<bool> row_failed_;  // by row
  bool repeated_ = false;         // something is known about the scatter
  bool failed_ = false;
};

}  // namespace fathom::cli
