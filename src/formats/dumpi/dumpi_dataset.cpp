#include "formats/dumpi/dumpi_dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/visible.hpp"
#include "formats/dumpi/check.hpp"
#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/dumpi_format.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/writer.hpp"
#include "io/output_set.hpp"

namespace fathom::dumpi {

std::string DumpiDataset::version() const {
  const File& file = ranks_->files().front().file;
  if (!file.sections().has(Section::header)) return {};
  const auto& version = file.sections().header.version;
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

Result<std::vector<InfoEntry>> DumpiDataset::describe(bool count) {
  // A pass over the records is cheap; only large sets wait to be asked.
  constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;
  std::vector<InfoEntry> entries;
  const auto& files = ranks_->files();
  if (count || ranks_->bytes() <= kSmall) {
    FATHOM_TRY(const auto* scans, ranks_->scans());
    std::uint64_t events = 0;
    std::uint64_t locations = 0;
    std::array<bool, kIds> used{};
    for (const ScanResult& scan : *scans) {
      events += scan.records;
      locations += scan.threads.size();
      for (std::size_t id = 0; id < kIds; ++id) used[id] = used[id] || scan.per_function[id] > 0;
    }
    entries.push_back({"locations", locations});
    entries.push_back({"events", events});
    std::optional<TimeWindow> span;
    for (std::size_t i = 0; i < scans->size(); ++i) span = joined(span, exact_span(files[i].file, (*scans)[i]));
    if (span) describe_span(span->from_ns, span->to_ns, entries);
    entries.push_back({"functions", static_cast<std::uint64_t>(std::count(used.begin(), used.end(), true))});
  } else {
    entries.push_back({"locations", nullptr});
    entries.push_back({"events", nullptr});
  }
  entries.push_back({"ranks", std::uint64_t{ranks_->world_size()}});
  entries.push_back({"files", std::uint64_t{files.size()}});
  entries.push_back({"bytes", ranks_->bytes()});
  const Sections& sections = files.front().file.sections();
  if (sections.has(Section::header)) {
    entries.push_back({"host", sections.header.host});
    std::set<std::string_view> hosts;
    for (const RankFile& rank : files) {
      const Sections& own = rank.file.sections();
      if (own.has(Section::header)) hosts.insert(own.header.host);
    }
    if (hosts.size() > 1) entries.push_back({"hosts", std::uint64_t{hosts.size()}});
    entries.push_back({"user", sections.header.user});
    entries.push_back({"start_time", sections.header.start_time});
    if (const Header& header = sections.header; !header.mesh_size.empty()) {
      entries.push_back({"mesh_size", fmt::format("{}", fmt::join(header.mesh_size, " x "))});
      if (files.size() == 1)
        entries.push_back({"mesh_position", fmt::format("{}", fmt::join(header.mesh_position, ", "))});
    }
  }
  if (!sections.counters.empty()) entries.push_back({"counters", sections.counters});
  return entries;
}

Result<void> DumpiDataset::dump(const DumpOptions& options, const TextSink& sink) {
  FATHOM_TRY(const auto* scans, ranks_->scans());
  bool open = true;
  for (std::size_t i = 0; i < scans->size() && open; ++i) {
    const RankFile& rank = ranks_->files()[i];
    if (scans->size() > 1) {
      open = sink(fmt::format("{}# rank {}: {}\n", i > 0 ? "\n" : "", rank.rank, visible(rank.file.name())));
    }
    if (!open) break;
    FATHOM_CHECK(dumpi::dump(rank.file, (*scans)[i], options.sections,
                             [&](std::string_view text) { return open = sink(text); }));
  }
  return {};
}

Result<std::shared_ptr<const Trace>> DumpiDataset::trace() {
  if (trace_ == nullptr) {
    FATHOM_TRY(trace_, DumpiTrace::make(ranks_));
  }
  return trace_;
}

Result<TraceStatistics> DumpiDataset::statistics(const StatisticsOptions& options) {
  return dumpi::statistics(*ranks_, options);
}

Result<void> DumpiDataset::check() { return check_set(ranks_); }

Result<bool> DumpiDataset::rewrite(const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(const Filter filter, Filter::from_options(options));
  if (&this->format() != &dumpi::format()) return false;
  FATHOM_CHECK(rewrite_set(*ranks_, filter, target, work()->options.flag(kForce)));
  return true;
}

Result<DumpiDataset*> with_calls(Dataset& dataset) {
  if (auto* dumpi = dynamic_cast<DumpiDataset*>(&dataset)) return dumpi;
  return Error::usage(fmt::format("{} data hold no MPI calls with their arguments, which this format is made of",
                                  dataset.format().name));
}

}  // namespace fathom::dumpi
