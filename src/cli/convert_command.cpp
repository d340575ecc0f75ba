// fathom convert: the same format again without loss, another format of the same level, or down the line.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/experiment_options.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "formats/registry.hpp"
#include "query/parquet.hpp"

namespace fathom::cli {

namespace {

class ConvertCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a file or directory of any format")
        .positional("OUT", output_.target,
                    "what to write; its ending chooses the format unless --to does; without one it stays the same");
    output_.declare_format(options);
    declare_experiment_options(options, reading_);
    declare_keep_values(options, reading_);
    options.value("--table", "T", &table_, "Parquet: only this table, as one file")
        .value("--partition", "COLUMN", &partition_, "Parquet: a folder per value of this column (location)");
    options.values("--derive", "'NAME = EXPR'", derive_, "add a metric computed from others (profiles)")
        .about(
            "To the format it is in a dataset is rewritten from its native records, nothing is lost. Between formats "
            "of a level everything is kept that both can say. OUT appears whole or not at all.")
        .example("fathom convert profile.cubex database --to hpctoolkit", "a profile as a HPCToolkit database")
        .example("fathom convert old.cube new.cubex", "Cube 3 to Cube 4")
        .example("fathom convert dumpi-2013.meta out.prv", "a trace for Paraver")
        .example("fathom convert run.meta out.parquet", "every table as a Parquet file, for other engines")
        .example("fathom convert in.cubex out.cubex --compress", "the same profile with packed values")
        .example("fathom convert runs/ experiment.extra-p --keep-values", "a directory of runs as one experiment");
  }

  Result<int> run(Session& session) override {
    apply_experiment_options(reading_, *session.work());
    FATHOM_TRY(DatasetPtr dataset, session.open(in_));
    if (output_.to == "parquet" || (output_.to.empty() && output_.target.ends_with(".parquet"))) {
      FATHOM_CHECK(query::write_parquet(std::move(dataset), output_.target,
                                        {.table = table_,
                                         .partition_by = partition_,
                                         .execution = Execution::current(),
                                         .max_memory = session.options().max_memory.value_or(0),
                                         .force = session.work()->flag("force")}));
      session.note(fmt::format("wrote {} (parquet)", output_.target));
      return kDone;
    }
    if (!table_.empty() || !partition_.empty()) return Error::usage("--table and --partition are for Parquet");
    const std::vector<Level> levels = dataset->offered_levels();
    const Format& own = dataset->format();
    const Format* same = writes_one_of(own, levels) ? &own : nullptr;
    FATHOM_TRY(const Format* format, output_.format(same, levels, &own));
    if (!derive_.empty()) {
      FATHOM_TRY(ProfilePtr profile, dataset->profile());
      FATHOM_TRY(profile, with_all_derived(std::move(profile), derive_));
      FATHOM_CHECK(output_.write(session, profile, format));
      return kDone;
    }
    FATHOM_TRY(const WriteOptions how, output_.write_options());
    if (format == &own) {
      FATHOM_TRY(const bool done, dataset->rewrite(output_.target, how));
      if (done) return wrote(session, *format);
    }
    if (format->write == nullptr) return Error::usage(fmt::format("{} can be read but not written", format->name));
    FATHOM_CHECK(format->write(*dataset, output_.target, how));
    return wrote(session, *format);
  }

 private:
  int wrote(Session& session, const Format& format) const {
    session.note(fmt::format("wrote {} ({})", output_.target, format.name));
    return kDone;
  }

  std::string in_;
  std::string table_;
  std::string partition_;
  std::vector<std::string> derive_;
  ExperimentOptions reading_;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace fathom::cli
