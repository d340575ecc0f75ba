#include "profile/stored_values.hpp"

#include <algorithm>
#include <cstring>

#include "base/share_out.hpp"
#include "profile/column_sums.hpp"

namespace fathom {

namespace {

// Rows of a table on their way to another process.
struct PackedRows {
  std::vector<std::byte> cells;
  std::vector<std::uint8_t> touched;  // by row: there was a value; empty where it does not matter
};
template <class Pack>
void pack_fields(Pack& pack, PackedRows& rows) {
  pack(rows.cells, rows.touched);
}

std::span<std::byte> row_bytes(Cells& cells, std::size_t row) {
  if (form_of(cells.type()) == Form::integer) return std::as_writable_bytes(cells.integers(row));
  if (form_of(cells.type()) == Form::real) return std::as_writable_bytes(cells.reals(row));
  return {cells.raw(row, 0), cells.columns() * cells.type().size()};
}

std::vector<std::byte> packed_rows(Cells& cells, std::size_t begin, std::size_t end) {
  std::vector<std::byte> out;
  for (std::size_t row = begin; row < end; ++row) {
    const std::span<std::byte> bytes = row_bytes(cells, row);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

Result<void> unpack_rows(std::span<const std::byte> from, Cells& cells, std::size_t begin, std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const std::span<std::byte> bytes = row_bytes(cells, row);
    if (bytes.size() > from.size()) return Error("what another process read of a profile is incomplete");
    if (!bytes.empty()) std::memcpy(bytes.data(), from.data(), bytes.size());
    from = from.subspan(bytes.size());
  }
  return {};
}

class Reader {
 public:
  Reader(const Profile& profile, StoredMetric metric, IndexRange locations, bool aggregate)
      : profile_(profile), metric_(metric), locations_(locations), aggregate_(aggregate) {}

  Result<Cells> read(IndexRange contexts) const {
    const ValueType type = profile_.defs().metric(metric_.metric).type;
    const std::size_t columns = aggregate_ ? 1 : locations_.size();
    FATHOM_TRY(const auto reservation,
               profile_.work->budget.reserve(Cells::bytes_needed(type, contexts.size(), columns), "a table of values"));
    Cells cells(type, contexts.size(), columns);
    if (profile_.values->cheap_axis() == Axis::location) {
      FATHOM_CHECK(read_by_location(contexts, cells));
    } else if (aggregate_) {
      FATHOM_CHECK(share_rows(contexts, cells));
    } else {
      FATHOM_CHECK(read_rows(contexts, 0, contexts.size(), cells));
    }
    return cells;
  }

 private:
  static constexpr std::size_t kBlock = 64;  // contexts read as one piece of work

  // Rows [begin, end) of the table.
  Result<void> read_rows(IndexRange contexts, std::size_t begin, std::size_t end, Cells& cells) const {
    return parallel_blocks(end - begin, kBlock, [&](std::size_t from, std::size_t to) {
      std::vector<std::uint8_t> touched;
      return scan({contexts.begin + static_cast<std::uint32_t>(begin + from),
                   contexts.begin + static_cast<std::uint32_t>(begin + to)},
                  locations_, contexts.begin, touched, cells);
    });
  }

  // Neighbouring rows for every process.
  Result<void> share_rows(IndexRange contexts, Cells& cells) const {
    FATHOM_CHECK(team().assemble("values"));
    const std::size_t parts = team().size();
    if (parts == 1) return read_rows(contexts, 0, contexts.size(), cells);
    const auto bound = [&](std::size_t part) { return contexts.size() * part / parts; };
    FATHOM_TRY(Share share, Share::of("reading values", parts, {}));
    std::vector<PackedRows> packed(parts);
    FATHOM_CHECK(
        share.each([&](std::size_t part) { return read_rows(contexts, bound(part), bound(part + 1), cells); }));
    for (const std::size_t part : share.mine()) packed[part].cells = packed_rows(cells, bound(part), bound(part + 1));
    FATHOM_CHECK(bring_together(share, packed, Holder::all));
    for (std::size_t part = 0; part < parts; ++part) {
      FATHOM_CHECK(unpack_rows(packed[part].cells, cells, bound(part), bound(part + 1)));
    }
    return {};
  }

  // Pieces are ranges of locations. Combined values are kept per piece and put together in order: the pieces, and so
  // the rounding, depend on the number of locations alone.
  Result<void> read_by_location(IndexRange contexts, Cells& cells) const {
    constexpr std::size_t kLeast = 8;
    constexpr std::size_t kMostPieces = 8;
    const std::size_t grain = std::max(kLeast, (locations_.size() + kMostPieces - 1) / kMostPieces);
    const std::size_t pieces = (locations_.size() + grain - 1) / grain;
    const auto range = [&](std::size_t begin, std::size_t end) {
      return IndexRange{locations_.begin + static_cast<std::uint32_t>(begin),
                        locations_.begin + static_cast<std::uint32_t>(end)};
    };
    if (!aggregate_) {
      return parallel_blocks(locations_.size(), grain, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint8_t> touched;
        return scan(contexts, range(begin, end), contexts.begin, touched, cells);
      });
    }
    FATHOM_TRY(const auto reservation,
               profile_.work->budget.reserve(pieces * (Cells::bytes_needed(cells.type(), contexts.size(), 1) + 1),
                                             "sums over pieces of the locations"));
    std::vector<Cells> sums(pieces);
    std::vector<PackedRows> packed(pieces);
    const auto read_piece = [&](std::size_t piece) -> Result<void> {
      sums[piece] = Cells(cells.type(), contexts.size(), 1);
      return scan(contexts, range(piece * grain, std::min(locations_.size(), (piece + 1) * grain)), contexts.begin,
                  packed[piece].touched, sums[piece]);
    };
    FATHOM_CHECK(team().assemble("values"));
    if (team().alone()) {
      FATHOM_CHECK(parallel_for(pieces, read_piece));
    } else {
      FATHOM_TRY(Share share, Share::of("reading values", pieces, {}));
      FATHOM_CHECK(share.each(read_piece));
      for (const std::size_t piece : share.mine()) {
        packed[piece].cells = packed_rows(sums[piece], 0, contexts.size());
      }
      FATHOM_CHECK(bring_together(share, packed, Holder::all));
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        if (sums[piece].rows() == 0) sums[piece] = Cells(cells.type(), contexts.size(), 1);
        FATHOM_CHECK(unpack_rows(packed[piece].cells, sums[piece], 0, contexts.size()));
        packed[piece].touched.resize(contexts.size());
      }
    }
    for (std::size_t row = 0; row < contexts.size(); ++row) {
      bool first = true;
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        if (packed[piece].touched[row] == 0) continue;
        cells.add_cell(row, 0, sums[piece], row, 0, first);
        first = false;
      }
    }
    return {};
  }

  // `touched` is filled for the contexts scanned when values are combined.
  Result<void> scan(IndexRange contexts, IndexRange locations, std::uint32_t first_row,
                    std::vector<std::uint8_t>& touched, Cells& cells) const {
    touched.assign(aggregate_ ? contexts.size() : 0, 0);
    const std::size_t size = cells.type().size();
    const Box box{{&metric_, 1}, contexts, locations};
    return profile_.values->scan(box, [&](const Run& run) -> Result<void> {
      const auto place = [&](std::uint32_t context, std::uint32_t location, std::size_t count, const std::byte* at) {
        const std::size_t row = context - first_row;
        if (!aggregate_) return cells.store(row, location - locations_.begin, count, at);
        std::uint8_t& seen = touched[context - contexts.begin];
        cells.fold(row, 0, at, count, seen == 0);
        seen = 1;
      };
      if (run.along == Axis::location && run.positions.empty()) {
        place(run.context.value, run.first, run.count, run.values);
        return {};
      }
      for (std::size_t i = 0; i < run.count; ++i) {
        const std::uint32_t at = run.positions.empty() ? run.first + static_cast<std::uint32_t>(i) : run.positions[i];
        const bool by_location = run.along == Axis::location;
        place(by_location ? run.context.value : at, by_location ? at : run.location.value, 1, run.values + i * size);
      }
      return {};
    });
  }

  const Profile& profile_;
  StoredMetric metric_;
  IndexRange locations_;
  bool aggregate_;
};

// What lies below one context, in parts that do not depend on the number of threads and processes: every block of
// contexts is folded into partial sums of its own.
Result<void> fold_subtree(const Profile& profile, StoredMetric metric, const Selection& selection, ContextId root,
                          Cells& out, std::size_t row) {
  const ValueType type = out.type();
  const std::size_t columns = out.columns();
  const std::size_t count = profile.defs().contexts[root].end - root.index();
  constexpr std::size_t kParts = 16;
  const std::size_t grain = std::max<std::size_t>(64, (count + kParts - 1) / kParts);
  const std::size_t parts = (count + grain - 1) / grain;
  Cells sums(type, parts, columns);
  const auto fold_part = [&](std::size_t part) -> Result<void> {
    const IndexRange contexts{root.value + static_cast<std::uint32_t>(part * grain),
                              root.value + static_cast<std::uint32_t>(std::min(count, (part + 1) * grain))};
    ColumnSums rows(sums, part);
    auto status = profile.values->scan({{&metric, 1}, contexts, selection.locations}, [&](const Run& run) {
      if (selection.aggregate) {
        sums.fold(part, 0, run.values, run.count, false);
      } else if (run.along == Axis::location && run.positions.empty()) {
        rows.add(run.first - selection.locations.begin, run.count, run.values);
      } else {
        for (std::size_t i = 0; i < run.count; ++i) {
          const std::uint32_t at = run.positions.empty() ? run.first + static_cast<std::uint32_t>(i) : run.positions[i];
          const std::uint32_t column = run.along == Axis::location ? at : run.location.value;
          rows.add(column - selection.locations.begin, 1, run.values + i * type.size());
        }
      }
      return Result<void>();
    });
    rows.finish();
    return status;
  };
  FATHOM_CHECK(team().assemble("subtrees"));
  if (team().alone() || !selection.aggregate) {
    FATHOM_CHECK(parallel_for(parts, fold_part));
  } else {
    FATHOM_TRY(Share share, Share::of("adding values up", parts, {}));
    FATHOM_CHECK(share.each(fold_part));
    std::vector<PackedRows> packed(parts);
    for (const std::size_t part : share.mine()) packed[part].cells = packed_rows(sums, part, part + 1);
    FATHOM_CHECK(bring_together(share, packed, Holder::all));
    for (std::size_t part = 0; part < parts; ++part) {
      FATHOM_CHECK(unpack_rows(packed[part].cells, sums, part, part + 1));
    }
  }
  for (std::size_t part = 0; part < parts; ++part) out.add_row(row, sums, part);
  return {};
}

}  // namespace

Result<Cells> read_stored(const Profile& profile, StoredMetric metric, IndexRange contexts, IndexRange locations,
                          bool aggregate) {
  return Reader(profile, metric, locations, aggregate).read(contexts);
}

Result<Cells> read_subtrees(const Profile& profile, StoredMetric metric, const Selection& selection) {
  const std::size_t columns = selection.aggregate ? 1 : selection.locations.size();
  Cells out(profile.defs().metric(metric.metric).type, selection.contexts.size(), columns);
  for (std::size_t row = 0; row < selection.contexts.size(); ++row) {
    FATHOM_CHECK(fold_subtree(profile, metric, selection, selection.contexts[row], out, row));
  }
  return out;
}

}  // namespace fathom
