// fathom convert: the same format again without loss, another format of the same level, or down the line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/reading_options.hpp"
#include "formats/registry.hpp"
#include "io/opened_files.hpp"
#include "io/output_set.hpp"
#include "query/parquet.hpp"
#include "report/table_files.hpp"

namespace fathom::cli {

namespace {

class ConvertCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("IN", in_, "a file or directory of any format")
        .positional("OUT", output_.target,
                    "what to write; its ending chooses the format unless --to does; without one it stays the same");
    output_.declare_format(options);
    reading_.declare(options);
    options.flag("--keep-values", keep_values_, "extra-p: save the single values, not only their statistics");
    options.value("--table", "T", &table_, "CSV, JSON, Parquet: only this table, as one file")
        .value("--partition", "COLUMN", &partition_, "Parquet: a folder per value of this column (location)");
    options.values("--derive", "'NAME = EXPR'", derive_, "add a metric computed from others (profiles)")
        .about(
            "To the format it is in a dataset is rewritten from its native records, nothing is lost. Between formats "
            "of a level everything is kept that both can say. OUT appears whole or not at all.")
        .example("fathom convert profile.cubex database --to hpctoolkit", "a profile as a HPCToolkit database")
        .example("fathom convert old.cube new.cubex", "Cube 3 to Cube 4")
        .example("fathom convert dumpi-2013.meta out.prv", "a trace for Paraver")
        .example("fathom convert run.meta out.parquet", "every table as a Parquet file, for other engines")
        .example("fathom convert run.cubex values.csv --table value", "one table as CSV; .json and .parquet as well")
        .example("fathom convert run.cubex run.pb.gz", "for pprof; .folded, .callgrind, .dot for other viewers")
        .example("fathom convert in.cubex out.cubex --compress", "the same profile with packed values")
        .example("fathom convert runs/ experiment.extra-p --keep-values", "a directory of runs as one experiment");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(reading_.apply(*session.work()));
    const auto form = text_tables();
    if (session.out().csv_safe() && form != RowForm::csv)
      return Error::usage("--csv-safe is for CSV: OUT.csv, --to csv");
    FATHOM_TRY(DatasetPtr dataset, session.open(in_));
    reading_.tell_unused(session, *dataset);
    const auto spare_input = [&] { return spare_inputs(output_.target); };
    if (output_.to == "parquet" || (output_.to.empty() && output_.target.ends_with(".parquet"))) {
      FATHOM_CHECK(spare_input());
      FATHOM_CHECK(query::write_parquet(std::move(dataset), output_.target,
                                        {.table = table_,
                                         .partition_by = partition_,
                                         .execution = Execution::current(),
                                         .max_memory = session.options().max_memory.value_or(0),
                                         .force = session.work()->options.flag(kForce)}));
      session.note(fmt::format("wrote {} (parquet)", output_.target));
      return kDone;
    }
    if (!partition_.empty()) return Error::usage("--partition is for Parquet");
    if (form) {
      FATHOM_CHECK(spare_input());
      FATHOM_CHECK(first_alone(session, "writing tables as text is"));
      FATHOM_CHECK(write_table_files(
          *dataset, *form, output_.target,
          {.table = table_, .force = session.work()->options.flag(kForce), .csv_safe = session.out().csv_safe()}));
      session.note(fmt::format("wrote {} ({})", output_.target, *form == RowForm::csv ? "csv" : "json"));
      return kDone;
    }
    if (!table_.empty()) return Error::usage("--table is for CSV, JSON and Parquet: OUT.csv, OUT.json, OUT.parquet");
    const std::vector<Level> levels = dataset->offered_levels();
    const Format& own = dataset->format();
    const Format* same = writes_one_of(own, levels) ? &own : nullptr;
    FATHOM_TRY(const Format* format, output_.format(same, levels, &own));
    if (format != &own) FATHOM_CHECK(spare_input());
    FATHOM_CHECK(split(session, *dataset, *format));
    if (!derive_.empty()) {
      FATHOM_TRY(ProfilePtr profile, dataset->profile());
      FATHOM_TRY(profile, with_all_derived(std::move(profile), derive_));
      FATHOM_CHECK(output_.write(session, profile, format));
      return kDone;
    }
    if (keep_values_) output_.options.emplace_back("keep-values=true");
    FATHOM_TRY(const WriteOptions how, output_.write_options(*format));
    if (format == &own) {
      FATHOM_TRY(const bool done, dataset->rewrite(output_.target, how));
      if (done) return wrote(session, *format);
    }
    FATHOM_CHECK(tell_lost_trace(session, *dataset, *format));
    FATHOM_CHECK(tell_lost_statistics(session, *dataset, *format));
    if (format->write == nullptr) return Error::usage(fmt::format("{} can be read but not written", format->name));
    FATHOM_CHECK(format->write(*dataset, output_.target, how));
    return wrote(session, *format);
  }

 private:
  // JSON is also the form of experiments: without a table it is theirs.
  [[nodiscard]] std::optional<RowForm> text_tables() const {
    const bool by_ending = output_.to.empty();
    if (output_.to == "csv" || (by_ending && output_.target.ends_with(".csv"))) return RowForm::csv;
    if (output_.to == "json" || (by_ending && !table_.empty() && output_.target.ends_with(".json"))) {
      return RowForm::json;
    }
    return std::nullopt;
  }

  // Several processes make a profile of a trace, or write the locations of a trace; the rest is the first one's.
  static Result<void> split(Session& session, Dataset& dataset, const Format& format) {
    const std::vector<Level> stored = dataset.levels();
    constexpr Level kTrace[] = {Level::trace};
    const auto has = [&](Level level) { return std::find(stored.begin(), stored.end(), level) != stored.end(); };
    const bool rewrites = &format == &dataset.format();
    if (rewrites && format.shared.rewrites) return {};
    if (!rewrites && has(Level::trace) && format.shared.writes_trace) return {};
    // Every process reads and writes profiles of its own.
    if (!rewrites && has(Level::profile) && reads_values_in_parts(dataset) && format.shared.writes_profile) return {};
    if (has(Level::trace) && !has(Level::profile) && !writes_one_of(format, kTrace)) {
      FATHOM_TRY(const auto profile, dataset.profile());
      return {};
    }
    return first_alone(session, fmt::format("writing {} is", format.name));
  }

  // A profile with a trace beside it is written as a profile.
  static Result<void> tell_lost_trace(Session& session, const Dataset& dataset, const Format& format) {
    const auto has = [](const std::vector<Level>& levels, Level level) {
      return std::find(levels.begin(), levels.end(), level) != levels.end();
    };
    const auto levels = dataset.levels();
    const std::vector<Level> written(format.can.writes.begin(), format.can.writes.end());
    if (!has(levels, Level::trace) || !has(levels, Level::profile)) return {};
    if (!has(written, Level::profile)) return {};
    if (!format.family.empty() && dataset.format().family == format.family) return {};
    return session.work()->diagnostics.lost(
        "convert.trace_left_out", Place::in(dataset.path().string()),
        fmt::format("the trace beside the profile is left out: {} holds {}", format.name,
                    has(written, Level::trace) ? "one of them" : "profiles only"));
  }

  // Columns of numbers over all locations, which no other format has a place for.
  static Result<void> tell_lost_statistics(Session& session, Dataset& dataset, const Format& format) {
    constexpr Level kProfile[] = {Level::profile};
    const auto levels = dataset.levels();
    if (std::find(levels.begin(), levels.end(), Level::profile) == levels.end()) return {};
    if (!writes_one_of(format, kProfile)) return {};
    FATHOM_TRY(const ProfilePtr profile, dataset.profile());
    if (!profile->statistics_are_columns || !profile->statistics) return {};
    FATHOM_TRY(const auto statistics, profile->statistics());
    std::set<std::string> names;
    for (const StoredStatistic& one : statistics) names.insert(profile->defs().metric(one.metric.metric).name);
    if (names.empty()) return {};
    return session.work()->diagnostics.add(
        "convert.statistics_left_out", Severity::data_loss, Place::in(dataset.path().string()),
        fmt::format("statistics over all locations have no place in {} (left out: {}; {} values)", format.name,
                    fmt::join(names, ", "), statistics.size()),
        names.size());
  }

  int wrote(Session& session, const Format& format) const {
    session.note(fmt::format("wrote {} ({})", output_.target, format.name));
    return kDone;
  }

  std::string in_;
  std::string table_;
  std::string partition_;
  std::vector<std::string> derive_;
  ReadingOptions reading_;
  bool keep_values_ = false;
  OutputArguments output_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace fathom::cli
