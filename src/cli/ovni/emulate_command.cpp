// fathom emulate: an ovni trace through its models into Paraver views.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "formats/ovni/emulator.hpp"
#include "formats/paraver/view_writer.hpp"

namespace fathom::cli {

namespace {

class EmulateCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TRACE", trace_, "the directory of an ovni trace of any version; it is not written to")
        .value("-o,--output", "DIR", &target_, "where the views go: thread.prv, cpu.prv and their .pcf and .row")
        .flag("-b,--breakdown", options_.breakdown, "also views of what all CPUs do, sorted, per runtime")
        .flag("--linter", options_.lint, "also refuse traces that end inside a subsystem")
        .was("-l")
        .flag("-a,--all", options_.all_models, "enable all models, also those that no thread requires")
        .flag("--cfg", windows_, "also configuration files for Paraver in DIR/cfg: a window per view and type")
        .value("-c,--clock-offsets", "FILE", &offsets_,
               "table of clock offsets; without it the trace's own clock-offsets.txt, if there is one")
        .about(
            "Replays all threads in time order and follows the state of every thread, CPU, task and runtime. A trace "
            "that breaks the rules is refused with exit status 1: the message names stream, clock and event, and the "
            "views hold everything up to it.")
        .example("fathom emulate ovni/ -o views/", "then open views/thread.prv in Paraver")
        .example("fathom emulate ovni/ -o views/ -b --linter", "with breakdowns, and strict about the end");
  }

  Result<int> run(Session& session) override {
    if (target_.empty()) return Error::usage("emulate needs -o DIR").hint("the trace itself is never written to");
    std::error_code status;
    if (!std::filesystem::exists(trace_, status)) return Error("does not exist", Place::in(trace_));
    if (!offsets_.empty()) options_.offsets = offsets_;
    auto native = ovni::open_native(trace_, session.work());
    if (!native.ok()) return std::move(native).error().as(ErrorKind::refused);
    if (std::filesystem::equivalent(native->root, target_, status)) {
      return Error::usage("the views cannot be written into the trace itself");
    }
    paraver::ViewWriter writer(target_, windows_);
    FATHOM_CHECK(ovni::emulate(*native, options_, writer, session.work()));
    session.note(fmt::format("views written to {}", target_));
    return kDone;
  }

 private:
  std::string trace_;
  std::string target_;
  std::string offsets_;
  bool windows_ = false;
  ovni::EmulationOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_emulate_command() { return std::make_unique<EmulateCommand>(); }

}  // namespace fathom::cli
