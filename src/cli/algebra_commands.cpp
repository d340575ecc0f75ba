// fathom merge, mean and cut: profiles made from profiles.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/algebra/algebra.hpp"

namespace fathom::cli {

namespace {

struct Opened {
  algebra::Inputs profiles;
  std::vector<DatasetPtr> datasets;
};

Result<Opened> open_all(Session& session, const std::vector<std::string>& paths,
                        const std::vector<std::string>& derive) {
  Opened out;
  for (const std::string& path : paths) {
    FATHOM_TRY(DatasetPtr dataset, session.open(path));
    FATHOM_TRY(ProfilePtr profile, dataset->profile());
    FATHOM_TRY(profile, with_all_derived(std::move(profile), derive));
    out.profiles.push_back(std::move(profile));
    out.datasets.push_back(std::move(dataset));
  }
  return out;
}

algebra::Options system_options(const std::string& name) {
  using algebra::SystemMatch;
  return {name == "reduce" ? SystemMatch::reduce : name == "collapse" ? SystemMatch::collapse : SystemMatch::strict};
}

void declare_system(Options& options, std::string& system) {
  options.choice("--system", system, {"strict", "reduce", "collapse"},
                 "how system trees are united: as they are, by their processes only, or all processes below one node");
}

class MergeCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("IN", in_, "profiles");
    output_.declare_target(options, "the profile to write");
    options.choice("--join", join_, {"metrics", "locations"},
                   "unite metrics, the last file wins a cell (default); or put the locations side by side");
    declare_system(options, system_);
    options.values("--derive", "'NAME = EXPR'", derive_, "add a metric to every input");
    output_.declare_format(options);
    options.example("fathom merge time.cubex counters.cubex -o all.cubex", "metrics of two runs in one profile")
        .example("fathom merge --join locations rank*.cubex -o job.cubex", "one profile of many ranks");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const Opened opened, open_all(session, in_, derive_));
    FATHOM_TRY(const ProfilePtr result, join_ == "locations"
                                            ? algebra::join_locations(opened.profiles)
                                            : algebra::merge(opened.profiles, system_options(system_)));
    FATHOM_CHECK(output_.write(session, result, &opened.datasets.front()->format()));
    return kDone;
  }

 private:
  std::vector<std::string> in_;
  std::vector<std::string> derive_;
  std::string join_ = "metrics";
  std::string system_ = "strict";
  OutputArguments output_;
};

class MeanCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("IN", in_, "profiles of repeated runs");
    output_.declare_target(options, "the profile to write");
    declare_system(options, system_);
    options.values("--derive", "'NAME = EXPR'", derive_, "add a metric to every input");
    output_.declare_format(options);
    options.example("fathom mean run1.cubex run2.cubex run3.cubex -o mean.cubex", "the average of three runs");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const Opened opened, open_all(session, in_, derive_));
    FATHOM_TRY(const ProfilePtr result, algebra::mean(opened.profiles, system_options(system_)));
    FATHOM_CHECK(output_.write(session, result, &opened.datasets.front()->format()));
    return kDone;
  }

 private:
  std::vector<std::string> in_;
  std::vector<std::string> derive_;
  std::string system_ = "strict";
  OutputArguments output_;
};

class CutCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile");
    output_.declare_target(options, "the profile to write");
    options.values("-r,--root", "REGION", cut_.roots, "contexts of this region become the roots; patterns; repeatable")
        .values("-p,--prune", "REGION", cut_.prune,
                "contexts of this region vanish with all below; their values go to the caller; patterns; repeatable")
        .values("--elide", "REGION", cut_.elide, "contexts of this region vanish, what they call stays; as --prune")
        .values("--fold", "REGION", cut_.fold, "what lies below contexts of this region vanishes; as --prune")
        .values("--collapse", "REGION", cut_.collapse,
                "recursive calls of this region, direct or not, become one with the outermost")
        .values("--derive", "'NAME = EXPR'", derive_, "add a metric first");
    output_.declare_format(options);
    options.example("fathom cut app.cubex -r solve -o solve.cubex", "only what happens in solve")
        .example("fathom cut app.cubex -p 'MPI_*' -o small.cubex", "count MPI as part of its callers")
        .example("fathom cut run.d --elide 'PMPI_*' --fold libc_start -o small.d",
                 "hide wrappers, close what is known");
  }

  Result<int> run(Session& session) override {
    if (cut_.roots.empty() && cut_.prune.empty() && cut_.elide.empty() && cut_.fold.empty() && cut_.collapse.empty()) {
      return Error::usage("cut needs -r, -p, --elide, --fold or --collapse with a REGION");
    }
    FATHOM_TRY(const Opened opened, open_all(session, {in_}, derive_));
    const ProfilePtr& profile = opened.profiles.front();
    for (const auto* patterns : {&cut_.roots, &cut_.prune, &cut_.elide, &cut_.fold, &cut_.collapse}) {
      FATHOM_CHECK(check_region_patterns(profile->defs(), *patterns));
    }
    FATHOM_TRY(const ProfilePtr result, algebra::cut(profile, cut_));
    FATHOM_CHECK(output_.write(session, result, &opened.datasets.front()->format()));
    return kDone;
  }

 private:
  std::string in_;
  std::vector<std::string> derive_;
  algebra::CutOptions cut_;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_merge_command() { return std::make_unique<MergeCommand>(); }
std::unique_ptr<Command> make_mean_command() { return std::make_unique<MeanCommand>(); }
std::unique_ptr<Command> make_cut_command() { return std::make_unique<CutCommand>(); }

}  // namespace fathom::cli
