#include "formats/nsight/nsight_format.hpp"

#include <fmt/format.h>

#include "base/progress.hpp"
#include "base/visible.hpp"
#include "experiment/builder.hpp"
#include "experiment/unit.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/nsight/measurements.hpp"
#include "formats/nsight/nsight_trace.hpp"
#include "formats/reading_options.hpp"
#include "formats/sound_runs.hpp"
#include "io/file.hpp"

namespace fathom::nsight {
namespace {

// The version of Nsight Systems that wrote the export.
std::string version_of(const Database& database) {
  std::string version;
  for (const char* table : {"EXPORT_META_DATA", "META_DATA_EXPORT"}) {  // until 2022, and since
    (void)database.rows(table, {"name", "value"}, [&](const Row& row) -> Result<void> {
      if (row.text(0) == "EXPORT_PRODUCT_VERSION" || (version.empty() && row.text(0) == "EXPORT_SCHEMA_VERSION")) {
        version = row.text(1);
      }
      return {};
    });
  }
  return version;
}

void add(ExperimentBuilder& builder, std::uint32_t point, std::vector<Measured>& values) {
  for (Measured& m : values) {
    const auto callpath = builder.callpath(m.callpath);
    Tags& tags = builder.callpath_tags(callpath);
    for (auto& tag : m.tags) {
      if (find_tag(tags, tag.first) == nullptr) tags.push_back(std::move(tag));
    }
    const auto metric = builder.metric(m.metric);
    set_unit(builder.metric_tags(metric), m.metric == "time" ? "s" : "bytes");
    builder.add(callpath, metric, point, std::span(&m.value, 1));
  }
}

constexpr Option<bool> kCountOnce{"count-gpu-calls-once", "",
                                  "count each call once, where Extra-P counts some again and leaves others out"};

bool count_once(const Work& work) { return work->options.flag(kCountOnce); }

Result<void> tell_left_out(std::uint64_t count, const std::string& file, const Work& work) {
  if (count == 0) return {};
  return work->diagnostics.add("nsight.calls_left_out", Severity::info, Place::in(file),
                               "a call of the CUDA API outside of all marked ranges, or for which the GPU did nothing, "
                               "is in no call path, as in "
                               "Extra-P (--count-gpu-calls-once counts those inside of ranges)",
                               count);
}

class NsightDataset final : public ExperimentDataset {
 public:
  NsightDataset(std::filesystem::path path, Work work, Database database)
      : ExperimentDataset(nsight::format(), std::move(path), std::move(work), nullptr, version_of(database)),
        database_(std::move(database)) {
    use_as_it_is();
  }

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::experiment, Level::trace}; }
  Result<std::shared_ptr<const Trace>> trace() override {
    if (trace_) return trace_;
    FATHOM_TRY(trace_, NsightTrace::read(database_, work()));
    return trace_;
  }

  // Every table with its columns and rows, as `sqlite3 -header` lists them.
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override {
    for (const std::string& table : database_.tables()) {
      if (!options.sections.empty() &&
          std::find(options.sections.begin(), options.sections.end(), table) == options.sections.end()) {
        continue;
      }
      FATHOM_TRY(const auto columns, database_.columns(table));
      bool reading =
          sink(fmt::format("# {}\n{}\n", visible(table), visible(fmt::format("{}", fmt::join(columns, "|")))));
      std::string line;
      FATHOM_CHECK(database_.rows(table, columns, [&](const Row& row) -> Result<void> {
        if (!reading) return {};
        line.clear();
        for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
          if (c > 0) line += '|';
          line += row.text(c);
        }
        reading = sink(visible(line) + "\n");
        return {};
      }));
      if (!reading) break;
    }
    return {};
  }

  Result<void> check() override {
    FATHOM_CHECK(load());
    FATHOM_TRY(const auto defects, database_.defects());
    for (const std::string& defect : defects) {
      FATHOM_CHECK(work()->diagnostics.lost("nsight.damaged", Place::in(path().string()), defect));
    }
    return {};
  }

 protected:
  // One file alone is an experiment of one point.
  Result<ExperimentPtr> make_experiment() override {
    FATHOM_TRY(const Report report, read_report(database_, work()));
    auto measured = measure(report, count_once(work()));
    FATHOM_CHECK(tell_left_out(measured.left_out, path().string(), work()));
    ExperimentBuilder builder(path().string(), work(), ExperimentBuilder::Repeats::collect);
    builder.parameter("run");
    add(builder, builder.point(std::vector<double>{1}), measured.values);
    FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
    return experiment;
  }

 private:
  Database database_;
  std::shared_ptr<const Trace> trace_;
};

Match recognise(const Source& source) {
  if (source.is_directory() || !is_sqlite(source.blob())) return {};
  const auto database = Database::open(source.blob(), make_work());
  if (!database) return {Confidence::maybe, "a SQLite database that cannot be read"};
  if (!is_report(*database)) return {Confidence::maybe, "a SQLite database, but without tables of Nsight Systems"};
  return {Confidence::certain, "a SQLite database with tables of Nsight Systems"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) return Error("is a directory; a directory of runs has the format 'runs'");
  FATHOM_TRY(Database database, Database::open(source.blob(), work));
  FATHOM_CHECK(must_be_report(database));
  return DatasetPtr(std::make_unique<NsightDataset>(source.path(), work, std::move(database)));
}

Result<ExperimentPtr> collect(const std::string& name, const std::vector<std::string>& parameters,
                              const std::vector<RunFile>& runs, Scaling, const Work& work) {
  std::vector<Measurements> values(runs.size());
  Progress progress("reading databases", runs.size());
  const auto read = [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(const Blob blob, open_file(runs[i].path, work));
    FATHOM_TRY(const Database database, Database::open(blob, work));
    FATHOM_TRY(const Report report, read_report(database, work));
    values[i] = measure(report, count_once(work));
    progress.advance();
    return {};
  };
  FATHOM_TRY(const std::vector<std::size_t> sound, read_sound_runs(runs, name, work, read));
  ExperimentBuilder builder(name, work, ExperimentBuilder::Repeats::collect);
  for (const std::string& p : parameters) builder.parameter(p);
  std::uint64_t left_out = 0;
  for (const std::size_t i : sound) {
    add(builder, builder.point(runs[i].point), values[i].values);
    left_out += values[i].left_out;
  }
  FATHOM_CHECK(tell_left_out(left_out, name, work));
  FATHOM_CHECK(builder.status());
  if (!work->options.flag(kAllowIncomplete)) FATHOM_CHECK(builder.leave_out_incomplete(work));
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

}  // namespace

const Format& format() {
  static const Format kFormat = {.name = "nsight",
                                 .title = "Nsight Systems database",
                                 .extensions = ".sqlite",
                                 .can = {{Level::experiment, Level::trace}, {}},
                                 .recognise = recognise,
                                 .open = open,
                                 .collect = collect,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy, &kCountOnce}}};
  return kFormat;
}

}  // namespace fathom::nsight
