// fathom dump: the native records as text.
#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/reading_options.hpp"
#include "cli/session.hpp"

namespace fathom::cli {

namespace {

class DumpCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a file or directory of any format")
        .flag("-x,--raw", options_.raw, "raw payloads (ovni)")
        .flag("--old", options_.old, "the form of earlier versions (ovni)")
        .values("--section", "S", options_.sections, "only this section; which there are depends on the format");
    reading_.declare(options);
    options.about("Each format prints its records in the spelling that its own community uses.")
        .example("fathom dump dumpi-2013.09.26-0000.bin", "all calls of one rank as text")
        .example("fathom dump ovni/ -x", "events of an ovni trace with raw payloads");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(reading_.apply(*session.work()));
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    reading_.tell_unused(session, *dataset);
    Output& out = session.out();
    FATHOM_CHECK(dataset->dump(options_, [&](std::string_view text) {
      // A dump has no colours of its own.
      const bool coloured = text.find('\x1b') != std::string_view::npos;
      out.write(coloured ? visible_lines(text, false) : text);
      return !out.closed();
    }));
    return kDone;
  }

 private:
  std::string path_;
  DumpOptions options_;
  ReadingOptions reading_;
};

}  // namespace

std::unique_ptr<Command> make_dump_command() { return std::make_unique<DumpCommand>(); }

}  // namespace fathom::cli
