// fathom derive: a profile with metrics computed from others.
#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"

namespace fathom::cli {

namespace {

class DeriveCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile")
        .positional("OUT", output_.target, "the profile to write")
        .positionals("DEFINITION", definitions_, "'NAME = EXPR'", false)
        .values("--derive", "'NAME = EXPR'", definitions_, "the same as DEFINITION");
    output_.declare_format(options);
    options
        .about(
            "Expressions know metric names (quoted when they are no plain word), + - * / ^, comparisons, and, or, not, "
            "functions such as sqrt, min, max, and inclusive(m), exclusive(m), total(m), choose(condition, a, b). They "
            "are worked out on values that are summed up already, so that ratios stay ratios.")
        .example("fathom derive in.cubex out.cubex 'ipc = PAPI_TOT_INS / PAPI_TOT_CYC'", "a ratio of two counters")
        .example("fathom top in.cubex --derive 'per_call = time / visits' -m per_call", "the same without a file");
  }

  Result<int> run(Session& session) override {
    if (definitions_.empty()) return Error::usage("derive needs a definition: 'NAME = EXPR'");
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(ProfilePtr profile, dataset->profile());
    FATHOM_TRY(profile, with_all_derived(std::move(profile), definitions_));
    FATHOM_CHECK(output_.write(session, profile, &dataset->format()));
    return kDone;
  }

 private:
  std::string in_;
  std::vector<std::string> definitions_;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_derive_command() { return std::make_unique<DeriveCommand>(); }

}  // namespace fathom::cli
