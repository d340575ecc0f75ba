#include "formats/hpctoolkit/database_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// Values of one metric along one axis, handed over as ascending runs.
struct Collector {
  StoredMetric metric;
  std::vector<std::uint32_t> positions;
  std::vector<double> values;

  Result<void> flush(Axis along, std::uint32_t fixed, const RunVisitor& visit) {
    if (positions.empty()) return {};
    Run run;
    run.metric = metric;
    run.along = along;
    if (along == Axis::location) {
      run.context = ContextId(fixed);
    } else {
      run.location = LocationId(fixed);
    }
    run.positions = positions;
    run.count = positions.size();
    run.values = reinterpret_cast<const std::byte*>(values.data());
    auto status = visit(run);
    positions.clear();
    values.clear();
    return status;
  }
};

// Which of the wanted metrics an id is, for short lists by looking, for long ones by a table.
class MetricLookup {
 public:
  explicit MetricLookup(std::vector<std::uint16_t> ids) : ids_(std::move(ids)) {
    constexpr std::size_t kFew = 6;
    if (ids_.size() <= kFew) return;
    table_.assign(std::size_t{*std::max_element(ids_.begin(), ids_.end())} + 1, -1);
    for (std::size_t i = 0; i < ids_.size(); ++i) table_[ids_[i]] = static_cast<std::int32_t>(i);
  }
  [[nodiscard]] std::int32_t find(std::uint16_t id) const {
    if (!table_.empty()) return id < table_.size() ? table_[id] : -1;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] == id) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

 private:
  std::vector<std::uint16_t> ids_;
  std::vector<std::int32_t> table_;
};

// Where metrics share ids: whose of the values under an id is a metric's. One value alone is everybody's.
std::optional<double> value_in_turn(const std::vector<double>& values, std::uint16_t turn) {
  if (values.size() == 1) return values.front();
  return turn < values.size() ? std::optional(values[turn]) : std::nullopt;
}

}  // namespace

DatabaseSource::DatabaseSource(std::shared_ptr<const ProfileDb> profiles, std::shared_ptr<const CctDb> contexts,
                               std::shared_ptr<const Mapping> mapping, Work work)
    : profiles_(std::move(profiles)),
      contexts_(std::move(contexts)),
      mapping_(std::move(mapping)),
      work_(std::move(work)) {
  const auto& order = mapping_->profile_of_location;
  location_of_profile_.assign(order.empty() ? 0 : order.back() + 1, kNowhere);
  for (std::size_t i = 0; i < order.size(); ++i) location_of_profile_[order[i]] = static_cast<std::uint32_t>(i);
}

Via DatabaseSource::choose(const Box& box) const {
  if (!contexts_) return Via::profile_db;
  if (!profiles_) return Via::cct_db;
  // Steps needed: a record, an index and a search per context and metric there; one pass over a profile's index, or a
  // search per context, here.
  const double by_context = static_cast<double>(box.contexts.size()) * static_cast<double>(8 + box.metrics.size());
  double by_profile = 0;
  for (std::uint32_t i = box.locations.begin; i < box.locations.end && by_profile < by_context; ++i) {
    const auto count = static_cast<double>(profiles_->profiles()[mapping_->profile_of_location[i]].context_count);
    const double search = static_cast<double>(box.contexts.size()) *
                          static_cast<double>(std::bit_width(static_cast<std::uint64_t>(count)));
    by_profile += 8 + std::min(count, search);
  }
  return by_profile < by_context ? Via::profile_db : Via::cct_db;
}

Result<void> DatabaseSource::scan(const Box& box, const RunVisitor& visit, Via via) const {
  if (box.contexts.size() == 0 || box.locations.size() == 0 || box.metrics.empty()) return {};
  if (via == Via::either) via = choose(box);
  return via == Via::cct_db ? scan_contexts(box, visit) : scan_profiles(box, visit);
}

Result<void> DatabaseSource::scan_contexts(const Box& box, const RunVisitor& visit) const {
  const ContextTree& tree = mapping_->definitions->contexts;
  const std::uint32_t first_profile = mapping_->profile_of_location[box.locations.begin];
  const std::uint32_t last_profile = mapping_->profile_of_location[box.locations.end - 1];
  Collector collected;
  for (std::uint32_t at = box.contexts.begin; at < box.contexts.end; ++at) {
    const std::uint64_t file_id = tree[ContextId(at)].file_id;
    // A context whose id is taken by another one has no values of its own.
    if (file_id >= contexts_->size() || mapping_->contexts.find(static_cast<std::uint32_t>(file_id)).value != at)
      continue;
    const auto block = contexts_->block(file_id);
    if (!block) {
      FATHOM_CHECK(work_->diagnostics.lost("hpctoolkit.context_block", contexts_->place(file_id),
                                           fmt::format("context {}: its values in cct.db are damaged{}", file_id,
                                                       profiles_ ? "; taken from profile.db" : "; left out")));
      if (!profiles_) continue;
      const Box one{box.metrics, {at, at + 1}, box.locations};
      FATHOM_CHECK(scan_profiles(one, visit));
      continue;
    }
    if (block->value_count() == 0) continue;
    if (!mapping_->turns.empty()) {
      FATHOM_CHECK(scan_shared(*block, at, box, visit));
      continue;
    }
    for (const StoredMetric& metric : box.metrics) {
      const auto slot = block->find(mapping_->ids[metric.metric.index()][metric.scope]);
      if (!slot) continue;
      collected.metric = metric;
      const std::uint64_t end = block->end(*slot);
      std::uint64_t entry = block->begin(*slot);
      if (first_profile > 1) entry = block->entry_lower_bound(entry, end, first_profile);
      std::uint32_t last = 0;
      for (; entry < end; ++entry) {
        const std::uint32_t profile = block->id(entry);
        if (profile > last_profile) break;
        // Out of order or no such profile: a damaged entry, which check() reports.
        if (profile >= location_of_profile_.size() || (profile <= last && !collected.positions.empty())) continue;
        const std::uint32_t location = location_of_profile_[profile];
        if (location == kNowhere || !box.locations.contains(location)) continue;
        last = profile;
        collected.positions.push_back(location);
        collected.values.push_back(block->number(entry));
      }
      FATHOM_CHECK(collected.flush(Axis::location, at, visit));
    }
  }
  return {};
}

// A context whose metrics share ids: all values under an id, in the order of the file, by profile.
Result<void> DatabaseSource::scan_shared(const ContextBlock& block, std::uint32_t context, const Box& box,
                                         const RunVisitor& visit) const {
  Collector collected;
  for (const StoredMetric& metric : box.metrics) {
    const std::uint16_t id = mapping_->ids[metric.metric.index()][metric.scope];
    std::map<std::uint32_t, std::vector<double>> by_location;
    for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
      if (block.key(slot) != id) continue;
      for (std::uint64_t entry = block.begin(slot); entry < block.end(slot); ++entry) {
        const std::uint32_t profile = block.id(entry);
        if (profile >= location_of_profile_.size() || location_of_profile_[profile] == kNowhere) continue;
        by_location[location_of_profile_[profile]].push_back(block.number(entry));
      }
    }
    collected.metric = metric;
    for (const auto& [location, values] : by_location) {
      const auto value = value_in_turn(values, mapping_->turns[metric.metric.index()][metric.scope]);
      if (!value || !box.locations.contains(location)) continue;
      collected.positions.push_back(location);
      collected.values.push_back(*value);
    }
    FATHOM_CHECK(collected.flush(Axis::location, context, visit));
  }
  return {};
}

Result<void> DatabaseSource::scan_profiles(const Box& box, const RunVisitor& visit) const {
  const ContextTree& tree = mapping_->definitions->contexts;
  std::vector<std::uint16_t> ids;
  std::vector<Collector> collectors;
  for (const StoredMetric& metric : box.metrics) {
    ids.push_back(mapping_->ids[metric.metric.index()][metric.scope]);
    collectors.push_back({metric, {}, {}});
  }
  const MetricLookup wanted(std::move(ids));
  for (std::uint32_t location = box.locations.begin; location < box.locations.end; ++location) {
    const ProfileBlock block = profiles_->block(mapping_->profile_of_location[location]);
    const auto take = [&](std::uint64_t slot, std::uint32_t context) -> Result<void> {
      const std::uint64_t end = block.end(slot);
      if (!mapping_->turns.empty()) {
        for (Collector& collector : collectors) {
          const std::size_t m = collector.metric.metric.index();
          std::vector<double> values;
          for (std::uint64_t entry = block.begin(slot); entry < end; ++entry) {
            if (block.id(entry) == mapping_->ids[m][collector.metric.scope]) values.push_back(block.number(entry));
          }
          const auto value = value_in_turn(values, mapping_->turns[m][collector.metric.scope]);
          if (!value) continue;
          if (!collector.positions.empty() && collector.positions.back() >= context) {
            FATHOM_CHECK(collector.flush(Axis::context, location, visit));
          }
          collector.positions.push_back(context);
          collector.values.push_back(*value);
        }
        return {};
      }
      for (std::uint64_t entry = block.begin(slot); entry < end; ++entry) {
        const std::int32_t which = wanted.find(block.id(entry));
        if (which < 0) continue;
        Collector& collector = collectors[static_cast<std::size_t>(which)];
        if (!collector.positions.empty() && collector.positions.back() >= context) {
          if (collector.positions.back() == context) continue;  // a metric twice: damaged
          FATHOM_CHECK(collector.flush(Axis::context, location, visit));
        }
        collector.positions.push_back(context);
        collector.values.push_back(block.number(entry));
      }
      return {};
    };
    const auto steps = static_cast<std::uint64_t>(std::bit_width(block.index_count()));
    if (box.contexts.size() * steps < block.index_count()) {
      for (std::uint32_t at = box.contexts.begin; at < box.contexts.end; ++at) {
        const auto file_id = static_cast<std::uint32_t>(tree[ContextId(at)].file_id);
        if (mapping_->contexts.find(file_id).value != at) continue;
        if (const auto slot = block.find(file_id)) FATHOM_CHECK(take(*slot, at));
      }
    } else {
      for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
        const ContextId context = mapping_->contexts.find(block.key(slot));
        if (context.valid() && box.contexts.contains(context.value)) FATHOM_CHECK(take(slot, context.value));
      }
    }
    for (Collector& collector : collectors) FATHOM_CHECK(collector.flush(Axis::context, location, visit));
  }
  return {};
}

}  // namespace fathom::hpctoolkit
