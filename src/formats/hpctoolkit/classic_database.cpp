#include "formats/hpctoolkit/classic_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <limits>
#include <map>
#include <unordered_set>

#include "base/text.hpp"
#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/dump.hpp"
#include "formats/hpctoolkit/xml_tree.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"
#include "trace/samples.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint64_t kNanosecond = 1'000'000'000;

// A value that stands in the XML.
struct ColumnValue {
  MetricId metric;
  ContextId context;  // invalid: of the root above all
  double value = 0;
};

struct Named {
  std::string base;
  bool exclusive;
};
Named scope_in_name(const std::string& name, const std::string& type) {
  const auto [base, scope] = without_scope(name);
  return {base, (scope.empty() ? type : scope) == "exclusive"};
}

}  // namespace

Result<std::unique_ptr<ClassicDatabase>> ClassicDatabase::open(const Format& format,
                                                               const std::filesystem::path& directory, const Blob& xml,
                                                               const Work& work) {
  std::unique_ptr<ClassicDatabase> database(new ClassicDatabase(format, directory, work));
  FATHOM_CHECK(database->load(xml));
  return database;
}

Result<std::vector<StreamFile>> ClassicDatabase::find_streams(const std::string& merged,
                                                              const std::string& pattern) const {
  std::error_code status;
  if (!merged.empty() && std::filesystem::exists(path() / merged, status)) {
    FATHOM_TRY(const Blob blob, open_file(path() / merged, work()));
    auto files = merged_files(blob, work());
    if (files || files.error().kind() == ErrorKind::refused) return files;
    FATHOM_CHECK(
        work()->diagnostics.lost("hpctoolkit.merged_file", files.error().place(), files.error().what() + "; left out"));
    return std::vector<StreamFile>();
  }
  return stream_files(path(), pattern, work());
}

// One location per file: rank and thread become process and thread. Processes of the same rank, as a fork makes them,
// stay apart by their process ids.
LocationId ClassicDatabase::location_for(SystemTree& system, const StreamFile& file, std::size_t position) {
  const auto part = [&](const std::string& key, SystemNode node) {
    const auto [found, added] = parts_.try_emplace(key);
    if (added) found->second = system.add(std::move(node));
    return found->second;
  };
  SystemNode host;
  host.type = "node";
  host.name = file.host.empty() ? "node" : "node " + file.host;
  const std::string host_key = file.host;
  SystemNode process;
  process.parent = part(host_key, std::move(host));
  process.kind = SystemKind::group;
  process.type = "process";
  process.name = fmt::format("RANK {}", file.process.value_or(0));
  process.rank = file.process;
  process.file_id = static_cast<std::uint64_t>(file.process.value_or(0));
  const std::string rank_key = host_key + "/" + process.name;
  const std::string process_key = rank_key + "/" + file.pid;
  if (!parts_.contains(process_key) && !file.pid.empty() && !ranks_.insert(rank_key).second) {
    process.name += " PID " + file.pid;
  }
  constexpr std::int64_t kFirstGpuStream = 500;
  SystemNode location;
  location.parent = part(process_key, std::move(process));
  const std::int64_t thread = file.thread.value_or(static_cast<std::int64_t>(position));
  const bool gpu = thread >= kFirstGpuStream;
  location.type = gpu ? "gpu stream" : "thread";
  location.name = gpu ? fmt::format("GPUSTREAM {}", thread - kFirstGpuStream) : fmt::format("THREAD {}", thread);
  location.rank = gpu ? thread - kFirstGpuStream : thread;
  location.file_id = position;
  return system.add_location(std::move(location));
}

// The patterns of the files per thread; most databases have one.
std::vector<std::string> ClassicDatabase::patterns_of(const ExperimentXml& xml) {
  std::vector<std::string> patterns;
  for (const XmlMetricDb& column : xml.metric_dbs) {
    const std::string pattern = column.glob.empty() ? "*.metric-db" : column.glob;
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  }
  return patterns;
}

Result<void> ClassicDatabase::load_metric_files(const ExperimentXml& xml) {
  const auto patterns = patterns_of(xml);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    FATHOM_TRY(const auto files, find_streams(fmt::format("experiment-{}.mdb", i + 1), patterns[i]));
    streams_.insert(streams_.end(), files.begin(), files.end());
    group_.resize(streams_.size(), i);
  }
  for (const StreamFile& stream : streams_) {
    auto table = MetricDbFile::read(stream.content, work());
    if (!table) {
      if (table.error().kind() == ErrorKind::refused) return std::move(table).error();
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.metric_db", table.error().place(),
                                            table.error().what() + "; its values are left out"));
      table = MetricDbFile{};
    }
    location_for(mapping_.definitions->system, stream, tables_.size());
    tables_.push_back(*table);
  }
  return {};
}

// Metrics of the files per thread, and where their columns are.
TableColumns ClassicDatabase::map_tables(const ExperimentXml& xml) {
  constexpr std::uint32_t kNoColumn = 0xFFFFFFFF;
  const auto patterns = patterns_of(xml);
  TableColumns columns;
  for (const XmlMetricDb& column : xml.metric_dbs) {
    const auto [name, exclusive] = scope_in_name(column.name, column.scope);
    MetricId id = mapping_.definitions->find_metric(name);
    if (!id.valid()) {
      Metric metric;
      metric.name = metric.display_name = name;
      metric.unit = unit_in_name(name);
      metric.file_id = static_cast<std::uint64_t>(column.id);
      id = MetricId(mapping_.definitions->metrics.size());
      mapping_.definitions->metrics.push_back(std::move(metric));
      columns.emplace_back();
    }
    Metric& metric = mapping_.definitions->metrics[id.index()];
    const StoredScope scope{exclusive ? Scope::exclusive : Scope::inclusive, exclusive ? "exclusive" : "inclusive"};
    int stored = metric.stored_as(scope.scope);
    if (stored < 0) {
      stored = static_cast<int>(metric.scopes.size());
      metric.scopes.push_back(scope);
      columns[id.index()].emplace_back(patterns.size(), kNoColumn);
    }
    const std::string pattern = column.glob.empty() ? "*.metric-db" : column.glob;
    const auto group =
        static_cast<std::size_t>(std::find(patterns.begin(), patterns.end(), pattern) - patterns.begin());
    columns[id.index()][static_cast<std::size_t>(stored)][group] = column.column;
  }
  return columns;
}

// Elements, values and files that lead nowhere.
Result<void> ClassicDatabase::tell_what_has_no_place(const ExperimentXml& xml,
                                                     const std::vector<ContextId>& contexts) const {
  const Place place = Place::in(xml.file_name);
  const auto tell = [&](const char* id, std::uint64_t count, const char* text) -> Result<void> {
    if (count == 0) return {};
    return work()->diagnostics.add(id, Severity::data_loss, place, text, count);
  };
  std::uint64_t nameless = 0;
  for (const ContextId context : contexts) nameless += context.valid() ? 0U : 1U;
  FATHOM_CHECK(tell("hpctoolkit.context_id", nameless,
                    "an element has no id of its own; it and its values are left out, what lies below it is not"));
  std::unordered_set<std::int64_t> known;
  for (const XmlMetric& metric : xml.metrics) known.insert(metric.id);
  std::uint64_t of_nothing = 0;
  for (const XmlValue& value : xml.values) of_nothing += known.contains(value.metric) ? 0U : 1U;
  FATHOM_CHECK(tell("hpctoolkit.xml_value", of_nothing, "a value of a metric that no table has; left out"));
  // Rows are contexts; the first one is the root above all.
  std::uint64_t most = 1;
  for (const MetricDbFile& table : tables_) most = std::max<std::uint64_t>(most, table.rows);
  TreeRows rows{std::vector<bool>(most), 1};
  rows.in_tree[0] = true;
  for (std::size_t i = 0; i < mapping_.definitions->contexts.size(); ++i) {
    const std::uint64_t row = mapping_.definitions->contexts[ContextId(i)].file_id - 1;
    if (row < most) rows.in_tree[row] = true;
    rows.needed = std::max(rows.needed, row + 1);
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) FATHOM_CHECK(tell_of_table(xml, i, rows));
  return tell_of_unnamed_files();
}

Result<void> ClassicDatabase::tell_of_table(const ExperimentXml& xml, std::size_t table, const TreeRows& rows) const {
  const MetricDbFile& file = tables_[table];
  if (file.rows == 0 || file.columns == 0) return {};
  const Place place = streams_[table].content.place();
  const std::string pattern = patterns_of(xml)[group_[table]];
  std::vector<bool> named(file.columns);
  std::uint32_t most = 0;
  for (const XmlMetricDb& column : xml.metric_dbs) {
    if ((column.glob.empty() ? "*.metric-db" : column.glob) != pattern) continue;
    most = std::max(most, column.column + 1);
    if (column.column < file.columns) named[column.column] = true;
  }
  if (most > file.columns) {
    FATHOM_CHECK(work()->diagnostics.lost(
        "hpctoolkit.metric_db", place,
        fmt::format("has {} columns where experiment.xml names {}; the others count as zero", file.columns, most)));
  }
  if (file.rows < rows.needed) {
    FATHOM_CHECK(work()->diagnostics.lost(
        "hpctoolkit.metric_db", place,
        fmt::format("has {} rows where the tree needs {}; the others count as zero", file.rows, rows.needed)));
  }
  std::uint64_t in_columns = 0;
  std::uint64_t in_rows = 0;
  const bool all_named = std::find(named.begin(), named.end(), false) == named.end();
  for (std::uint32_t row = 0; row < file.rows; ++row) {
    const bool in_tree = rows.in_tree[row];
    if (in_tree && all_named) continue;
    for (std::uint32_t column = 0; column < file.columns; ++column) {
      if ((in_tree && named[column]) || file.at(row, column) == 0) continue;
      ++(in_tree ? in_columns : in_rows);
    }
  }
  if (in_columns > 0) {
    FATHOM_CHECK(work()->diagnostics.add("hpctoolkit.metric_db", Severity::data_loss, place,
                                         "a value in a column that experiment.xml does not name; left out",
                                         in_columns));
  }
  if (in_rows == 0) return {};
  return work()->diagnostics.add("hpctoolkit.metric_db", Severity::data_loss, place,
                                 "a value in a row whose context is not in the tree; left out", in_rows);
}

// Merged files hold what was in the single ones.
Result<void> ClassicDatabase::tell_of_unnamed_files() const {
  FATHOM_TRY(const auto entries, list_directory(path()));
  std::unordered_set<std::string> read;
  for (const StreamFile& stream : streams_) read.insert(std::filesystem::path(stream.content.name()).filename());
  std::uint64_t count = 0;
  for (const auto& entry : entries) {
    if (entry.extension() == ".mdb") return {};
    if (entry.extension() == ".metric-db" && !read.contains(entry.filename())) ++count;
  }
  if (count == 0) return {};
  return work()->diagnostics.add("hpctoolkit.metric_db", Severity::data_loss, Place::in(path().string()),
                                 "a file of metric values that experiment.xml does not name; left out", count);
}

// Columns of the XML are metrics of their own: what the file shows, summed over threads and rounded.
Result<void> ClassicDatabase::map_columns(const ExperimentXml& xml, const std::vector<ContextId>& contexts,
                                          TableColumns columns) {
  Definitions& defs = *mapping_.definitions;
  declared_ = defs.metrics.size() + xml.metrics.size();
  std::unordered_set<std::int64_t> with_values;
  for (const XmlValue& value : xml.values) with_values.insert(value.metric);
  std::unordered_map<std::int64_t, MetricId> column_of;
  std::vector<std::pair<MetricId, const XmlMetric*>> described;
  for (const XmlMetric& native : xml.metrics) {
    // What is only defined by a formula becomes a derived metric.
    const bool defined = std::any_of(native.formulas.begin(), native.formulas.end(),
                                     [](const XmlFormula& formula) { return formula.type == "view"; });
    if (defined && !with_values.contains(native.id)) continue;
    Metric metric;
    metric.name = metric.display_name = native.name;
    while (defs.find_metric(metric.name).valid()) metric.name += '\'';
    metric.description = native.description;
    metric.unit = unit_in_name(scope_in_name(native.name, native.scope).base);
    metric.file_id = static_cast<std::uint64_t>(native.id);
    present(metric, {&native});
    column_of.try_emplace(native.id, MetricId(defs.metrics.size()));
    described.emplace_back(MetricId(defs.metrics.size()), &native);
    defs.metrics.push_back(std::move(metric));
  }
  auto cells = std::make_shared<std::vector<ColumnValue>>();
  for (const XmlValue& value : xml.values) {
    const auto column = column_of.find(value.metric);
    if (column == column_of.end()) continue;
    const bool root = value.element == 0xFFFFFFFF;
    if (!root && !contexts[value.element].valid()) continue;
    if (value.value == DBL_MIN || value.value == 2.22507e-308) continue;  // a minimum that was never set
    cells->push_back({column->second, root ? ContextId() : contexts[value.element], value.value});
  }
  std::stable_sort(cells->begin(), cells->end(), [](const ColumnValue& a, const ColumnValue& b) {
    return std::pair(a.metric, a.context) < std::pair(b.metric, b.context);
  });
  const auto same_cell = [](const ColumnValue& a, const ColumnValue& b) {
    return a.metric == b.metric && a.context == b.context;
  };
  const auto again = std::unique(cells->begin(), cells->end(), same_cell);
  if (const auto twice = static_cast<std::uint64_t>(cells->end() - again); twice > 0) {
    cells->erase(again, cells->end());
    FATHOM_CHECK(work()->diagnostics.add("hpctoolkit.xml_value", Severity::data_loss, Place::in(xml.file_name),
                                         "an element has two values of one metric; the first one counts", twice));
  }
  auto profile = std::make_shared<Profile>();
  profile->definitions = mapping_.definitions;
  profile->name = path().string();
  profile->work = work();
  if (!cells->empty()) {
    profile->statistics = [cells]() -> Result<std::vector<StoredStatistic>> {
      std::vector<StoredStatistic> out;
      out.reserve(cells->size());
      for (const ColumnValue& cell : *cells) out.push_back({{cell.metric, 0}, cell.context, "", cell.value});
      return out;
    };
    profile->statistics_are_columns = true;
  }
  if (tables_.empty() && !cells->empty()) {
    // Without per-thread files the columns are all there is: views need them as values of a location.
    std::vector<std::vector<std::vector<double>>> values(defs.metrics.size());
    std::map<MetricId, std::vector<const XmlMetric*>> same_base;
    for (const auto& [column_id, native] : described) {
      const auto [base, exclusive] = scope_in_name(defs.metrics[column_id.index()].name, native->scope);
      MetricId id = defs.find_metric(base + std::string(kAllThreads));
      if (!id.valid()) {
        Metric metric;
        metric.name = base + std::string(kAllThreads);
        metric.display_name = base;
        metric.unit = unit_in_name(base);
        id = MetricId(defs.metrics.size());
        defs.metrics.push_back(std::move(metric));
        values.emplace_back();
      }
      Metric& metric = defs.metrics[id.index()];
      same_base[id].push_back(native);
      present(metric, same_base[id]);
      const StoredScope scope{exclusive ? Scope::exclusive : Scope::inclusive, exclusive ? "exclusive" : "inclusive"};
      if (metric.stored_as(scope.scope) >= 0) continue;
      metric.scopes.push_back(scope);
      std::vector<double> column(defs.contexts.size());
      const auto first =
          std::lower_bound(cells->begin(), cells->end(), column_id,
                           [](const ColumnValue& cell, MetricId wanted) { return cell.metric < wanted; });
      for (auto cell = first; cell != cells->end() && cell->metric == column_id; ++cell) {
        if (cell->context.valid()) column[cell->context.index()] = cell->value;
      }
      values[id.index()].push_back(std::move(column));
    }
    location_for(mapping_.definitions->system, {}, 0);
    profile->values = column_source(std::move(values));
  } else {
    columns.resize(defs.metrics.size());
    auto owner = std::make_shared<std::vector<StreamFile>>(streams_);
    profile->values = table_source(tables_, group_, std::move(columns), mapping_.definitions, owner);
  }
  if (!cells->empty()) FATHOM_CHECK(add_classic_derived(xml, !tables_.empty(), mapping_, work()));
  profile->programs = mapping_.programs;
  profile_ = std::move(profile);
  return {};
}

// As the XML says, else by the size of the times; counted from the first sample where they are too large for 64 bits.
Result<TickScale> ClassicDatabase::scale_of(const ExperimentXml& xml, const std::vector<SampleLine>& lines) const {
  const auto ticks_at = [](const SampleLine& line, std::uint64_t index) {
    return load_unchecked<std::uint64_t>(line.at + index * line.stride, Endian::big);
  };
  const XmlTraceDb told = xml.trace.value_or(XmlTraceDb{});
  std::uint64_t per_second = told.ticks_per_second.value_or(0);
  if (per_second == 0) {
    // Nanoseconds since 1970 have 19 digits, microseconds 16.
    constexpr std::uint64_t kSmallestNanoseconds = 100'000'000'000'000'000;
    std::uint64_t time = told.min_time;
    for (const SampleLine& line : lines) {
      if (told.min_time == 0 && line.count > 0) time = std::max(time, ticks_at(line, 0));
    }
    per_second = time >= kSmallestNanoseconds || time == 0 ? kNanosecond : 1'000'000;
    work()->diagnostics.info("hpctoolkit.trace_unit", Place::in(xml.file_name),
                             fmt::format("the unit of trace times is not given; taken as {} by their size",
                                         per_second == kNanosecond ? "nanoseconds" : "microseconds"));
  }
  const TickScale scale(per_second);
  const bool all_fit = std::all_of(lines.begin(), lines.end(), [&](const SampleLine& line) {
    return line.count == 0 || (scale.fits(ticks_at(line, 0)) && scale.fits(ticks_at(line, line.count - 1)));
  });
  if (all_fit) return scale;
  // A single sample that is too late is a damaged one, which must not move the others.
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const SampleLine& line : lines) {
    for (std::uint64_t i = 0; i < line.count; ++i) first = std::min(first, ticks_at(line, i));
  }
  const TickScale moved = scale.fits(first) ? scale : TickScale(per_second, first);
  std::uint64_t late = 0;
  for (const SampleLine& line : lines) {
    for (std::uint64_t i = 0; i < line.count; ++i) late += moved.fits(ticks_at(line, i)) ? 0U : 1U;
  }
  const Place place = Place::in(xml.file_name);
  if (!scale.fits(first)) {
    FATHOM_CHECK(work()->diagnostics.warn(
        "hpctoolkit.trace_origin", place,
        fmt::format("times at {} ticks per second are too large for 64 bits of nanoseconds; counted from the first "
                    "sample, which is at {} ticks",
                    per_second, first)));
  }
  if (late > 0) {
    FATHOM_CHECK(work()->diagnostics.add(
        "hpctoolkit.trace_time", Severity::data_loss, place,
        "the time of a sample is too large for 64 bits of nanoseconds; it has the last time that there is", late));
  }
  return moved;
}

// Trace files can lie there although the XML does not tell of them: they say enough themselves.
Result<void> ClassicDatabase::load_traces(const ExperimentXml& xml) {
  const XmlTraceDb told = xml.trace.value_or(XmlTraceDb{});
  FATHOM_TRY(trace_files_, find_streams("experiment.mt", told.glob.empty() ? "*.hpctrace" : told.glob));
  if (trace_files_.empty()) return {};
  // Where no file of values tells of the stream of a trace (or the values are columns over all threads) the trace gets
  // a location of its own.
  const auto streams = streams_of_traces(trace_files_, streams_);
  std::vector<SampleLine> lines;
  Definitions traced = *mapping_.definitions;
  if (streams_.empty()) {
    traced.system = {};
    parts_.clear();
    ranks_.clear();
  }
  for (std::size_t i = 0; i < trace_files_.size(); ++i) {
    const StreamFile& file = trace_files_[i];
    auto trace = TraceFile::read(file.content, told.header_size, work());
    if (!trace) {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.trace_line", trace.error().place(),
                                            trace.error().what() + "; left out"));
      continue;
    }
    SampleLine line;
    line.at = file.content.bytes().data() + trace->begin;
    line.count = trace->count;
    line.stride = trace->stride;
    line.place = file.content.place(trace->begin);
    line.location =
        streams[i] ? LocationId(*streams[i]) : location_for(traced.system, file, traced.system.location_count());
    line.metric_ids = trace->has_metric_ids();
    lines.push_back(std::move(line));
    samples_ += trace->count;
  }
  if (!xml.trace && samples_ == 0) return {};
  FATHOM_TRY(const TickScale scale, scale_of(xml, lines));
  auto owner = std::make_shared<std::vector<StreamFile>>(trace_files_);
  if (mapping_.definitions->system.location_count() == 0) mapping_.definitions->system = traced.system;
  trace_ = std::make_shared<SampleTrace>(traced, mapping_.samples, std::move(lines), Endian::big, scale, owner, work());
  return {};
}

Result<void> ClassicDatabase::load(const Blob& blob) {
  xml_ = blob;
  FATHOM_TRY(const ExperimentXml xml, ExperimentXml::read(blob, work()));
  version_ = xml.version;
  if (xml.flat) return Error("holds a flat profile, which is not read", Place::in(blob.name()));
  mapping_.definitions->attributes.emplace_back("title", xml.title);
  const std::vector<ContextId> contexts = map_xml_elements(xml, mapping_);
  FATHOM_CHECK(load_metric_files(xml));
  FATHOM_CHECK(tell_what_has_no_place(xml, contexts));
  TableColumns columns = tables_.empty() ? TableColumns() : map_tables(xml);
  FATHOM_CHECK(map_columns(xml, contexts, std::move(columns)));
  return load_traces(xml);
}

std::vector<Level> ClassicDatabase::levels() const {
  std::vector<Level> levels = {Level::profile};
  if (trace_) levels.push_back(Level::trace);
  return levels;
}

Result<std::shared_ptr<const Trace>> ClassicDatabase::trace() {
  if (!trace_) return no_level(Level::trace);
  return trace_;
}

Result<TraceStatistics> ClassicDatabase::statistics(const StatisticsOptions& options) {
  FATHOM_TRY(const auto samples, trace());
  return sample_statistics(*samples, options);
}

Result<void> ClassicDatabase::dump(const DumpOptions& options, const TextSink& sink) {
  FATHOM_CHECK(check_sections(options, {"experiment", "metrics", "traces"}));
  FATHOM_TRY(const ExperimentXml xml, ExperimentXml::read(xml_, work()));
  Dumper dumper(sink);
  if (wants_section(options, "experiment")) dumper.dump(xml);
  for (std::size_t i = 0; i < streams_.size() && wants_section(options, "metrics"); ++i) {
    dumper.dump("metric-db", streams_[i], tables_[i]);
  }
  for (const StreamFile& stream : trace_files_) {
    if (!wants_section(options, "traces")) break;
    const auto trace = TraceFile::read(stream.content, xml.trace ? xml.trace->header_size : 0, work());
    if (trace) dumper.dump("hpctrace", stream, *trace);
  }
  return {};
}

Result<std::vector<InfoEntry>> ClassicDatabase::describe(bool) {
  const Definitions& defs = *mapping_.definitions;
  std::vector<InfoEntry> out;
  out.push_back({"metrics", std::uint64_t{declared_}});
  if (!mapping_.programs.empty()) out.push_back({"derived_metrics", std::uint64_t{mapping_.programs.size()}});
  out.push_back({"contexts", std::uint64_t{defs.contexts.size()}});
  out.push_back({"regions", std::uint64_t{defs.regions.size()}});
  out.push_back({"locations", std::uint64_t{std::max(tables_.size(), trace_ ? trace_->location_count() : 0)}});
  if (trace_) out.push_back({"events", samples_});
  for (const auto& [key, value] : defs.attributes) out.push_back({key, value});
  return out;
}

}  // namespace fathom::hpctoolkit
