#include "formats/hpctoolkit/classic_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <map>
#include <unordered_set>

#include "base/text.hpp"
#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/dump.hpp"
#include "formats/hpctoolkit/sample_trace.hpp"
#include "formats/hpctoolkit/xml_tree.hpp"
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

// One location per file: rank and thread become process and thread.
LocationId ClassicDatabase::location_for(SystemTree& system, const StreamFile& file, std::size_t position) {
  const auto inner = [&](SystemNodeId parent, SystemKind kind, const std::string& type, const std::string& name,
                         std::optional<std::int64_t> rank) {
    for (std::size_t i = 0; i < system.nodes.size(); ++i) {
      const SystemNode& node = system.nodes[i];
      if (node.parent == parent && node.kind == kind && node.name == name) return SystemNodeId(i);
    }
    SystemNode node;
    node.parent = parent;
    node.kind = kind;
    node.type = type;
    node.name = name;
    node.rank = rank;
    node.file_id = static_cast<std::uint64_t>(rank.value_or(0));
    return system.add(std::move(node));
  };
  const auto host = inner({}, SystemKind::node, "node", file.host.empty() ? "node" : "node " + file.host, {});
  const auto process =
      inner(host, SystemKind::group, "process", fmt::format("RANK {}", file.process.value_or(0)), file.process);
  constexpr std::int64_t kFirstGpuStream = 500;
  SystemNode location;
  location.parent = process;
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

Result<void> ClassicDatabase::load_traces(const ExperimentXml& xml) {
  if (!xml.trace) return {};
  FATHOM_TRY(trace_files_, find_streams("experiment.mt", xml.trace->glob.empty() ? "*.hpctrace" : xml.trace->glob));
  if (trace_files_.empty()) return {};
  std::uint64_t ticks = xml.trace->ticks_per_second.value_or(0);
  if (ticks == 0) {
    // Nanoseconds since 1970 have 19 digits, microseconds 16.
    constexpr std::uint64_t kSmallestNanoseconds = 100'000'000'000'000'000;
    ticks = xml.trace->min_time >= kSmallestNanoseconds || xml.trace->min_time == 0 ? kNanosecond : 1'000'000;
    work()->diagnostics.info("hpctoolkit.trace_unit", Place::in(xml.file_name),
                             fmt::format("the unit of trace times is not given; taken as {} by their size",
                                         ticks == kNanosecond ? "nanoseconds" : "microseconds"));
  }
  // A trace belongs to the stream of the same process and thread; where no file of values tells of that one (or the
  // values are columns over all threads) it gets a location of its own.
  std::vector<SampleLine> lines;
  Definitions traced = *mapping_.definitions;
  if (streams_.empty()) traced.system = {};
  for (std::size_t i = 0; i < trace_files_.size(); ++i) {
    const StreamFile& file = trace_files_[i];
    auto trace = TraceFile::read(file.content, xml.trace->header_size, work());
    if (!trace) {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.trace_line", trace.error().place(),
                                            trace.error().what() + "; left out"));
      continue;
    }
    LocationId location;
    for (std::size_t k = 0; k < streams_.size(); ++k) {
      if (streams_[k].process == file.process && streams_[k].thread == file.thread) location = LocationId(k);
    }
    if (!location.valid()) {
      location = location_for(traced.system, file, traced.system.location_count());
    }
    SampleLine line{file.content.bytes().data() + trace->begin, trace->count, trace->stride,
                    file.content.place(trace->begin),           location,     {}};
    lines.push_back(std::move(line));
    samples_ += trace->count;
  }
  auto owner = std::make_shared<std::vector<StreamFile>>(trace_files_);
  if (mapping_.definitions->system.location_count() == 0) mapping_.definitions->system = traced.system;
  trace_ = std::make_shared<SampleTrace>(traced, mapping_.samples, std::move(lines), Endian::big,
                                         std::max<std::uint64_t>(1, kNanosecond / ticks), owner, work());
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
  out.push_back({"locations", std::uint64_t{tables_.empty() ? trace_files_.size() : tables_.size()}});
  if (trace_) out.push_back({"events", samples_});
  for (const auto& [key, value] : defs.attributes) out.push_back({key, value});
  return out;
}

}  // namespace fathom::hpctoolkit
