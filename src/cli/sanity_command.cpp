// fathom sanity: does a measurement make sense.
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "io/file.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::cli {

namespace {

class SanityCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a profile")
        .values("--skip", "CHECK", skip_, "leave out a check: names, files, lines, tracing or values; repeatable")
        .value("--excluded", "FILE", &excluded_, "a measurement filter: regions that it leaves out are not judged")
        .flag("--list", list_, "name all that is wrong, not only the first of each check")
        .about(
            "Whether a measurement makes sense: names, files and lines of regions, values below zero. Exit status 1 "
            "when a check fails. Whether the file itself is sound is the business of check.")
        .example("fathom sanity app.cubex", "one line per check")
        .example("fathom sanity app.cubex --skip lines --list", "every region that lacks a name or a file");
  }
  Result<int> run(Session& session) override {
    FATHOM_TRY(const ProfilePtr profile, session.open_profile(path_));
    inspect::SanityOptions options;
    FATHOM_TRY(options.skip, inspect::sanity_checks(skip_));
    if (list_) options.most_listed = kMostListed;
    if (excluded_) {
      FATHOM_TRY(const Blob filter, open_file(*excluded_, profile->work));
      options.excluded = inspect::excluded_by(profile->defs(), filter.text());
    }
    FATHOM_TRY(const auto checks, inspect::sanity(*profile, options));
    TableBuilder table({"checks",
                        {{"check", ColumnType::text},
                         {"good", ColumnType::uint64},
                         {"total", ColumnType::uint64},
                         {"result", ColumnType::text},
                         {"first", ColumnType::text}}});
    TableBuilder all({"checks", {{"check", ColumnType::text}, {"wrong", ColumnType::text}}});
    bool good = true;
    for (const inspect::SanityCheck& check : checks) {
      const bool passed = check.good == check.total;
      good = good && passed;
      table.row(check.title, check.good, check.total, passed ? "ok" : "failed",
                check.bad.empty() ? std::string_view() : std::string_view(check.bad.front()));
      for (const std::string& what : check.bad) all.row(check.title, what);
    }
    session.show_table(std::move(list_ ? all : table).finish(), "checks");
    return good ? kDone : kRefused;
  }

 private:
  static constexpr std::size_t kMostListed = 10'000;

  std::string path_;
  std::vector<std::string> skip_;
  std::optional<std::string> excluded_;
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sanity_command() { return std::make_unique<SanityCommand>(); }

}  // namespace fathom::cli
