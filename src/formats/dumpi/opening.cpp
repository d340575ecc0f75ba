#include "formats/dumpi/opening.hpp"

#include "base/share_out.hpp"
#include "io/file_sizes.hpp"

namespace fathom::dumpi {

namespace {

// What a process tells the others about a file.
struct Told {
  OpenedRank rank;
  std::uint64_t size = 0;
};
template <class Pack>
void pack_fields(Pack& pack, Told& told) {
  pack(told.rank.file, told.rank.failed, told.size);
}

}  // namespace

template <class Pack>
static void pack_fields(Pack& pack, Header& header) {
  pack(header.version, header.start_time, header.host, header.user, header.mesh_position, header.mesh_size);
}
template <class Pack>
static void pack_fields(Pack& pack, FunctionAddress& entry) {
  pack(entry.address, entry.label);
}
template <class Pack>
static void pack_fields(Pack& pack, Sections& sections) {
  pack(sections.header, sections.footer, sections.keyvals, sections.counters, sections.addresses, sections.sizes,
       sections.present);
}
template <class Pack>
static void pack_fields(Pack& pack, Layout& layout) {
  pack(layout.order, layout.behind, layout.index_entries, layout.keyvals_indexed, layout.end_mark);
}

Result<std::vector<OpenedRank>> open_rank_files(const std::vector<std::filesystem::path>& paths, const Work& work) {
  const auto files = make_open_files();
  // Whoever opens a file reads it later on, too: work is dealt out by bytes from here on.
  FATHOM_TRY(const auto sizes, sizes_of_files(paths));
  const auto bytes = [&](std::size_t i) { return sizes[i]; };
  const auto open = [&](std::size_t i, Told& told) -> Result<void> {
    auto opened = [&]() -> Result<File> {
      FATHOM_TRY(FileOnDemand source, FileOnDemand::open(paths[i], files, work));
      return File::open(std::move(source), work);
    }();
    if (opened) {
      told.size = opened->size();
      told.rank.file = *std::move(opened);
    } else {
      told.rank.failed = std::move(opened).error();
    }
    return {};
  };
  FATHOM_TRY(std::vector<Told> all, share_out<Told>("opening files", paths.size(), bytes, Holder::all, open));
  std::vector<OpenedRank> ranks(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ranks[i] = std::move(all[i].rank);
    if (ranks[i].file && ranks[i].file->name().empty()) {
      ranks[i].file->set_source(FileOnDemand::known(paths[i], all[i].size, files, work));
    }
  }
  return ranks;
}

}  // namespace fathom::dumpi
