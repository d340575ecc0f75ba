#include "formats/hpctoolkit/sparse_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/pack.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "formats/hpctoolkit/as_double.hpp"
#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/profile_head.hpp"
#include "formats/hpctoolkit/transposition.hpp"
#include "io/file.hpp"
#include "io/shared_output.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint64_t kBatchMemory = std::uint64_t{512} << 20;
constexpr std::size_t kRoles = 3;

class Writer {
 public:
  Writer(const Profile& profile, const std::vector<MetricPlan>& plans, Generation generation,
         const std::filesystem::path& directory)
      : profile_(profile),
        defs_(profile.defs()),
        plans_(plans),
        numbers_{generation},
        order_(order_of(generation)),
        directory_(directory),
        sizes_(defs_.contexts.size() + 1, plans.size() * numbers_.scopes()) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const int stored[kRoles] = {plans[i].own, plans[i].exclusive, plans[i].inclusive};
      for (std::size_t role = 0; role < kRoles; ++role) {
        if (stored[role] < 0) continue;
        wanted_.push_back({plans[i].metric, static_cast<std::uint32_t>(stored[role])});
        targets_.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(role)});
      }
    }
  }

  // Neighbouring locations for every process. The first one writes the head of profile.db and its own profiles behind
  // it; the others keep theirs in a file of their own until it is known where in profile.db they go.
  Result<void> write() {
    const std::filesystem::path target = directory_ / "profile.db";
    const std::filesystem::path part = team().first() ? target : directory_ / fmt::format("part-{}", team().rank());
    const std::size_t locations = defs_.system.location_count();
    records_.resize(locations + 1);
    begin_ = locations * team().rank() / team().size();
    end_ = locations * (team().rank() + 1) / team().size();
    FATHOM_TRY(SharedFile file, SharedFile::open(part));
    SharedSequence sequence(file);
    const ProfileHead head(numbers_.generation, identifier_tuples(defs_, default_id_names(), numbers_.generation));
    if (team().first()) sequence.write(head.bytes());
    FATHOM_CHECK(write_profiles(sequence));
    const std::uint64_t size = sequence.offset();
    FATHOM_CHECK(sequence.flush());
    FATHOM_TRY(const Places places, agree(size));
    Blob mapped;
    if (size > 0) {
      FATHOM_TRY(mapped, map_file(part));
    }
    if (!team().first()) {
      FATHOM_TRY(SharedFile whole, SharedFile::open(target));
      FATHOM_CHECK(whole.write(places.own, mapped.bytes()));
      FATHOM_CHECK(whole.finish());
      std::error_code ignored;
      std::filesystem::remove(part, ignored);
    }
    SharedSequence tail(file, places.end);
    FATHOM_CHECK(transpose(tail, mapped, places.own));
    if (!team().first()) return {};
    const auto footer = numbers_.generation == Generation::meta
                            ? std::string(kMetaProfileFooter)
                            : std::string(kXmlProfileFooter.rbegin(), kXmlProfileFooter.rend());
    align(tail, numbers_.generation == Generation::meta ? 4 : 1);
    tail.write(footer);
    FATHOM_CHECK(tail.flush());
    FATHOM_CHECK(file.write(head.records_at(), head.records(records_).bytes()));
    return file.finish();
  }

 private:
  static void align(SharedSequence& file, std::uint64_t to) {
    static constexpr char kZeros[8] = {};
    const std::uint64_t over = file.offset() % to;
    if (over != 0) file.write(std::string_view(kZeros, to - over));
  }

  struct Places {
    std::uint64_t own = 0;  // where the profiles of this process begin in profile.db
    std::uint64_t end = 0;  // of all profiles
  };

  // Where everybody's profiles are in the file, once all know how much room they take.
  Result<Places> agree(std::uint64_t size) {
    Packer pack;
    pack(size);
    for (std::size_t i = begin_; i < end_; ++i) {
      const ProfileRecord& record = records_[i + 1];
      pack(record.value_count, record.values_at, record.context_count, record.indices_at);
    }
    FATHOM_TRY(const std::vector<Parcel> all, team().gather_all(std::move(pack).take()));
    Places places;
    const std::size_t locations = defs_.system.location_count();
    for (std::size_t process = 0; process < all.size(); ++process) {
      if (process == team().rank()) places.own = places.end;
      Unpacker unpack(all[process]);
      std::uint64_t bytes = 0;
      unpack(bytes);
      for (std::size_t i = locations * process / all.size(); i < locations * (process + 1) / all.size(); ++i) {
        ProfileRecord& record = records_[i + 1];
        unpack(record.value_count, record.values_at, record.context_count, record.indices_at);
        record.values_at += places.end;
        record.indices_at += places.end;
      }
      FATHOM_CHECK(unpack.status());
      places.end += bytes;
    }
    FATHOM_CHECK(sizes_.join());
    FATHOM_TRY(const auto rounded, team().sum({static_cast<std::int64_t>(rounded_)}));
    if (rounded[0] > 0) {
      FATHOM_CHECK(profile_.work->diagnostics.add("hpctoolkit.rounded", Severity::warning, Place::in(profile_.name),
                                                  "integers above 2^53 are rounded: a database holds doubles",
                                                  static_cast<std::uint64_t>(rounded[0])));
    }
    return places;
  }

  // Reads the stored values of a batch of locations; one list per location.
  Result<void> read_batch(IndexRange batch, std::vector<std::vector<RawValue>>& lists) {
    const IndexRange contexts{0, static_cast<std::uint32_t>(defs_.contexts.size())};
    const auto scan = [&](IndexRange locations, std::uint64_t& rounded) {
      return profile_.values->scan({wanted_, contexts, locations}, [&](const Run& run) -> Result<void> {
        const auto which =
            static_cast<std::size_t>(std::find_if(wanted_.begin(), wanted_.end(),
                                                  [&](const StoredMetric& m) {
                                                    return m.metric == run.metric.metric && m.scope == run.metric.scope;
                                                  }) -
                                     wanted_.begin());
        const ValueType type = defs_.metric(run.metric.metric).type;
        for (std::size_t i = 0; i < run.count; ++i) {
          const double value = as_double(type, run.values + i * type.size(), rounded);
          if (value == 0) continue;
          const std::uint32_t at = run.positions.empty() ? run.first + static_cast<std::uint32_t>(i) : run.positions[i];
          const bool along_locations = run.along == Axis::location;
          const std::uint32_t location = along_locations ? at : run.location.value;
          const std::uint32_t context = along_locations ? run.context.value : at;
          lists[location - batch.begin].push_back({context, targets_[which].plan, targets_[which].role, value});
        }
        return {};
      });
    };
    if (!profile_.values->reads_well_by(Axis::location)) return scan(batch, rounded_);
    std::mutex mutex;
    return parallel_for(batch.size(), [&](std::size_t i) -> Result<void> {
      const auto location = batch.begin + static_cast<std::uint32_t>(i);
      std::uint64_t rounded = 0;
      FATHOM_CHECK(scan({location, location + 1}, rounded));
      const std::scoped_lock lock(mutex);
      rounded_ += rounded;
      return {};
    });
  }

  // Values of one location, encoded; contexts with their number of values follow from the index.
  struct Block {
    std::vector<std::byte> bytes;
    std::uint64_t values = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> index;
  };

  Block encode(const std::vector<ScopedValue>& values) const {
    Block block;
    ByteBuffer out(order_);
    for (const ScopedValue& value : values) {
      const int scope = numbers_.scope(value.scope);
      if (scope < 0) continue;
      if (block.index.empty() || block.index.back().first != value.context) {
        block.index.emplace_back(value.context, block.values);
      }
      const auto id = static_cast<std::uint16_t>(numbers_.value_id(value.plan, static_cast<unsigned>(scope)));
      put_value(out, id, value.value);
      ++block.values;
    }
    block.bytes.assign(out.bytes().begin(), out.bytes().end());
    return block;
  }

  void put_value(ByteBuffer& out, std::uint16_t id, double value) const {
    if (numbers_.generation == Generation::meta) {
      out.put(id);
      out.put(value);
    } else {
      out.put(value);
      out.put(id);
    }
  }

  // Appends the index behind values that are in the file already.
  void finish_block(SharedSequence& file, ProfileRecord& record,
                    const std::vector<std::pair<std::uint32_t, std::uint64_t>>& index) {
    if (numbers_.generation == Generation::meta) align(file, 4);
    record.indices_at = file.offset();
    record.context_count = index.size();
    ByteBuffer out(order_);
    for (const auto& [context, first] : index) {
      out.put<std::uint32_t>(context);
      out.put<std::uint64_t>(first);
    }
    if (numbers_.generation == Generation::xml) {
      out.put<std::uint32_t>(ProfileBlockShape::kTerminator);
      out.put<std::uint64_t>(record.value_count);
    }
    file.write(out.bytes());
  }

  Result<void> write_profiles(SharedSequence& file) {
    const std::size_t locations = end_ - begin_;
    const std::uint64_t per_location =
        std::max<std::uint64_t>(1, defs_.contexts.size() * wanted_.size() * sizeof(RawValue));
    const std::uint64_t memory = std::min(kBatchMemory, profile_.work->budget.limit() / 4);
    const std::size_t batch_size =
        std::clamp<std::size_t>(memory / per_location, 1, std::max<std::size_t>(1, locations));
    FATHOM_TRY(const auto reservation,
               profile_.work->budget.reserve(std::min(memory, per_location * batch_size) +
                                                 thread_count() * ScopeWorker::bytes_needed(defs_) + sizes_.bytes(),
                                             "writing a database"));
    Progress progress("writing profile.db", locations);
    const std::size_t group = std::max<std::size_t>(1, thread_count()) * 4;
    std::vector<std::unique_ptr<ScopeWorker>> workers;
    for (std::size_t begin = begin_; begin < end_; begin += batch_size) {
      const std::size_t end = std::min(begin + batch_size, end_);
      std::vector<std::vector<RawValue>> lists(end - begin);
      FATHOM_CHECK(read_batch({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, lists));
      for (std::size_t from = begin; from < end; from += group) {
        const std::size_t to = std::min(from + group, end);
        std::vector<Block> blocks(to - from);
        FATHOM_CHECK(encode_group(lists, from - begin, blocks, workers));
        for (std::size_t i = from; i < to; ++i) append(file, records_[i + 1], blocks[i - from]);
        progress.advance(to - from);
      }
    }
    return {};
  }

  Result<void> encode_group(std::vector<std::vector<RawValue>>& lists, std::size_t first, std::vector<Block>& blocks,
                            std::vector<std::unique_ptr<ScopeWorker>>& workers) {
    // Workers are lent to whichever thread runs.
    std::mutex mutex;
    return parallel_for(blocks.size(), [&](std::size_t i) -> Result<void> {
      std::unique_ptr<ScopeWorker> worker;
      {
        const std::scoped_lock lock(mutex);
        if (!workers.empty()) {
          worker = std::move(workers.back());
          workers.pop_back();
        }
      }
      if (!worker) worker = std::make_unique<ScopeWorker>(defs_, plans_);
      std::vector<ScopedValue> values;
      worker->work_out(lists[first + i], values);
      blocks[i] = encode(values);
      std::vector<RawValue>().swap(lists[first + i]);
      const std::scoped_lock lock(mutex);
      workers.push_back(std::move(worker));
      return {};
    });
  }

  void append(SharedSequence& file, ProfileRecord& record, const Block& block) {
    if (numbers_.generation == Generation::meta) align(file, 4);
    record.values_at = file.offset();
    record.value_count = block.values;
    file.write(block.bytes);
    const ProfileBlock read(numbers_.generation, block.bytes.data(), block.values, nullptr, 0);
    for (std::size_t k = 0; k < block.index.size(); ++k) {
      const std::uint64_t end = k + 1 < block.index.size() ? block.index[k + 1].second : block.values;
      for (std::uint64_t entry = block.index[k].second; entry < end; ++entry) {
        sizes_.count(block.index[k].first, slot_of(read.id(entry)));
      }
    }
    finish_block(file, record, block.index);
  }

  // Metric ids without the room for statistics between them.
  [[nodiscard]] std::size_t slot_of(std::uint16_t id) const {
    const unsigned stride = numbers_.scopes() * kPartials;
    return id / stride * numbers_.scopes() + id % stride;
  }

  // Values of this process's profiles are in `mapped`, which lies in the file from `mapped_from` on. The summary, which
  // the first process writes, is what the contexts say.
  Result<void> transpose(SharedSequence& file, const Blob& mapped, std::uint64_t mapped_from) {
    if (numbers_.generation == Generation::meta) align(file, 4);
    ProfileRecord& summary = records_[0];
    summary.values_at = file.offset();
    std::vector<std::pair<std::uint32_t, std::uint64_t>> index;
    ByteBuffer values(order_);
    const auto add = [&](std::uint32_t context, std::span<const SummaryCell> cells) {
      values.clear();
      index.emplace_back(context, summary.value_count);
      std::vector<std::pair<std::uint16_t, double>> entries;
      for (const SummaryCell& cell : cells) {
        const std::size_t plan = cell.slot / numbers_.scopes();
        const auto scope = static_cast<unsigned>(cell.slot % numbers_.scopes());
        for (std::uint8_t p = 0; p < kPartials; ++p) {
          entries.emplace_back(static_cast<std::uint16_t>(numbers_.statistic_id(plan, scope, static_cast<Partial>(p))),
                               cell.partials[p]);
        }
      }
      std::sort(entries.begin(), entries.end());
      for (const auto& [id, value] : entries) {
        if (value == 0) continue;
        put_value(values, id, value);
        ++summary.value_count;
      }
      file.write(values.bytes());
    };
    const auto id_of = [&](std::size_t slot) {
      return static_cast<std::uint16_t>(
          numbers_.value_id(slot / numbers_.scopes(), static_cast<unsigned>(slot % numbers_.scopes())));
    };
    FATHOM_CHECK(write_transposed({.generation = numbers_.generation,
                                   .profiles = mapped,
                                   .first = begin_ + 1,
                                   .last = end_ + 1,
                                   .mapped_from = mapped_from,
                                   .records = records_,
                                   .sizes = sizes_,
                                   .id_of_slot = id_of,
                                   .slot_of_id = [&](std::uint16_t id) { return slot_of(id); },
                                   .summarise = add,
                                   .work = profile_.work},
                                  directory_ / "cct.db"));
    if (team().first()) finish_block(file, summary, index);
    return {};
  }

  const Profile& profile_;
  const Definitions& defs_;
  const std::vector<MetricPlan>& plans_;
  MetricNumbers numbers_;
  Endian order_;
  std::filesystem::path directory_;
  struct Target {
    std::uint16_t plan;
    std::uint8_t role;
  };
  std::vector<StoredMetric> wanted_;
  std::vector<Target> targets_;
  std::vector<ProfileRecord> records_;  // summary first
  std::uint64_t rounded_ = 0;
  std::size_t begin_ = 0;  // locations of this process
  std::size_t end_ = 0;
  ContextSizes sizes_;
};

}  // namespace

Result<void> write_values(const Profile& profile, const std::vector<MetricPlan>& plans, Generation generation,
                          const std::filesystem::path& directory) {
  const MetricNumbers numbers{generation};
  if (plans.size() > numbers.most_metrics()) {
    return Error(
        fmt::format("{} metrics, a database of this generation holds at most {}", plans.size(), numbers.most_metrics()),
        Place::in(directory.string()));
  }
  return Writer(profile, plans, generation, directory).write();
}

}  // namespace fathom::hpctoolkit
