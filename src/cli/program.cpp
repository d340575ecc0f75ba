#include "cli/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>

#include "base/self_profile.hpp"
#include "base/stop.hpp"
#include "base/team.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/help.hpp"
#include "cli/parser.hpp"
#include "cli/self_trace.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"
#include "io/opened_files.hpp"
#include "io/output_set.hpp"
#include "report/table_text.hpp"

namespace fathom::cli {

namespace {

// Position of the command's name: the first argument that is neither an option nor an option's value.
std::size_t find_command_name(std::span<const std::string> arguments, const Options& everywhere) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-')) return i;
    for (const OptionSpec& spec : everywhere.specs()) {
      auto names = split(spec.names, ',');
      for (const std::string_view old : split(spec.old_names, ',')) names.push_back(old);
      const bool named = std::find(names.begin(), names.end(), arguments[i]) != names.end();
      if (named && !spec.placeholder.empty()) ++i;
    }
  }
  return arguments.size();
}

Result<void> check_forms(const CommandEntry& entry, const GlobalOptions& options) {
  if (options.json && options.csv) return Error::usage("--json and --csv exclude each other");
  const bool has_json = entry.forms == Forms::json || entry.forms == Forms::json_and_csv;
  const bool has_csv = entry.forms == Forms::csv || entry.forms == Forms::json_and_csv;
  if (options.json && !has_json) return Error::usage(fmt::format("{} has no JSON form", entry.name));
  if (options.csv && !has_csv) return Error::usage(fmt::format("{} has no CSV form", entry.name));
  return {};
}

Result<void> check_positionals(const CommandEntry& entry, const Options& options) {
  for (const OptionSpec& spec : options.specs()) {
    if (!spec.positional || !spec.required) continue;
    const auto* one = std::get_if<std::string*>(&spec.target);
    const auto* many = std::get_if<std::vector<std::string>*>(&spec.target);
    if ((one != nullptr && (*one)->empty()) || (many != nullptr && (*many)->empty())) {
      return Error::usage(fmt::format("{} needs {}: {}", entry.name, spec.names, spec.help))
          .hint(fmt::format("'fathom {} --help' shows how", entry.name));
    }
  }
  return {};
}

Error unknown_command(const std::string& name) {
  return Error::usage(fmt::format("unknown command '{}'{}", name, did_you_mean(name, command_names())))
      .hint("'fathom --help' lists the commands");
}

Result<void> tell_changed_inputs(WorkContext& work) {
  for (const std::filesystem::path& file : changed_inputs()) {
    FATHOM_CHECK(work.diagnostics.warn("input.changed", Place::in(file.string()),
                                       "was written to while it was being read: what was read may be of the old and of "
                                       "the new content; try again when it is complete"));
  }
  return {};
}

struct Program {
  std::span<const std::string> arguments;
  Output& out;
  Output& err;
  GlobalOptions global;
  Options everywhere;
  Options declared;
  bool force = false;
  bool csv_safe = false;
  bool profile_self = false;
  std::string self_trace = {};

  Result<int> run_command(const CommandEntry& entry, std::span<const std::string> rest) {
    const std::unique_ptr<Command> command = entry.make();
    command->declare(declared);
    FATHOM_TRY(const auto hints, parse_arguments(rest, declared, everywhere, std::string(entry.name)));
    if (global.help) {
      out.write(command_help(entry, declared, everywhere, Terminal::of(1)));
      return kDone;
    }
    if (global.version) return show_version();
    // What convert writes as CSV are files.
    global.csv = global.csv || (csv_safe && entry.name != "convert");
    FATHOM_CHECK(check_forms(entry, global));
    // What a terminal shows is for people whatever its form: no program reads it by the form's rules.
    const bool machine = global.json || global.csv;
    out.for_people(!machine || isatty(STDOUT_FILENO) == 1, !machine);
    out.csv_safe(csv_safe);
    FATHOM_CHECK(check_positionals(entry, declared));
    const unsigned processes = team().size();
    const bool together = processes == 1 || is_split(entry.name);
    if (!together && !team().first()) return elsewhere();
    const TeamScope scope(together ? &team() : nullptr);
    Session session(global, out, err);
    for (const std::string& hint : hints) session.note(hint);
    if (!together) {
      session.note(
          fmt::format("{} is not split between processes: the first of the {} does it alone", entry.name, processes));
    }
    if (together && processes > 1) team().report_to(session.work());
    if (force) session.work()->options.set(kForce, true);
    SelfProfile own;
    std::optional<SelfProfileScope> profiling;
    if (profile_self || !self_trace.empty()) profiling.emplace(&own);
    auto status = [&] {
      const Phase phase("command");
      auto done = run_guarded(*command, session);
      if (auto written = out.finish(); done.ok() && !written.ok()) done = std::move(written).error();
      return done;
    }();
    profiling.reset();
    // What came of a file that is no longer there is worth nothing, whatever it looks like.
    if (auto lost = stop_reason()) return *std::move(lost);
    if (auto told = tell_changed_inputs(*session.work()); status.ok() && !told.ok()) status = std::move(told).error();
    session.show_diagnostics();
    if (profile_self) err.write(table_text(own.table(), Terminal::of(2)));
    if (!self_trace.empty()) {
      if (auto written = write_self_trace(own, self_trace); status.ok() && !written.ok()) {
        status = std::move(written).error();
      }
    }
    return status;
  }

  // What the request was about, for errors that know no file.
  [[nodiscard]] Place subject() const {
    for (const OptionSpec& spec : declared.specs()) {
      if (!spec.positional) continue;
      if (const auto* one = std::get_if<std::string*>(&spec.target)) return Place::in(**one);
      if (const auto* many = std::get_if<std::vector<std::string>*>(&spec.target)) {
        if (!(*many)->empty()) return Place::in((*many)->front());
      }
    }
    return {};
  }

  // Nothing throws on purpose: memory or threads ran out, or it is a fault of the program.
  [[nodiscard]] Result<int> run_guarded(Command& command, Session& session) const {
    try {
      auto status = command.run(session);
      if (status || status.error().kind() != ErrorKind::unusable) return status;
      return std::move(status).error().where(subject());
    } catch (const std::bad_alloc&) {
      return Error("the system gave no more memory", subject())
          .hint("--max-memory SIZE keeps to what there is; --threads 1 needs less");
    } catch (const std::exception& error) {
      return Error(error.what(), subject())
          .hint("where threads or memory ran out, --threads 1 and --max-memory SIZE need less");
    }
  }

  int show_version() {
    out.write(fmt::format("fathom {}\n", kVersion));
    return kDone;
  }

  Result<int> run() {
    declare(global, everywhere);
    everywhere.flag("--csv-safe", csv_safe, "CSV in which cells that a spreadsheet would evaluate begin with a quote");
    everywhere.flag("--profile-self", profile_self, "at the end, on stderr: where this program's own time went");
    everywhere.value("--profile-self-trace", "FILE", &self_trace, "the same as a trace that Perfetto opens (JSON)");
    everywhere.flag("--force", force, "write into a directory that holds other files, too; they are left alone");
    const std::size_t at = find_command_name(arguments, everywhere);
    if (at == arguments.size()) {
      FATHOM_CHECK(parse_arguments(arguments, {}, everywhere, "fathom"));
      if (global.version) return show_version();
      (global.help ? out : err).write(overview(Terminal::of(global.help ? 1 : 2)));
      return global.help ? kDone : 2;
    }
    std::vector<std::string> rest(arguments.begin(), arguments.end());
    std::string name = rest[at];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    if (name == "help") {
      if (rest.empty()) {
        out.write(overview(Terminal::of(1)));
        return kDone;
      }
      name = rest.front();
      if (const std::string page = topic(name, Terminal::of(1)); !page.empty()) {
        out.write(page);
        return kDone;
      }
      rest = {"--help"};
    }
    const CommandEntry* entry = find_command(name);
    // A path instead of a command: people want to know what it is and what can be done with it.
    std::error_code ignored;
    if (entry == nullptr && std::filesystem::exists(name, ignored)) {
      entry = find_command("info");
      rest.insert(rest.begin(), {name, "--next"});
    }
    if (entry == nullptr) return unknown_command(name);
    return run_command(*entry, rest);
  }
};

}  // namespace

int run_program(std::span<const std::string> arguments, Output& out, Output& err) {
  Program program{.arguments = arguments, .out = out, .err = err, .global = {}, .everywhere = {}, .declared = {}};
  err.for_people(true);
  auto status = program.run();
  if (auto written = out.finish(); status.ok() && !written.ok()) status = std::move(written).error();
  // Of all that went wrong in any process one thing is said.
  if (auto failed = team().conclude(status.ok() ? nullptr : &status.error())) {
    status = *std::move(failed);
  } else if (!status.ok()) {
    status = kDone;
  }
  if (status.ok()) return *status;
  Session(program.global, out, err).show_error(status.error());
  return exit_status(status.error());
}

}  // namespace fathom::cli
