#include "formats/otf2/local_definitions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::otf2 {

namespace {

enum : std::uint8_t { kMappingTable = 5, kClockOffset = 6 };

IdMap read_map(Fields& in) {
  IdMap map;
  std::uint64_t count = in.c64();
  const bool sparse = in.u8() != 0;
  // An entry takes a byte at the least.
  if (sparse) {
    map.sparse.reserve(std::min<std::uint64_t>(count, in.left() / 2));
    for (; count > 0 && in.more(); --count) {
      const std::uint64_t local = in.c64();
      map.sparse.emplace_back(local, in.c64());
    }
    std::stable_sort(map.sparse.begin(), map.sparse.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  } else {
    map.dense.reserve(std::min<std::uint64_t>(count, in.left()));
    for (; count > 0 && in.more(); --count) map.dense.push_back(in.c64());
  }
  return map;
}

}  // namespace

std::uint64_t IdMap::global(std::uint64_t local) const {
  if (!dense.empty()) return local < dense.size() ? dense[local] : local;
  const auto at = std::lower_bound(sparse.begin(), sparse.end(), local,
                                   [](const auto& entry, std::uint64_t id) { return entry.first < id; });
  return at != sparse.end() && at->first == local ? at->second : local;
}

void ClockCorrection::select(std::size_t interval) {
  interval_ = interval;
  if (offsets_.empty()) return;
  begin_ = offsets_[interval].time;
  offset_ = offsets_[interval].offset;
  slope_ = 0;
  if (interval + 1 >= offsets_.size()) return;
  const ClockOffset& next = offsets_[interval + 1];
  if (next.time <= begin_) return;
  slope_ = (static_cast<double>(next.offset) - static_cast<double>(offset_)) / static_cast<double>(next.time - begin_);
}

Result<LocalDefinitions> read_local_definitions(Blob blob, std::uint64_t chunk_size, const Work& work) {
  LocalDefinitions made;
  RecordFile file(blob, chunk_size, work);
  Record record;
  for (;;) {
    FATHOM_TRY(const bool more, file.next(record));
    if (!more) break;
    Fields in = record.fields();
    if (record.type == kClockOffset) {
      const ClockOffset offset{in.u64(), in.s64()};
      if (in.bad()) {
        FATHOM_CHECK(work->diagnostics.lost("otf2.bad_definition", blob.place(record.offset),
                                            "fields of a ClockOffset cannot be right"));
        continue;
      }
      if (!made.offsets.empty() && offset.time <= made.offsets.back().time) {
        FATHOM_CHECK(work->diagnostics.warn("otf2.clock_offsets", blob.place(record.offset),
                                            "a clock offset is not later than the one before it; left out"));
        continue;
      }
      made.offsets.push_back(offset);
    } else if (record.type == kMappingTable) {
      const std::uint8_t kind = in.u8();
      auto map = std::make_unique<const IdMap>(read_map(in));
      if (in.bad() || kind >= kIdKinds) {
        FATHOM_CHECK(work->diagnostics.lost("otf2.bad_definition", blob.place(record.offset),
                                            fmt::format("a mapping table of kind {} cannot be used", kind)));
        continue;
      }
      if (made.maps[kind] != nullptr) {
        FATHOM_CHECK(work->diagnostics.warn("otf2.duplicate_map", blob.place(record.offset),
                                            "a second mapping table of the same kind; the first holds"));
        continue;
      }
      made.maps[kind] = std::move(map);
    }
  }
  // The library corrects between two offsets and beyond them; one alone changes nothing there.
  if (made.offsets.size() == 1) {
    if (made.offsets.front().offset != 0) {
      work->diagnostics.info("otf2.single_offset", blob.place(),
                             "there is one clock offset only; as in the OTF2 library it takes two to correct times");
    }
    made.offsets.clear();
  }
  return made;
}

}  // namespace fathom::otf2
