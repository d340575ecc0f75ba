#include "formats/hpctoolkit/classic_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>

#include "base/text.hpp"
#include "formats/hpctoolkit/dump.hpp"
#include "formats/hpctoolkit/sample_trace.hpp"
#include "formats/hpctoolkit/xml_tree.hpp"
#include "io/file.hpp"
#include "trace/samples.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint64_t kNanosecond = 1'000'000'000;

// Values of the per-thread tables; where there are none, the Sum columns of the XML as one location.
class ClassicSource : public ValueSource {
 public:
  ClassicSource(std::vector<MetricDbFile> tables, std::vector<std::vector<std::uint32_t>> columns,
                std::shared_ptr<const Definitions> definitions, std::shared_ptr<const void> owner)
      : tables_(std::move(tables)),
        columns_(std::move(columns)),
        definitions_(std::move(definitions)),
        owner_(std::move(owner)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }

  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    std::vector<std::uint32_t> positions;
    std::vector<double> values;
    for (std::uint32_t at = box.contexts.begin; at < box.contexts.end; ++at) {
      const std::uint64_t row = definitions_->contexts[ContextId(at)].file_id - 1;
      for (const StoredMetric& metric : box.metrics) {
        const std::uint32_t column = columns_[metric.metric.index()][metric.scope];
        positions.clear();
        values.clear();
        for (std::uint32_t location = box.locations.begin; location < box.locations.end; ++location) {
          if (location >= tables_.size()) break;
          const MetricDbFile& table = tables_[location];
          if (row >= table.rows || column >= table.columns) continue;
          const double value = table.at(row, column);
          if (value == 0) continue;
          positions.push_back(location);
          values.push_back(value);
        }
        if (positions.empty()) continue;
        Run run;
        run.metric = metric;
        run.context = ContextId(at);
        run.positions = positions;
        run.count = positions.size();
        run.values = reinterpret_cast<const std::byte*>(values.data());
        FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }

 private:
  std::vector<MetricDbFile> tables_;
  std::vector<std::vector<std::uint32_t>> columns_;  // [metric][scope]
  std::shared_ptr<const Definitions> definitions_;
  std::shared_ptr<const void> owner_;
};

// Values that stand in the XML, over one location that stands for all threads.
class ColumnSource : public ValueSource {
 public:
  explicit ColumnSource(std::vector<std::vector<std::vector<double>>> values) : values_(std::move(values)) {}
  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    if (!box.locations.contains(0)) return {};
    for (const StoredMetric& metric : box.metrics) {
      const auto& column = values_[metric.metric.index()][metric.scope];
      Run run;
      run.metric = metric;
      run.along = Axis::context;
      run.location = LocationId(0);
      run.first = box.contexts.begin;
      run.count = box.contexts.size();
      run.values = reinterpret_cast<const std::byte*>(column.data() + box.contexts.begin);
      FATHOM_CHECK(visit(run));
    }
    return {};
  }

 private:
  std::vector<std::vector<std::vector<double>>> values_;  // [metric][scope][context]
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
LocationId ClassicDatabase::location_for(const StreamFile& file, std::size_t position) {
  SystemTree& system = mapping_.definitions->system;
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

Result<void> ClassicDatabase::load_metric_files(const ExperimentXml& xml) {
  if (xml.metric_dbs.empty()) return {};
  const std::string pattern = xml.metric_dbs.front().glob.empty() ? "*.metric-db" : xml.metric_dbs.front().glob;
  FATHOM_TRY(streams_, find_streams("experiment-1.mdb", pattern));
  for (const StreamFile& stream : streams_) {
    auto table = MetricDbFile::read(stream.content, work());
    if (!table) {
      if (table.error().kind() == ErrorKind::refused) return std::move(table).error();
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.metric_db", table.error().place(),
                                            table.error().what() + "; its values are left out"));
      table = MetricDbFile{};
    }
    location_for(stream, tables_.size());
    tables_.push_back(*table);
  }
  return {};
}

// Columns of the XML are metrics of their own: what the file shows, summed over threads and rounded.
void ClassicDatabase::map_columns(const ExperimentXml& xml, const std::vector<ContextId>& contexts) {
  Definitions& defs = *mapping_.definitions;
  std::unordered_map<std::int64_t, MetricId> column_of;
  for (const XmlMetric& native : xml.metrics) {
    Metric metric;
    metric.name = metric.display_name = native.name;
    while (defs.find_metric(metric.name).valid()) metric.name += '\'';
    metric.description = native.description;
    metric.unit = unit_in_name(scope_in_name(native.name, native.scope).base);
    metric.file_id = static_cast<std::uint64_t>(native.id);
    metric.hidden = native.show == 4;
    column_of.try_emplace(native.id, MetricId(defs.metrics.size()));
    defs.metrics.push_back(std::move(metric));
  }
  auto statistics = std::make_shared<std::vector<StoredStatistic>>();
  for (const XmlValue& value : xml.values) {
    const auto column = column_of.find(value.metric);
    if (column == column_of.end() || value.element == 0xFFFFFFFF || !contexts[value.element].valid()) continue;
    if (value.value == DBL_MIN || value.value == 2.22507e-308) continue;  // a minimum that was never set
    statistics->push_back({{column->second, 0}, contexts[value.element], "", value.value});
  }
  std::stable_sort(statistics->begin(), statistics->end(), [](const auto& a, const auto& b) {
    return std::pair(a.metric.metric, a.context) < std::pair(b.metric.metric, b.context);
  });
  auto profile = std::make_shared<Profile>();
  profile->definitions = mapping_.definitions;
  profile->name = path().string();
  profile->work = work();
  if (!statistics->empty()) {
    profile->statistics = [statistics]() -> Result<std::vector<StoredStatistic>> { return *statistics; };
    profile->statistics_are_columns = true;
  }
  if (tables_.empty() && !statistics->empty()) {
    // Without per-thread files the columns are all there is: views need them as values of a location.
    std::vector<std::vector<std::vector<double>>> values(defs.metrics.size());
    const std::size_t described = defs.metrics.size();
    for (std::size_t m = 0; m < described; ++m) {
      const auto [base, exclusive] = scope_in_name(defs.metrics[m].name, xml.metrics[m].scope);
      MetricId id;
      for (std::size_t k = described; k < defs.metrics.size(); ++k) {
        if (defs.metrics[k].name == base + " (all threads)") id = MetricId(k);
      }
      if (!id.valid()) {
        Metric metric;
        metric.name = base + " (all threads)";
        metric.display_name = base;
        metric.unit = unit_in_name(base);
        id = MetricId(defs.metrics.size());
        defs.metrics.push_back(std::move(metric));
        values.emplace_back();
      }
      Metric& metric = defs.metrics[id.index()];
      metric.scopes.push_back({exclusive ? Scope::exclusive : Scope::inclusive, exclusive ? "exclusive" : "inclusive"});
      std::vector<double> column(defs.contexts.size());
      for (const StoredStatistic& one : *statistics) {
        if (one.metric.metric == MetricId(m)) column[one.context.index()] = one.value;
      }
      values[id.index()].push_back(std::move(column));
    }
    location_for({}, 0);
    profile->values = std::make_shared<ColumnSource>(std::move(values));
  } else {
    std::vector<std::vector<std::uint32_t>> columns;
    for (const auto& ids : mapping_.ids) columns.emplace_back(ids.begin(), ids.end());
    columns.resize(defs.metrics.size());
    auto owner = std::make_shared<std::vector<StreamFile>>(streams_);
    profile->values = std::make_shared<ClassicSource>(tables_, std::move(columns), mapping_.definitions, owner);
  }
  profile_ = std::move(profile);
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
  const bool made_here = mapping_.definitions->system.location_count() == 0;
  std::vector<SampleLine> lines(made_here ? trace_files_.size() : mapping_.definitions->system.location_count());
  for (std::size_t i = 0; i < trace_files_.size(); ++i) {
    const StreamFile& file = trace_files_[i];
    std::size_t at = i;
    if (made_here) {
      location_for(file, i);
    } else {
      for (std::size_t k = 0; k < streams_.size(); ++k) {
        if (streams_[k].process == file.process && streams_[k].thread == file.thread) at = k;
      }
    }
    auto trace = TraceFile::read(file.content, xml.trace->header_size, work());
    if (!trace) {
      FATHOM_CHECK(work()->diagnostics.lost("hpctoolkit.trace_line", trace.error().place(),
                                            trace.error().what() + "; left out"));
      continue;
    }
    if (at >= lines.size()) continue;
    lines[at] = {file.content.bytes().data() + trace->begin, trace->count, trace->stride,
                 file.content.place(trace->begin)};
    samples_ += trace->count;
  }
  auto owner = std::make_shared<std::vector<StreamFile>>(trace_files_);
  trace_ = std::make_shared<SampleTrace>(*mapping_.definitions, mapping_.samples, std::move(lines), Endian::big,
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
  if (!tables_.empty()) {
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
        mapping_.ids.emplace_back();
      }
      Metric& metric = mapping_.definitions->metrics[id.index()];
      metric.scopes.push_back({exclusive ? Scope::exclusive : Scope::inclusive, exclusive ? "exclusive" : "inclusive"});
      mapping_.ids[id.index()].push_back(static_cast<std::uint16_t>(column.column));
    }
  }
  map_columns(xml, contexts);
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
  out.push_back({"metrics", std::uint64_t{defs.metrics.size()}});
  out.push_back({"contexts", std::uint64_t{defs.contexts.size()}});
  out.push_back({"regions", std::uint64_t{defs.regions.size()}});
  out.push_back({"locations", std::uint64_t{tables_.empty() ? trace_files_.size() : tables_.size()}});
  if (trace_) out.push_back({"events", samples_});
  for (const auto& [key, value] : defs.attributes) out.push_back({key, value});
  return out;
}

}  // namespace fathom::hpctoolkit
