#include "formats/ovni/ovni_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "formats/ovni/check.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/models.hpp"
#include "formats/ovni/ovni_trace.hpp"
#include "formats/ovni/trace_writer.hpp"
#include "io/output_set.hpp"

namespace fathom::ovni {

std::string OvniDataset::version() const { return std::string(1, to_string(native_.layout)[1]); }

Result<const std::vector<StreamCounts>*> OvniDataset::counts() {
  if (!counts_) {
    FATHOM_TRY(auto counted, count_events(native_, work()));
    counts_ = std::move(counted);
  }
  return &*counts_;
}

Result<std::vector<InfoEntry>> OvniDataset::describe(bool count) {
  std::set<std::string> looms;
  std::set<std::pair<std::string, std::int64_t>> processes;
  std::set<std::string> models;
  std::set<std::string> libraries;
  std::uint64_t bytes = 0;
  for (const Stream& stream : native_.streams) {
    const Metadata& metadata = stream.metadata;
    looms.insert(metadata.loom.value_or(""));
    processes.emplace(metadata.loom.value_or(""), metadata.pid.value_or(0));
    if (metadata.require) {
      for (const auto& [model, version] : *metadata.require) models.insert(fmt::format("{} {}", model, version));
    }
    if (metadata.lib_version) libraries.insert(*metadata.lib_version);
    bytes += stream.blob.size();
  }
  std::vector<InfoEntry> entries;
  entries.push_back({"locations", std::uint64_t{native_.streams.size()}});
  if (count) {
    FATHOM_TRY(const auto* all, counts());
    std::uint64_t events = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const StreamCounts& stream : *all) {
      if (stream.events == 0) continue;
      events += stream.events;
      first = std::min(first, stream.first_clock);
      last = std::max(last, stream.last_clock);
    }
    entries.push_back({"events", events});
    if (events > 0) describe_span(first, last, entries);
  } else {
    entries.push_back({"events", nullptr});
  }
  entries.push_back({"layout", std::string(to_string(native_.layout))});
  entries.push_back({"looms", std::uint64_t{looms.size()}});
  entries.push_back({"processes", std::uint64_t{processes.size()}});
  entries.push_back({"bytes", bytes});
  if (!models.empty()) entries.push_back({"models", std::vector<std::string>(models.begin(), models.end())});
  if (!libraries.empty()) {
    entries.push_back({"libraries", std::vector<std::string>(libraries.begin(), libraries.end())});
  }
  return entries;
}

Result<std::shared_ptr<const Trace>> OvniDataset::trace() {
  if (!trace_) {
    FATHOM_TRY(trace_, OvniTrace::make(native_, work()));
  }
  return trace_;
}

Result<void> OvniDataset::dump(const DumpOptions& options, const TextSink& sink) {
  // Sections choose events ("OH*", "VTx") or, with a slash or a dot, streams.
  DumpFilter filter;
  for (const std::string& section : options.sections) {
    const bool is_stream = section.find('/') != std::string::npos || section.size() > 3;
    (is_stream ? filter.streams : filter.codes).push_back(section);
  }
  const DumpForm form = options.raw ? DumpForm::raw : options.old ? DumpForm::old : DumpForm::sentence;
  return ovni::dump(native_, form, filter, sink, work());
}

Result<TraceStatistics> OvniDataset::statistics(const StatisticsOptions& options) {
  FATHOM_TRY(const auto* all, counts());
  TraceStatistics statistics;
  std::array<char, 3> code;
  for (const CodeCount& item : sum_counts(*all)) {
    CallStatistics call;
    call.name = std::string(mcv_text(item.mcv, code));
    call.count = item.count;
    statistics.calls.push_back(std::move(call));
  }
  for (const std::string& by : options.by) {
    if (by == "model") {
      TableBuilder table({"models", {{"model", ColumnType::text}, {"count", ColumnType::uint64, "occ"}}});
      std::map<std::string, std::uint64_t> models;
      for (const CodeCount& item : sum_counts(*all)) {
        const int model = find_model(model_character(item.mcv));
        const std::string name = model >= 0 ? std::string(model_info(static_cast<Model>(model)).name)
                                            : fmt::format("unknown ({})", model_character(item.mcv));
        models[name] += item.count;
      }
      for (const auto& [name, count] : models) table.row(name, count);
      statistics.tables.push_back(std::move(table).finish());
    } else if (by == "thread") {
      TableBuilder table({"threads",
                          {{"thread", ColumnType::text},
                           {"events", ColumnType::uint64, "occ"},
                           {"first_ns", ColumnType::int64, "ns"},
                           {"last_ns", ColumnType::int64, "ns"}}});
      for (std::size_t i = 0; i < all->size(); ++i) {
        const StreamCounts& stream = (*all)[i];
        table.row(native_.streams[i].path, stream.events, stream.first_clock, stream.last_clock);
      }
      statistics.tables.push_back(std::move(table).finish());
    } else {
      return Error::usage(fmt::format("ovni has no statistics by '{}'", by)).hint("use --by model or --by thread");
    }
  }
  return statistics;
}

Result<bool> OvniDataset::statistics_text(const StatisticsOptions& options, const TextSink& sink) {
  if (!options.by.empty()) return false;
  FATHOM_TRY(const auto* all, counts());
  sink(counts_text(sum_counts(*all)));
  return true;
}

Result<void> OvniDataset::check() { return check_trace(native_, work()); }

Result<bool> OvniDataset::rewrite(const std::filesystem::path& target, const WriteOptions& options) {
  Layout layout = native_.layout;
  for (const auto& [key, value] : options.options) {
    OptionValues given;
    FATHOM_CHECK(given.set_text(kLayout, value));
    layout = *find_layout(given.text(kLayout));
  }
  FATHOM_CHECK(write_trace(native_, target, layout, work(), work()->options.flag(kForce)));
  return true;
}

}  // namespace fathom::ovni
