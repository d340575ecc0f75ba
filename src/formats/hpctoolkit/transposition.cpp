#include "formats/hpctoolkit/transposition.hpp"

#include <algorithm>

#include "base/pack.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/magic.hpp"
#include "io/shared_output.hpp"

namespace fathom::hpctoolkit {

namespace {

// Memory of one range of contexts: its output and its counters.
constexpr std::uint64_t kRangeBytes = std::uint64_t{32} << 20;

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t at = 0;     // in the file
  std::uint64_t bytes = 0;  // of output
};

struct RangeOutput {
  std::vector<std::byte> bytes;
  std::vector<SummaryCell> cells;
  std::vector<std::pair<std::uint32_t, std::size_t>> contexts;  // with the number of their cells
};

template <class Pack>
void pack_fields(Pack& pack, RangeOutput& output) {
  pack(output.cells, output.contexts);
}

// On its way to the process that writes its context.
struct SentValue {
  std::uint32_t profile = 0;
  std::uint32_t context = 0;  // in its range
  std::uint32_t slot = 0;
  double value = 0;
};

constexpr std::uint64_t kRecordsAt = 0x40;

class Transposer {
 public:
  explicit Transposer(const Transposition& job) : job_(job), order_(order_of(job.generation)) {}

  Result<void> write(const std::filesystem::path& target) {
    FATHOM_TRY(SharedFile file, SharedFile::open(target));
    const std::vector<Range> ranges = cut();
    if (team().first()) {
      SharedSequence head(file);
      write_header(head);
      FATHOM_CHECK(head.flush());
    }
    FATHOM_CHECK(team().alone() ? write_alone(file, ranges) : write_together(file, ranges));
    if (team().first()) {
      SharedSequence tail(file, ranges.empty() ? first_block() : ranges.back().at + ranges.back().bytes);
      const std::string reversed(kXmlCctFooter.rbegin(), kXmlCctFooter.rend());
      if (meta()) {
        static constexpr char kZeros[4] = {};
        if (tail.offset() % 4 != 0) tail.write(std::string_view(kZeros, 4 - tail.offset() % 4));
      }
      tail.write(meta() ? kMetaCctFooter : std::string_view(reversed));
      FATHOM_CHECK(tail.flush());
    }
    return file.finish();
  }

 private:
  [[nodiscard]] bool meta() const { return job_.generation == Generation::meta; }

  // Room that a context's block takes; nothing without values.
  [[nodiscard]] std::uint64_t block_size(std::size_t context) const {
    const std::uint64_t values = job_.sizes.values(context);
    if (values == 0) return 0;
    const std::uint64_t size =
        ContextBlock::kEntrySize * values + ContextBlock::kIndexSize * job_.sizes.metrics(context);
    return meta() ? (size + 3) / 4 * 4 : size + ContextBlock::kIndexSize;
  }

  [[nodiscard]] std::uint64_t first_block() const {
    const std::uint64_t count = job_.sizes.contexts();
    return meta() ? kRecordsAt + 32 * count : kXmlHeaderSize + (22 * count + 7) / 8 * 8;
  }

  void write_header(SharedSequence& file) {
    const std::size_t count = job_.sizes.contexts();
    ByteBuffer out(order_);
    if (meta()) {
      out.put_text(kMetaCctMagic);
      out.put<std::uint8_t>(kMetaMajor);
      out.put<std::uint8_t>(0);
      out.put<std::uint64_t>(kRecordsAt - 0x30 + 32 * count);
      out.put<std::uint64_t>(0x30);
      out.put<std::uint64_t>(0);
      out.put<std::uint64_t>(1);
      out.put<std::uint64_t>(kRecordsAt);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(count));
      out.put<std::uint8_t>(32);
      out.pad_to(kRecordsAt);
    } else {
      out.put_text(kXmlCctMagic);
      out.put<std::uint8_t>(1);
      out.put<std::uint8_t>(0);
      out.put<std::uint32_t>(static_cast<std::uint32_t>(count));
      out.put<std::uint16_t>(1);
      out.put<std::uint64_t>(22 * count);
      out.put<std::uint64_t>(kXmlHeaderSize);
      out.pad_to(kXmlHeaderSize);
    }
    std::uint64_t at = first_block();
    for (std::size_t context = 0; context < count; ++context) {
      const std::uint64_t values = job_.sizes.values(context);
      const std::uint64_t metrics = job_.sizes.metrics(context);
      if (meta()) {
        out.put<std::uint64_t>(values);
        out.put<std::uint64_t>(at);
        out.put<std::uint16_t>(static_cast<std::uint16_t>(metrics));
        out.zeros(6);
        out.put<std::uint64_t>(at + ContextBlock::kEntrySize * values);
      } else {
        out.put<std::uint32_t>(static_cast<std::uint32_t>(context));
        out.put<std::uint64_t>(values);
        out.put<std::uint16_t>(static_cast<std::uint16_t>(metrics));
        out.put<std::uint64_t>(at);
      }
      at += block_size(context);
      if (out.size() > kRangeBytes) {
        file.write(out.bytes());
        out.clear();
      }
    }
    file.write(out.bytes());
    static constexpr char kZeros[8] = {};
    if (file.offset() < first_block()) file.write(std::string_view(kZeros, first_block() - file.offset()));
  }

  // What a range holds does not show in the file.
  [[nodiscard]] std::vector<Range> cut() const {
    std::vector<Range> ranges;
    std::uint64_t all = 0;
    for (std::size_t context = 0; context < job_.sizes.contexts(); ++context) all += block_size(context);
    // Something for every process.
    const std::uint64_t most =
        team().alone() ? kRangeBytes : std::clamp<std::uint64_t>(all / (4 * team().size()), 1, kRangeBytes);
    Range range;
    range.at = first_block();
    std::uint64_t memory = 0;
    for (std::size_t context = 0; context < job_.sizes.contexts(); ++context) {
      const std::uint64_t size = block_size(context);
      const std::uint64_t needed = size + job_.sizes.slots() * sizeof(std::uint64_t);
      if (memory > 0 && memory + needed > most) {
        ranges.push_back(range);
        range = {range.end, range.end, range.at + range.bytes, 0};
        memory = 0;
      }
      range.end = static_cast<std::uint32_t>(context + 1);
      range.bytes += size;
      memory += needed;
    }
    if (range.end > range.begin) ranges.push_back(range);
    return ranges;
  }

  // Visits the values of this process's profiles in a range of contexts, profile by profile.
  template <class Visit>
  void each_value(const Range& range, Visit&& visit) const {
    const std::byte* base = job_.profiles.bytes().data();
    for (std::size_t profile = job_.first; profile < job_.last; ++profile) {
      const ProfileRecord& record = job_.records[profile];
      const ProfileBlock block(job_.generation, base + (record.values_at - job_.mapped_from), record.value_count,
                               base + (record.indices_at - job_.mapped_from), record.context_count);
      for (std::uint64_t slot = block.lower_bound(range.begin); slot < block.index_count(); ++slot) {
        const std::uint32_t context = block.key(slot);
        if (context >= range.end) break;
        const std::uint64_t end = block.end(slot);
        for (std::uint64_t entry = block.begin(slot); entry < end; ++entry) {
          visit(profile, context - range.begin, job_.slot_of_id(block.id(entry)), block.number(entry));
        }
      }
    }
  }

  // Ranges in order, as many at a time as the memory allows.
  Result<void> write_alone(SharedFile& file, const std::vector<Range>& ranges) {
    const std::uint64_t memory = job_.work->budget.limit() / 4;
    const std::size_t group =
        std::clamp<std::size_t>(memory / (2 * kRangeBytes), 1, std::max<std::size_t>(1, 2 * thread_count()));
    Progress progress("writing cct.db", ranges.size());
    for (std::size_t first = 0; first < ranges.size(); first += group) {
      const std::size_t last = std::min(first + group, ranges.size());
      std::vector<RangeOutput> outputs(last - first);
      FATHOM_CHECK(parallel_for(last - first, [&](std::size_t i) -> Result<void> {
        const Range& range = ranges[first + i];
        outputs[i] = transpose(range, [&](const auto& visit) { each_value(range, visit); });
        return {};
      }));
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        FATHOM_CHECK(file.write(ranges[first + i].at, outputs[i].bytes));
        summarise_all(outputs[i]);
      }
      progress.advance(last - first);
    }
    return {};
  }

  // In rounds: everybody sends every other process what it has of the range that the other one writes next.
  Result<void> write_together(SharedFile& file, const std::vector<Range>& ranges) {
    const std::size_t processes = team().size();
    const auto first_of = [&](std::size_t process) { return ranges.size() * process / processes; };
    const std::size_t rounds = (ranges.size() + processes - 1) / processes;
    Progress progress("writing cct.db", rounds);
    std::vector<RangeOutput> own;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<Parcel> parcels(processes);
      FATHOM_CHECK(parallel_for(processes, [&](std::size_t to) -> Result<void> {
        const std::size_t at = first_of(to) + round;
        if (at >= first_of(to + 1)) return {};
        std::vector<SentValue> values;
        each_value(ranges[at], [&](std::size_t profile, std::size_t context, std::size_t slot, double value) {
          values.push_back({static_cast<std::uint32_t>(profile), static_cast<std::uint32_t>(context),
                            static_cast<std::uint32_t>(slot), value});
        });
        parcels[to] = packed(values);
        return {};
      }));
      FATHOM_TRY(std::vector<Parcel> arrived, team().exchange(std::move(parcels)));
      progress.advance();
      const std::size_t at = first_of(team().rank()) + round;
      if (at >= first_of(team().rank() + 1)) continue;
      // By rank, which is the order of profiles.
      std::vector<std::vector<SentValue>> values;
      for (Parcel& parcel : arrived) {
        FATHOM_TRY(values.emplace_back(), unpacked<std::vector<SentValue>>(parcel));
        parcel = {};
      }
      RangeOutput output = transpose(ranges[at], [&](const auto& visit) {
        for (const auto& list : values) {
          for (const SentValue& sent : list) visit(sent.profile, sent.context, sent.slot, sent.value);
        }
      });
      FATHOM_CHECK(file.write(ranges[at].at, output.bytes));
      output.bytes = {};
      own.push_back(std::move(output));
    }
    std::size_t next_own = 0;
    const auto next = [&](Parcel& parcel) -> Result<bool> {
      if (next_own == own.size()) return false;
      parcel = packed(own[next_own++]);
      return true;
    };
    Result<void> status;
    const auto take = [&](const Parcel& parcel) {
      auto output = unpacked<RangeOutput>(parcel);
      if (!output.ok()) {
        status = output.error();
        return false;
      }
      summarise_all(*output);
      return true;
    };
    FATHOM_CHECK(team().relay(next, take));
    return status;
  }

  void summarise_all(const RangeOutput& output) const {
    std::size_t cell = 0;
    for (const auto& [context, count] : output.contexts) {
      job_.summarise(context, std::span(output.cells).subspan(cell, count));
      cell += count;
    }
  }

  // each_of(visit) visits the values of all profiles in the range, in the order of profiles.
  template <class EachOf>
  RangeOutput transpose(const Range& range, const EachOf& each_of) const {
    const std::size_t slots = job_.sizes.slots();
    const std::size_t count = range.end - range.begin;
    std::vector<std::uint64_t> next(count * slots);
    each_of([&](std::size_t, std::size_t context, std::size_t slot, double) { ++next[context * slots + slot]; });
    RangeOutput output;
    output.bytes.resize(range.bytes);
    // Where each block begins, and in it each metric: counts become positions.
    std::vector<std::uint64_t> block_at(count);
    std::uint64_t at = 0;
    for (std::size_t context = 0; context < count; ++context) {
      block_at[context] = at;
      const std::uint64_t values = job_.sizes.values(range.begin + context);
      std::byte* index = output.bytes.data() + at + ContextBlock::kEntrySize * values;
      std::uint64_t first = 0;
      for (std::size_t slot = 0; slot < slots; ++slot) {
        std::uint64_t& here = next[context * slots + slot];
        const std::uint64_t of_metric = here;
        here = first;
        if (of_metric == 0) continue;
        ByteBuffer::store<std::uint16_t>(index, job_.id_of_slot(slot), order_);
        ByteBuffer::store<std::uint64_t>(index + 2, first, order_);
        index += ContextBlock::kIndexSize;
        first += of_metric;
      }
      if (!meta() && values > 0) {
        ByteBuffer::store<std::uint16_t>(index, ContextBlockShape::kTerminator, order_);
        ByteBuffer::store<std::uint64_t>(index + 2, values, order_);
      }
      at += block_size(range.begin + context);
    }
    const std::size_t id_at = meta() ? 0 : sizeof(double);
    const std::size_t number_at = meta() ? sizeof(std::uint32_t) : 0;
    each_of([&](std::size_t profile, std::size_t context, std::size_t slot, double value) {
      std::byte* entry =
          output.bytes.data() + block_at[context] + ContextBlock::kEntrySize * next[context * slots + slot]++;
      ByteBuffer::store<std::uint32_t>(entry + id_at, static_cast<std::uint32_t>(profile), order_);
      ByteBuffer::store<double>(entry + number_at, value, order_);
    });
    summarise(range, next, block_at, number_at, output);
    return output;
  }

  // After the second pass next[] holds the end of each metric's values.
  void summarise(const Range& range, const std::vector<std::uint64_t>& next, const std::vector<std::uint64_t>& block_at,
                 std::size_t number_at, RangeOutput& output) const {
    const std::size_t slots = job_.sizes.slots();
    for (std::size_t context = 0; context < range.end - range.begin; ++context) {
      if (job_.sizes.values(range.begin + context) == 0) continue;
      const std::size_t before = output.cells.size();
      std::uint64_t begin = 0;
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const std::uint64_t end = next[context * slots + slot];
        if (end == begin) continue;
        SummaryCell cell;
        cell.slot = slot;
        const std::byte* values = output.bytes.data() + block_at[context] + number_at;
        double& minimum = cell.partials[3];
        double& maximum = cell.partials[4];
        minimum = maximum = load_unchecked<double>(values + begin * ContextBlock::kEntrySize, order_);
        for (std::uint64_t i = begin; i < end; ++i) {
          const auto value = load_unchecked<double>(values + i * ContextBlock::kEntrySize, order_);
          cell.partials[1] += value;
          cell.partials[2] += value * value;
          minimum = std::min(minimum, value);
          maximum = std::max(maximum, value);
        }
        cell.partials[0] = static_cast<double>(end - begin);
        output.cells.push_back(cell);
        begin = end;
      }
      output.contexts.emplace_back(range.begin + static_cast<std::uint32_t>(context), output.cells.size() - before);
    }
  }

  const Transposition& job_;
  Endian order_;
};

}  // namespace

Result<void> write_transposed(const Transposition& job, const std::filesystem::path& target) {
  return Transposer(job).write(target);
}

}  // namespace fathom::hpctoolkit
