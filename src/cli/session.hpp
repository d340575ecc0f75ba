// What a running command has at hand: the global options, where to write, how to open things.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "base/json.hpp"
#include "base/output.hpp"
#include "base/work.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "formats/dataset.hpp"
#include "report/row_stream.hpp"
#include "report/table_output.hpp"
#include "report/table_text.hpp"
#include "report/terminal.hpp"

namespace fathom::cli {

// Options that every command has.
struct GlobalOptions {
  bool strict = false;
  bool quiet = false;
  bool json = false;
  bool csv = false;
  bool help = false;
  bool version = false;
  std::uint64_t threads = 0;  // 0 = all cores
  std::optional<std::uint64_t> max_memory;
  std::optional<std::uint64_t> max_steps;
  std::string from;
};

void declare(GlobalOptions& options, Options& declared);

class Session {
 public:
  Session(const GlobalOptions& options, Output& out, Output& err);

  [[nodiscard]] const GlobalOptions& options() const { return options_; }
  [[nodiscard]] bool json() const { return options_.json; }
  [[nodiscard]] bool csv() const { return options_.csv; }
  // One for everything the command opens: diagnostics of all inputs, one memory budget.
  [[nodiscard]] const Work& work() const { return work_; }
  // Results. Loops over many rows ask out().closed() now and then.
  [[nodiscard]] Output& out() { return out_; }
  // What stdout can show.
  [[nodiscard]] const Terminal& terminal() const { return terminal_; }
  // A remark for the person (not a defect of the data); dropped by --quiet.
  void note(std::string_view text);
  // The same, as a warning about the answer; what is wrong with the data goes to the diagnostics.
  void warn(std::string_view text);

  // Opens a path as --format says, or as what it is recognised to be.
  Result<DatasetPtr> open(const std::filesystem::path& path);
  // Keeps a dataset open as long as the session.
  Dataset& keep(DatasetPtr dataset) {
    opened_.push_back(std::move(dataset));
    return *opened_.back();
  }
  // The profile of a path; its dataset stays open as long as the session.
  Result<std::shared_ptr<const Profile>> open_profile(const std::filesystem::path& path);

  // A table of any size in the form that was asked for; JSON is an array of rows.
  Result<void> show_rows(const TableSource& source, const ScanRequest& request = {}, const TableLook& look = {},
                         const std::optional<RowProgress>& progress = std::nullopt);
  // The same for rows that come one by one.
  [[nodiscard]] RowStream stream(Schema schema, const TableLook& look = {}) {
    return {out_,
            csv()    ? std::optional(RowForm::csv)
            : json() ? std::optional(RowForm::json)
                     : std::nullopt,
            std::move(schema), look};
  }
  // A table in memory, likewise; JSON is an object with the rows as member `key` and the diagnostics.
  void show_table(const Table& table, std::string_view key, const TableLook& look = {});

  // "diagnostics": [...] as a member of the object being written.
  void write_diagnostics(JsonWriter& json) const;
  // What was noticed since the last time, on stderr; called at the end of every command anyway.
  void show_diagnostics();
  // They were part of the result; nothing is left to show.
  void forget_diagnostics() { shown_ = work_->diagnostics.size(); }
  void show_error(const Error& error);

 private:
  // One remark on stderr; on a terminal its lines break between words.
  void say(std::string_view label, Style style, std::string_view text);

  const GlobalOptions& options_;
  Output& out_;
  Output& err_;
  Terminal terminal_;
  Terminal error_terminal_;
  Work work_;
  Execution execution_;  // threads, Ctrl-C and progress, as the options say, while the session lives
  ExecutionScope scope_;
  std::vector<DatasetPtr> opened_;
  std::size_t shown_ = 0;
};

// 1 refused, 130 cancelled, 2 everything else.
int exit_status(const Error& error);
void write_diagnostic(JsonWriter& json, const Diagnostic& diagnostic);

}  // namespace fathom::cli
