// What a running command has at hand: the global options, where to write, how to open things.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "formats/dataset.hpp"
#include "report/json.hpp"
#include "report/output.hpp"
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

  // Opens a path as --from says, or as what it is recognised to be.
  Result<DatasetPtr> open(const std::filesystem::path& path);
  // Keeps a dataset open as long as the session.
  Dataset& keep(DatasetPtr dataset) {
    opened_.push_back(std::move(dataset));
    return *opened_.back();
  }
  // The profile of a path; its dataset stays open as long as the session.
  Result<std::shared_ptr<const Profile>> open_profile(const std::filesystem::path& path);

  // "diagnostics": [...] as a member of the object being written.
  void write_diagnostics(JsonWriter& json) const;
  // What was noticed since the last time, on stderr; called at the end of every command anyway.
  void show_diagnostics();
  // They were part of the result; nothing is left to show.
  void forget_diagnostics() { shown_ = work_->diagnostics.size(); }
  void show_error(const Error& error);

 private:
  const GlobalOptions& options_;
  Output& out_;
  Output& err_;
  Terminal terminal_;
  Terminal error_terminal_;
  Work work_;
  std::vector<DatasetPtr> opened_;
  std::size_t shown_ = 0;
};

// 1 refused, 130 cancelled, 2 everything else.
int exit_status(const Error& error);
void write_diagnostic(JsonWriter& json, const Diagnostic& diagnostic);

}  // namespace fathom::cli
