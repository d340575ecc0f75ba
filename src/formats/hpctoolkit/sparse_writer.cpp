#include "formats/hpctoolkit/sparse_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/transposition.hpp"
#include "io/output_file.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint64_t kBatchMemory = std::uint64_t{512} << 20;
constexpr std::uint64_t kExactIntegers = std::uint64_t{1} << 53;
constexpr std::size_t kRoles = 3;

// One packed value as a double. Integers too large for one are counted.
double as_double(ValueType type, const std::byte* at, std::uint64_t& rounded) {
  const auto large = [&](std::uint64_t magnitude) { rounded += magnitude > kExactIntegers ? 1 : 0; };
  switch (type.kind) {
    case ValueKind::u8:
      return load_unchecked<std::uint8_t>(at);
    case ValueKind::i8:
      return load_unchecked<std::int8_t>(at);
    case ValueKind::u16:
      return load_unchecked<std::uint16_t>(at);
    case ValueKind::i16:
      return load_unchecked<std::int16_t>(at);
    case ValueKind::u32:
      return load_unchecked<std::uint32_t>(at);
    case ValueKind::i32:
      return load_unchecked<std::int32_t>(at);
    case ValueKind::u64: {
      const auto value = load_unchecked<std::uint64_t>(at);
      large(value);
      return static_cast<double>(value);
    }
    case ValueKind::i64: {
      const auto value = load_unchecked<std::int64_t>(at);
      large(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
      return static_cast<double>(value);
    }
    default:
      return load_unchecked<double>(at);
  }
}

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

  Result<void> write() {
    FATHOM_TRY(OutputFile file, OutputFile::create(directory_ / "profile.db"));
    const std::size_t locations = defs_.system.location_count();
    records_.resize(locations + 1);
    write_header(file);
    FATHOM_CHECK(write_profiles(file));
    FATHOM_TRY(const Blob written, file.written());
    FATHOM_CHECK(transpose(file, written));
    const auto footer = numbers_.generation == Generation::meta
                            ? std::string(kMetaProfileFooter)
                            : std::string(kXmlProfileFooter.rbegin(), kXmlProfileFooter.rend());
    align(file, numbers_.generation == Generation::meta ? 4 : 1);
    file.write(footer);
    file.overwrite(infos_at_, encode_records().bytes());
    return file.commit();
  }

 private:
  static void align(OutputFile& file, std::uint64_t to) {
    static constexpr char kZeros[8] = {};
    const std::uint64_t over = file.offset() % to;
    if (over != 0) file.write(std::string_view(kZeros, to - over));
  }

  // Header, profile records (filled in at the end), identifier tuples.
  void write_header(OutputFile& file) {
    const auto tuples = identifier_tuples(defs_, default_id_names(), numbers_.generation);
    ByteBuffer out(order_);
    if (numbers_.generation == Generation::meta) {
      infos_at_ = 0x40;
      const std::uint64_t infos_end = infos_at_ + 48 * records_.size();
      out.put_text(kMetaProfileMagic);
      out.put<std::uint8_t>(kMetaMajor);
      out.put<std::uint8_t>(0);
      out.put<std::uint64_t>(infos_end - 0x30);
      out.put<std::uint64_t>(0x30);
      const std::size_t tuple_section = out.size();
      out.put<std::uint64_t>(0);
      out.put<std::uint64_t>(infos_end);
      out.put<std::uint64_t>(infos_at_);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(records_.size()));
      out.put<std::uint8_t>(48);
      out.pad_to(infos_end);
      for (std::size_t i = 0; i < tuples.size(); ++i) {
        out.align(8);
        tuple_at_.push_back(out.size());
        out.put<std::uint16_t>(static_cast<std::uint16_t>(tuples[i].size()));
        out.zeros(6);
        for (const Identifier& id : tuples[i]) {
          out.put<std::uint8_t>(static_cast<std::uint8_t>(id.kind));
          out.zeros(1);
          out.put<std::uint16_t>(id.flags);
          out.put<std::uint32_t>(static_cast<std::uint32_t>(id.logical));
          out.put<std::uint64_t>(id.physical);
        }
      }
      out.replace<std::uint64_t>(tuple_section, out.size() - infos_end);
      out.align(4);
    } else {
      infos_at_ = kXmlHeaderSize;
      const std::uint64_t infos_size = 52 * records_.size();
      const std::uint64_t tuples_at = infos_at_ + (infos_size + 7) / 8 * 8;
      out.put_text(kXmlProfileMagic);
      out.put<std::uint8_t>(1);
      out.put<std::uint8_t>(0);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(records_.size()));
      out.put<std::uint16_t>(2);
      out.put<std::uint64_t>(infos_size);
      out.put<std::uint64_t>(infos_at_);
      const std::size_t tuple_section = out.size();
      out.put<std::uint64_t>(0);
      out.put<std::uint64_t>(tuples_at);
      out.pad_to(tuples_at);
      const auto put_tuple = [&](const std::vector<Identifier>& tuple) {
        tuple_at_.push_back(out.size());
        out.put<std::uint16_t>(static_cast<std::uint16_t>(tuple.size()));
        for (const Identifier& id : tuple) {
          out.put<std::uint16_t>(static_cast<std::uint16_t>(id.kind | id.flags << 14));
          out.put<std::uint64_t>(id.physical);
          out.put<std::uint64_t>(id.logical);
        }
      };
      put_tuple({Identifier{}});
      for (const auto& tuple : tuples) put_tuple(tuple);
      out.replace<std::uint64_t>(tuple_section, out.size() - tuples_at);
      out.align(8);
    }
    file.write(out.bytes());
  }

  ByteBuffer encode_records() const {
    ByteBuffer out(order_);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const ProfileRecord& record = records_[i];
      if (numbers_.generation == Generation::meta) {
        out.put<std::uint64_t>(record.value_count);
        out.put<std::uint64_t>(record.values_at);
        out.put<std::uint32_t>(static_cast<std::uint32_t>(record.context_count));
        out.zeros(4);
        out.put<std::uint64_t>(record.indices_at);
        out.put<std::uint64_t>(i == 0 ? 0 : tuple_at_[i - 1]);
        out.put<std::uint32_t>(i == 0 ? 1 : 0);
        out.zeros(4);
      } else {
        out.put<std::uint64_t>(tuple_at_[i]);
        out.zeros(24);
        out.put<std::uint64_t>(record.value_count);
        out.put<std::uint32_t>(static_cast<std::uint32_t>(record.context_count));
        out.put<std::uint64_t>(record.values_at);
      }
    }
    return out;
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
  void finish_block(OutputFile& file, ProfileRecord& record,
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

  Result<void> write_profiles(OutputFile& file) {
    const std::size_t locations = defs_.system.location_count();
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
    for (std::size_t begin = 0; begin < locations; begin += batch_size) {
      const std::size_t end = std::min(begin + batch_size, locations);
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
    if (rounded_ > 0) {
      FATHOM_CHECK(profile_.work->diagnostics.add("hpctoolkit.rounded", Severity::warning, Place::in(profile_.name),
                                                  "integers above 2^53 are rounded: a database holds doubles",
                                                  rounded_));
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

  void append(OutputFile& file, ProfileRecord& record, const Block& block) {
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

  Result<void> transpose(OutputFile& file, const Blob& written) {
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
    FATHOM_CHECK(write_transposed({numbers_.generation, written, records_, sizes_, id_of,
                                   [&](std::uint16_t id) { return slot_of(id); }, add, profile_.work},
                                  directory_ / "cct.db"));
    finish_block(file, summary, index);
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
  std::vector<std::uint64_t> tuple_at_;
  std::uint64_t infos_at_ = 0;
  std::uint64_t rounded_ = 0;
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
