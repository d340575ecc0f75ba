// fathom derive: a profile with metrics computed from others.
#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/algebra/reshape.hpp"

namespace fathom::cli {

namespace {

class DeriveCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile")
        .positional("OUT", output_.target, "the profile to write")
        .positionals("DEFINITION", definitions_, "'NAME = EXPR'", false)
        .values("--derive", "'NAME = EXPR'", definitions_, "the same as DEFINITION")
        .values("--cubepl", "'NAME = TEXT'", cubepl_, "a definition in CubePL")
        .choice("--kind", kind_, {"post", "exclusive", "inclusive"},
                "worked out on sums (post), or per cell as exclusive or inclusive values that are then summed")
        .value("--parent", "METRIC", &pattern_.parent, "the metric that the new ones go below")
        .value("--unit", "UNIT", &pattern_.unit, "the unit of the new ones")
        .flag("--store", store_,
              "store the values instead of the expression; without definitions those of all derived metrics of IN");
    output_.declare_format(options);
    options
        .about(
            "Expressions know metric names (quoted when they are no plain word), + - * / ^, comparisons, and, or, not, "
            "functions such as sqrt, min, max, and inclusive(m), exclusive(m), total(m), choose(condition, a, b); over "
            "the "
            "locations of a value count(m), lowest(m), highest(m), squares(m). They are worked out on values that are "
            "summed up already, so that ratios stay ratios.")
        .example("fathom derive in.cubex out.cubex 'ipc = PAPI_TOT_INS / PAPI_TOT_CYC'", "a ratio of two counters")
        .example("fathom derive in.cubex out.cubex --store", "derived metrics of the profile become stored ones")
        .example("fathom top in.cubex --derive 'per_call = time / visits' -m per_call", "the same without a file");
  }

  Result<int> run(Session& session) override {
    if (definitions_.empty() && cubepl_.empty() && !store_) {
      return Error::usage("derive needs a definition: 'NAME = EXPR'");
    }
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(ProfilePtr profile, dataset->profile());
    pattern_.derivation = kind_ == "exclusive"   ? Derivation::pre_exclusive
                          : kind_ == "inclusive" ? Derivation::pre_inclusive
                                                 : Derivation::post;
    const std::size_t before = profile->defs().metrics.size();
    FATHOM_TRY(profile, with_derived(profile, definitions_, pattern_));
    FATHOM_TRY(profile, with_all_cubepl(std::move(profile), cubepl_, pattern_));
    if (store_) {
      std::vector<MetricId> fresh;
      for (std::size_t i = before; i < profile->defs().metrics.size(); ++i) fresh.emplace_back(i);
      FATHOM_TRY(profile, algebra::materialise(profile, fresh));  // none: all
    }
    FATHOM_CHECK(output_.write(session, profile, &dataset->format()));
    return kDone;
  }

 private:
  std::string in_;
  std::vector<std::string> definitions_;
  std::vector<std::string> cubepl_;
  std::string kind_ = "post";
  DerivedMetric pattern_;
  bool store_ = false;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_derive_command() { return std::make_unique<DeriveCommand>(); }

}  // namespace fathom::cli
