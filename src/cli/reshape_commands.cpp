// fathom clean, canonize, exclusify, inclusify, common and part: one profile in another shape.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/algebra/reshape.hpp"

namespace fathom::cli {

namespace {

// IN -o OUT around one operation.
class ReshapeCommand : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a profile");
    output_.declare_target(options, "the profile to write");
    declare_more(options);
    output_.declare_format(options);
  }
  Result<int> run(Session& session) override {
    FATHOM_TRY(const DatasetPtr dataset, session.open(in_));
    FATHOM_TRY(const ProfilePtr profile, dataset->profile());
    FATHOM_TRY(const ProfilePtr result, work(profile));
    FATHOM_CHECK(output_.write(session, result, &dataset->format()));
    return kDone;
  }

 protected:
  virtual void declare_more(Options& options) = 0;
  virtual Result<ProfilePtr> work(const ProfilePtr& profile) = 0;

 private:
  std::string in_;
  OutputArguments output_;
};

class CleanCommand final : public ReshapeCommand {
  void declare_more(Options& options) override {
    options.example("fathom clean app.cubex -o small.cubex", "without regions that nothing calls");
  }
  Result<ProfilePtr> work(const ProfilePtr& profile) override { return algebra::clean(profile); }
};

template <Scope scope>
class StoreAsCommand final : public ReshapeCommand {
  void declare_more(Options& options) override {
    constexpr const char* kName = scope == Scope::exclusive ? "exclusify" : "inclusify";
    options.about("Values stay the same; only which of them are stored changes.")
        .example(std::string("fathom ") + kName + " app.cubex -o out.cubex", "every metric in one flavour");
  }
  Result<ProfilePtr> work(const ProfilePtr& profile) override { return algebra::store_as(profile, scope); }
};

class CanonizeCommand final : public ReshapeCommand {
  void declare_more(Options& options) override {
    options.flag("-p,--plain-names", options_.plain_names, "cut names at '(' and drop return types")
        .value("--max-length", "N", &max_length_, "cut names to N characters")
        .flag("-c,--lower-case", options_.lower_case, "names in lower case")
        .flag("-f,--drop-files", options_.drop_files, "forget file names")
        .flag("--drop-lines", options_.drop_lines, "forget line numbers")
        .was("-l")
        .example("fathom canonize -c -f --drop-lines app.cubex -o plain.cubex", "comparable across compilers");
  }
  Result<ProfilePtr> work(const ProfilePtr& profile) override {
    options_.max_length = max_length_;
    return algebra::canonize(profile, options_);
  }
  algebra::CanonizeOptions options_;
  std::optional<std::uint64_t> max_length_;
};

class PartCommand final : public ReshapeCommand {
  void declare_more(Options& options) override {
    options.value("-R,--ranks", "LIST", &ranks_, "ranks to keep: 0-3,7,13-")
        .flag("-I,--invert", invert_, "keep all others instead")
        .example("fathom part app.cubex -R 0-3 -o first.cubex", "the other ranks' values become 0");
  }
  Result<ProfilePtr> work(const ProfilePtr& profile) override {
    if (ranks_.empty()) return Error::usage("part needs --ranks");
    FATHOM_TRY(const auto ranks, algebra::parse_ranks(ranks_));
    return algebra::partition(profile, ranks, invert_);
  }
  std::string ranks_;
  bool invert_ = false;
};

class CommonCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("IN", in_, "profiles")
        .value("-o,--output", "DIR", &folder_, "write into this folder instead of beside the inputs")
        .value("--suffix", "TEXT", &suffix_, "of the files written beside the inputs; default: _commoncalltree")
        .flag("--keep-lost", keep_lost_, "add exclusive values of lost call paths to their callers")
        .about("Writes each profile with only the call paths that all of them have, as NAME_commoncalltree beside it.")
        .example("fathom common a.cubex b.cubex", "a_commoncalltree.cubex and b_commoncalltree.cubex");
  }
  Result<int> run(Session& session) override {
    algebra::Inputs inputs;
    std::vector<DatasetPtr> datasets;
    for (const std::string& path : in_) {
      FATHOM_TRY(DatasetPtr dataset, session.open(path));
      FATHOM_TRY(ProfilePtr profile, dataset->profile());
      inputs.push_back(std::move(profile));
      datasets.push_back(std::move(dataset));
    }
    FATHOM_TRY(const auto results, algebra::common_call_tree(inputs, keep_lost_));
    std::vector<std::string> targets;
    for (const std::string& path : in_) {
      std::filesystem::path target = path;
      target.replace_filename(target.stem().string() + suffix_ + target.extension().string());
      if (!folder_.empty()) target = std::filesystem::path(folder_) / target.filename();
      if (std::find(targets.begin(), targets.end(), target.string()) != targets.end()) {
        return Error::usage(fmt::format("two results would be called '{}'", target.string()));
      }
      targets.push_back(target.string());
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      OutputArguments output;
      output.target = targets[i];
      FATHOM_CHECK(output.write(session, results[i], &datasets[i]->format()));
    }
    return kDone;
  }

 private:
  std::vector<std::string> in_;
  std::string folder_;
  std::string suffix_ = "_commoncalltree";
  bool keep_lost_ = false;
};

}  // namespace

std::unique_ptr<Command> make_clean_command() { return std::make_unique<CleanCommand>(); }
std::unique_ptr<Command> make_canonize_command() { return std::make_unique<CanonizeCommand>(); }
std::unique_ptr<Command> make_exclusify_command() { return std::make_unique<StoreAsCommand<Scope::exclusive>>(); }
std::unique_ptr<Command> make_inclusify_command() { return std::make_unique<StoreAsCommand<Scope::inclusive>>(); }
std::unique_ptr<Command> make_part_command() { return std::make_unique<PartCommand>(); }
std::unique_ptr<Command> make_common_command() { return std::make_unique<CommonCommand>(); }

}  // namespace fathom::cli
