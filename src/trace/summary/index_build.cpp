#include "trace/summary/index_build.hpp"

#include "base/cancel.hpp"
#include "base/share_out.hpp"
#include "io/file.hpp"
#include "io/shared_output.hpp"
#include "trace/extent.hpp"
#include "trace/summary/row_reader.hpp"

namespace fathom::summary {

namespace fs = std::filesystem;

template <class Pack>
void pack_fields(Pack& pack, BlockTree::Layout& layout) {
  pack(layout.packed_bytes, layout.blocks, layout.level_sizes, layout.sampled);
}
template <class Pack>
void pack_fields(Pack& pack, RowEntry& row) {
  pack(row.first_ns, row.last_ns, row.length, row.layout, row.end_ns, row.transitions, row.nodes, row.in_time_order);
}

namespace {

// What all processes know of a row; its tree stays where it was made.
struct MadeRow {
  RowEntry entry;
  std::uint64_t events = 0;
  std::vector<Contexts::Node> met;
  TimelineRow row;
};
template <class Pack>
void pack_fields(Pack& pack, MadeRow& row) {
  pack(row.entry, row.events, row.met);
}

Result<void> make_row(const Trace& trace, ChannelId channel, LocationId location,
                      const std::shared_ptr<ArrayPool>& pool, MadeRow& out) {
  FATHOM_TRY(RowReader reader, RowReader::open(trace, channel, location, pool));
  for (bool more = true; more;) {
    FATHOM_TRY(more, reader.read_some());
    if (cancelled()) return cancelled_error();
  }
  if (reader.first_ns()) {
    out.row.first_ns = *reader.first_ns();
    out.row.last_ns = reader.last_ns();
  }
  FATHOM_TRY(out.row.tree, reader.finish());
  out.row.in_time_order = reader.in_time_order();
  out.entry = entry_of(out.row);
  out.events = reader.events();
  out.met.assign(reader.met().nodes().begin(), reader.met().nodes().end());
  return {};
}

BuiltIndex described(const StoredIndex& index, const fs::path& file) {
  BuiltIndex out;
  out.rows = index.rows.size();
  out.events = index.events;
  for (const RowPtr& row : index.rows) out.transitions += row->tree.transitions();
  std::error_code ignored;
  out.bytes = fs::file_size(file, ignored);
  return out;
}

// Whether it is there already, as the first process sees it.
Result<std::optional<BuiltIndex>> stored(const IndexPlace& place, const Trace& trace, const Work& work) {
  FATHOM_CHECK(team().assemble("index"));
  std::optional<BuiltIndex> found;
  std::error_code ignored;
  if (team().first() && fs::exists(place.file, ignored)) {
    auto index = read_index(place.file, place.key, trace);
    if (index.ok()) {
      found = described(*index, place.file);
    } else {
      work->diagnostics.info("view.index_remade", Place::in(place.file.string()),
                             index.error().message() + "; it is made anew");
    }
  }
  FATHOM_TRY(const Parcel told, team().broadcast(packed(found.has_value())));
  FATHOM_TRY(const bool there, unpacked<bool>(told));
  if (there) FATHOM_CHECK(first_goes_on());
  return found;
}

// Numbers of contexts in the order of the rows, so that they do not depend on who made which.
std::string directory_text(const std::vector<MadeRow>& rows, const IndexPlace& place, std::string& head) {
  Contexts contexts;
  std::vector<std::vector<std::uint32_t>> global(rows.size());
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    events += rows[i].events;
    for (const Contexts::Node& node : rows[i].met) {
      const std::uint32_t above = node.parent == kNothing ? kNothing : global[i][node.parent];
      global[i].push_back(contexts.child(above, node.step));
    }
  }
  IndexDirectory directory(events, contexts.nodes(), rows.size());
  std::uint64_t at = kIndexHead;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    directory.add(rows[i].entry, at, global[i]);
    at += rows[i].entry.length;
  }
  head = directory.head(place.key, at);
  return directory.text();
}

}  // namespace

Result<BuiltIndex> build_index(const Trace& trace, ChannelId channel, const Work& work, const IndexPlace& place) {
  FATHOM_TRY(const std::optional<BuiltIndex> there, stored(place, trace, work));
  if (there) return *there;
  FATHOM_TRY(const IndexMemory memory, index_memory(work));
  const auto weight = [&](std::size_t i) { return extent(trace, LocationId(i)); };
  FATHOM_TRY(Share share, Share::of("indexing", trace.location_count(), weight));
  std::vector<MadeRow> rows(trace.location_count());
  FATHOM_CHECK(
      share.each([&](std::size_t i) { return make_row(trace, channel, LocationId(i), memory.pool, rows[i]); }));
  if (!share.alone()) FATHOM_CHECK(bring_together(share, rows, Holder::all));
  FATHOM_TRY(const Parcel told, team().broadcast(packed(place.file.filename())));
  FATHOM_TRY(const fs::path name, unpacked<fs::path>(told));
  FATHOM_TRY(SharedOutput out, SharedOutput::make([&]() -> Result<OutputSet> {
               make_index_directory(place.file);
               return OutputSet::beside(place.file, {});
             }));
  FATHOM_TRY(SharedFile file, SharedFile::open(out.path() / name));
  std::vector<std::uint64_t> at(rows.size() + 1, kIndexHead);
  for (std::size_t i = 0; i < rows.size(); ++i) at[i + 1] = at[i] + rows[i].entry.length;
  for (const std::size_t i : share.mine()) FATHOM_CHECK(file.write(at[i], rows[i].row.tree.raw()));
  if (team().first()) {
    std::string head;
    const std::string directory = directory_text(rows, place, head);
    FATHOM_CHECK(file.write(0, as_bytes(head)));
    FATHOM_CHECK(file.write(at.back(), as_bytes(directory)));
  }
  FATHOM_CHECK(file.finish());
  FATHOM_CHECK(out.all_written());
  const fs::path written = out.path() / name;
  FATHOM_TRY(const StoredIndex index, read_index(written, place.key, trace));
  std::error_code ignored;
  fs::permissions(written, fs::perms::owner_read | fs::perms::owner_write, ignored);
  BuiltIndex built = described(index, written);
  built.made = true;
  FATHOM_CHECK(out.set().commit());
  prune_indexes(place.file.parent_path(), place.most_bytes, place.file);
  return built;
}

}  // namespace fathom::summary
