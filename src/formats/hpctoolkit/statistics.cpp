#include "formats/hpctoolkit/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/parallel.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

namespace {

struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;
  double min = 0;
  double max = 0;
  void add(double value) {
    min = count == 0 ? value : std::min(min, value);
    max = count == 0 ? value : std::max(max, value);
    count += 1;
    sum += value;
    squares += value * value;
  }
};

Result<std::vector<Moments>> moments_of(const DatabaseSource& source, const Definitions& defs, StoredMetric metric,
                                        const Work& work) {
  const std::size_t count = defs.contexts.size();
  const IndexRange locations{0, static_cast<std::uint32_t>(defs.system.location_count())};
  FATHOM_TRY(const auto reservation, work->budget.reserve(count * sizeof(Moments), "statistics of contexts"));
  std::vector<Moments> moments(count);
  const std::size_t grain = source.has_contexts() ? 256 : count;
  FATHOM_CHECK(parallel_blocks(count, grain, [&](std::size_t begin, std::size_t end) {
    const Box box{{&metric, 1}, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, locations};
    return source.scan(box, [&](const Run& run) -> Result<void> {
      for (std::size_t i = 0; i < run.count; ++i) {
        const std::size_t at = run.along == Axis::location ? run.context.index() : run.positions[i];
        moments[at].add(load_unchecked<double>(run.values + i * sizeof(double)));
      }
      return {};
    });
  }));
  return moments;
}

bool nearly(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

// Which statistic of a moments table a name means; nothing for what is not understood.
std::optional<double> recomputed(const std::string& name, const Moments& moments) {
  if (name == "sum") return moments.sum;
  if (name == kSumOfSquares) return moments.squares;
  if (name == "min") return moments.min;
  if (name == "max") return moments.max;
  return std::nullopt;
}

struct Differences {
  std::uint64_t count = 0;
  std::string first;
};

// For the statistics as they are stored and as they are given back, where up to three follow from two, and for what
// they are compared with.
std::uint64_t bytes_for(const ProfileBlock& block, std::size_t contexts) {
  std::uint64_t entries = 0;
  for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
    if (block.end(slot) > block.begin(slot)) entries += block.end(slot) - block.begin(slot);
  }
  return entries * 3 * sizeof(StoredStatistic) + contexts * sizeof(Moments);
}

Result<void> tell_of_further_summaries(const ProfileDb& profiles, const Work& work) {
  for (std::size_t i = 1; i < profiles.profiles().size(); ++i) {
    const ProfileRecord& profile = profiles.profiles()[i];
    if (!profile.summary || profile.value_count == 0) continue;
    FATHOM_CHECK(
        work->diagnostics.lost("hpctoolkit.further_summary", profiles.blob().place(profile.values_at),
                               fmt::format("profile {} sums up some of the profiles: its {} statistics are left out", i,
                                           profile.value_count)));
  }
  return {};
}

}  // namespace

Result<std::vector<StoredStatistic>> statistics(const ProfileDb& profiles, const DatabaseSource& source,
                                                const Mapping& mapping, const Work& work) {
  const Definitions& defs = *mapping.definitions;
  std::unordered_map<std::uint16_t, const StatisticColumn*> columns;
  for (const StatisticColumn& column : mapping.statistics) columns.try_emplace(column.id, &column);
  // The first profile sums up all others. A further summary is one of some of them, a node's say, and has no place
  // beside it.
  FATHOM_CHECK(tell_of_further_summaries(profiles, work));
  std::vector<StoredStatistic> out;
  Budget::Reservation reserved;
  if (!profiles.profiles().empty() && profiles.profiles().front().summary) {
    const ProfileBlock block = profiles.block(0);
    FATHOM_TRY(reserved, work->budget.reserve(bytes_for(block, defs.contexts.size()), "the stored statistics"));
    for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
      const ContextId context = mapping.contexts.find(block.key(slot));
      if (!context.valid()) continue;
      for (std::uint64_t entry = block.begin(slot); entry < block.end(slot); ++entry) {
        const auto column = columns.find(block.id(entry));
        if (column == columns.end()) continue;
        out.push_back({column->second->metric, context, column->second->statistic, block.number(entry)});
      }
    }
  }
  const auto order = [](const StoredStatistic& a, const StoredStatistic& b) {
    return std::tuple(a.metric.metric, a.metric.scope, a.context) <
           std::tuple(b.metric.metric, b.metric.scope, b.context);
  };
  std::stable_sort(out.begin(), out.end(), order);

  // The right numbers, metric by metric.
  std::vector<StoredStatistic> right;
  std::map<std::string, Differences> differences;
  for (std::size_t begin = 0; begin < out.size();) {
    std::size_t end = begin;
    bool squares = false;
    while (end < out.size() && out[end].metric.metric == out[begin].metric.metric &&
           out[end].metric.scope == out[begin].metric.scope) {
      squares = squares || out[end].statistic == kSumOfSquares;
      ++end;
    }
    const StoredMetric metric = out[begin].metric;
    const StoredScope& scope = defs.metric(metric.metric).scopes[metric.scope];
    FATHOM_TRY(const std::vector<Moments> moments, moments_of(source, defs, metric, work));
    for (std::size_t i = begin; i < end; ++i) {
      StoredStatistic statistic = out[i];
      const Moments& here = moments[statistic.context.index()];
      // A scope of the format's own is not trusted in ordinary profiles (loops of lex_aware), only its sum here is.
      const bool trusted = scope.scope != Scope::named;
      if (const auto value = recomputed(statistic.statistic, here)) {
        if (trusted && !nearly(*value, statistic.value)) {
          Differences& seen = differences[statistic.statistic];
          if (seen.count++ == 0) {
            seen.first = fmt::format("metric '{}', context {}: stored {}, right {}", defs.metric(metric.metric).name,
                                     defs.contexts[statistic.context].file_id, statistic.value, *value);
          }
        }
        if (trusted) statistic.value = *value;
      }
      right.push_back(statistic);
      const bool last = i + 1 == end || out[i + 1].context != statistic.context;
      if (last && squares && trusted && here.count > 0) {
        const double mean = here.sum / here.count;
        const double deviation = std::sqrt(std::max(0.0, here.squares / here.count - mean * mean));
        right.push_back({metric, statistic.context, "mean", mean});
        right.push_back({metric, statistic.context, "stddev", deviation});
        if (mean != 0) right.push_back({metric, statistic.context, "cfvar", deviation / mean});
      }
    }
    begin = end;
  }
  if (differences.empty()) return right;
  std::string list;
  std::uint64_t count = 0;
  for (const auto& [name, seen] : differences) {
    list += fmt::format("{}'{}' {} times ({})", list.empty() ? "" : "; ", name, seen.count, seen.first);
    count += seen.count;
  }
  FATHOM_CHECK(work->diagnostics.add("hpctoolkit.stored_statistic", Severity::warning,
                                     Place::in(profiles.blob().name()),
                                     "stored statistics of the summary profile differ from what the profiles give, "
                                     "which is shown instead: " +
                                         list,
                                     count));
  return right;
}

}  // namespace fathom::hpctoolkit
