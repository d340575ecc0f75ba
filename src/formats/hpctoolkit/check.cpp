// `fathom check` of a database: every block, and whether the two value files say the same.
#include <fmt/format.h>

#include <map>
#include <set>

#include "base/share_out.hpp"
#include "formats/hpctoolkit/database.hpp"
#include "formats/hpctoolkit/statistics.hpp"

namespace fathom::hpctoolkit {

namespace {

// Every value of profile.db must be in cct.db; equal counts then make the reverse true as well.
Result<void> compare_profile(const ProfileDb& profiles, const CctDb& contexts, std::size_t index, const Work& work) {
  const ProfileBlock block = profiles.block(index);
  for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
    const std::uint32_t id = block.key(slot);
    const auto other = id < contexts.size() ? contexts.block(id) : std::nullopt;
    for (std::uint64_t entry = block.begin(slot); entry < block.end(slot); ++entry) {
      bool same = false;
      if (other && other->value_count() > 0) {
        if (const auto metric = other->find(block.id(entry))) {
          const std::uint64_t end = other->end(*metric);
          const std::uint64_t at =
              other->entry_lower_bound(other->begin(*metric), end, static_cast<std::uint32_t>(index));
          same = at < end && other->id(at) == index && other->number(at) == block.number(entry);
        }
      }
      if (same) continue;
      FATHOM_CHECK(work->diagnostics.lost(
          "hpctoolkit.transposition",
          profiles.blob().place(profiles.profiles()[index].values_at + entry * ProfileBlock::kEntrySize),
          fmt::format("profile {}, context {}, metric {}: {} here, not the same in cct.db", index, id, block.id(entry),
                      block.number(entry))));
    }
  }
  return {};
}

// Values under ids that no metric has are shown nowhere.
template <class EachValue>
Result<void> tell_of_unknown_metrics(const Mapping& mapping, const Place& place, const Work& work, EachValue&& each) {
  std::set<std::uint16_t> known;
  for (const auto& ids : mapping.ids) known.insert(ids.begin(), ids.end());
  std::map<std::uint16_t, std::uint64_t> unknown;
  each([&](std::uint16_t id, std::uint64_t count) {
    if (!known.contains(id)) unknown[id] += count;
  });
  for (const auto& [id, count] : unknown) {
    FATHOM_CHECK(work->diagnostics.add("hpctoolkit.unknown_metric", Severity::data_loss, place,
                                       fmt::format("a value of metric {}, which the description of the database lacks; "
                                                   "left out",
                                                   id),
                                       count));
  }
  return {};
}

}  // namespace

Result<void> Database::check() {
  std::uint64_t in_profiles = 0;
  if (profiles_) {
    for (std::size_t i = 0; i < profiles_->profiles().size(); ++i) {
      FATHOM_CHECK(profiles_->check(i, work()));
      if (!profiles_->profiles()[i].summary) in_profiles += profiles_->profiles()[i].value_count;
    }
  }
  std::uint64_t in_contexts = 0;
  if (contexts_) {
    for (std::uint64_t id = 0; id < contexts_->size(); ++id) {
      FATHOM_CHECK(contexts_->check(id, work()));
      in_contexts += contexts_->record(id).value_count;
    }
  }
  if (profiles_ && contexts_) {
    if (in_profiles != in_contexts) {
      FATHOM_CHECK(
          work()->diagnostics.lost("hpctoolkit.value_count", profiles_->blob().place(),
                                   fmt::format("{} values by profile, {} by context", in_profiles, in_contexts)));
    }
    const auto compare = [&](std::size_t i) -> Result<void> {
      if (profiles_->profiles()[i].summary) return {};
      return compare_profile(*profiles_, *contexts_, i, work());
    };
    const auto values = [&](std::size_t i) { return profiles_->profiles()[i].value_count; };
    FATHOM_CHECK(share_each("comparing profiles", profiles_->profiles().size(), values, compare));
  }
  if (profiles_ && !mapping_->statistics.empty()) {
    FATHOM_TRY(const auto unused, hpctoolkit::statistics(*profiles_, *source_, *mapping_, work()));
    (void)unused;
  }
  if (contexts_) {
    const auto each = [&](const auto& take) {
      for (std::uint64_t id = 0; id < contexts_->size(); ++id) {
        const auto block = contexts_->block(id);
        if (!block) continue;
        for (std::uint64_t slot = 0; slot < block->index_count(); ++slot) {
          if (block->end(slot) > block->begin(slot)) take(block->key(slot), block->end(slot) - block->begin(slot));
        }
      }
    };
    FATHOM_CHECK(tell_of_unknown_metrics(*mapping_, contexts_->blob().place(), work(), each));
  } else if (profiles_) {
    const auto each = [&](const auto& take) {
      for (std::size_t i = 0; i < profiles_->profiles().size(); ++i) {
        if (profiles_->profiles()[i].summary) continue;
        const ProfileBlock block = profiles_->block(i);
        for (std::uint64_t entry = 0; entry < block.value_count(); ++entry) take(block.id(entry), 1);
      }
    };
    FATHOM_CHECK(tell_of_unknown_metrics(*mapping_, profiles_->blob().place(), work(), each));
  }
  if (!trace_db_) return {};
  FATHOM_TRY(const auto level, trace());  // tells of lines that are left out
  (void)level;
  for (const TraceLine& line : trace_db_->lines()) {
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < line.count; ++i) {
      const Sample sample = trace_db_->sample(line, i);
      const auto place = trace_db_->blob().place(line.begin + i * TraceDb::kSampleSize);
      if (sample.time_ns < before) {
        FATHOM_CHECK(work()->diagnostics.warn(
            "hpctoolkit.trace_order", place,
            fmt::format("profile {}: sample {} at {} comes after {}", line.profile, i, sample.time_ns, before)));
      }
      before = sample.time_ns;
      if (line.type != 0 || sample.context == 0 || mapping_->samples.find(sample.context).valid()) continue;
      FATHOM_CHECK(
          work()->diagnostics.warn("hpctoolkit.trace_context", place,
                                   fmt::format("profile {}: sample {} names context {}, which is not in the tree",
                                               line.profile, i, sample.context)));
    }
  }
  return {};
}

}  // namespace fathom::hpctoolkit
