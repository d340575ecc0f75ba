#include "formats/dumpi/rank_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/share_out.hpp"
#include "base/text.hpp"
#include "formats/dumpi/clocks.hpp"
#include "formats/dumpi/opening.hpp"
#include "formats/dumpi/world.hpp"
#include "formats/reading_options.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"

namespace fathom::dumpi {

template <class Pack>
static void pack_fields(Pack& pack, ScanResult& scan) {
  pack(scan.records, scan.end, scan.chunks, scan.per_function, scan.threads, scan.any_wall, scan.any_cpu, scan.in_order,
       scan.end_mark, scan.any_source, scan.notable, scan.notable_number, scan.damage);
}

namespace fs = std::filesystem;

const std::string* Metafile::find(std::string_view key) const {
  for (const auto& [k, value] : entries) {
    if (k == key) return &value;
  }
  return nullptr;
}

namespace {
// Editors put a mark of UTF-8 in front.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}
}  // namespace

int metafile_keys(std::string_view head) {
  head = without_mark(head.substr(0, 4096));
  bool ranks = false;
  bool prefix = false;
  for (const std::string_view line : split(head, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    ranks = ranks || key == "numprocs";
    prefix = prefix || key == "fileprefix";
  }
  return (ranks ? 1 : 0) + (prefix ? 1 : 0);
}

Result<Metafile> read_metafile(const Blob& blob, const Work& work) {
  Metafile meta;
  LineCursor lines(blob);
  while (const auto line = lines.next()) {
    const std::string_view text = trim(without_mark(*line));
    if (text.empty() || text.starts_with('#')) continue;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
      FATHOM_CHECK(work->diagnostics.warn("dumpi.metafile_line", lines.place(), "a line must be key=value"));
      continue;
    }
    const std::string_view key = trim(text.substr(0, equals));
    const std::string_view value = trim(text.substr(equals + 1));
    meta.entries.emplace_back(key, value);
    if (key == "numprocs") {
      meta.ranks = parse_integer<std::uint32_t>(value);
      if (!meta.ranks || *meta.ranks == 0) {
        FATHOM_CHECK(work->diagnostics.warn("dumpi.metafile_numprocs", lines.place(),
                                            fmt::format("numprocs must be a number above 0, found '{}'", value)));
        meta.ranks.reset();
      }
    } else if (key == "fileprefix") {
      meta.prefix = value;
    }
  }
  return meta;
}

std::optional<RankName> parse_rank_name(const std::string& file_name) {
  std::string_view name = file_name;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (!name.ends_with(".bin")) return std::nullopt;
  name.remove_suffix(4);
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto rank = parse_integer<std::uint32_t>(name.substr(dash + 1));
  if (!rank) return std::nullopt;
  return RankName{std::string(name.substr(0, dash)), *rank};
}

namespace {

// Rank files of a directory by stem.
std::map<std::string, std::map<std::uint32_t, fs::path>> list_rank_files(const fs::path& directory) {
  std::map<std::string, std::map<std::uint32_t, fs::path>> found;
  const auto entries = list_directory(directory.empty() ? fs::path(".") : directory);
  if (!entries) return found;
  for (const fs::path& entry : *entries) {
    const auto name = parse_rank_name(entry.filename().string());
    // The same rank twice (other widths, packed and plain): the plain name that sorts first, so that it is always the
    // same.
    if (name) found[name->stem].emplace(name->rank, entry);
  }
  return found;
}

}  // namespace

Result<std::shared_ptr<RankSet>> RankSet::open(const Source& source, const Work& work) {
  auto set = std::make_shared<RankSet>();
  set->work_ = work;
  std::vector<std::pair<std::uint32_t, fs::path>> paths;
  fs::path meta_path;

  if (!source.is_directory() && source.blob().starts_with(kMagic)) {
    const auto name = parse_rank_name(source.path().filename().string());
    FATHOM_TRY(File file, File::open(source.blob(), work));
    const bool numbered = name && plausible_world(std::uint64_t{name->rank} + 1, 1);
    set->files_.push_back({numbered ? name->rank : 0, std::move(file)});
    set->world_size_ = set->files_[0].rank + 1;
    return set;
  }

  fs::path directory = source.path();
  if (source.is_directory()) {
    // The metafile of the directory; the rank files alone do when there is none.
    std::vector<fs::path> metas;
    if (const auto entries = list_directory(directory)) {
      for (const fs::path& entry : *entries) {
        if (entry.extension() == ".meta") metas.push_back(entry);
      }
    }
    if (metas.size() > 1) {
      return Error(fmt::format("holds {} metafiles; name the one that is meant, for example {}", metas.size(),
                               metas.front().string()),
                   Place::in(directory.string()));
    }
    if (!metas.empty()) meta_path = metas.front();
  } else {
    meta_path = source.path();
    directory = source.path().parent_path();
  }

  auto stems = list_rank_files(directory);
  if (!meta_path.empty()) {
    FATHOM_TRY(const Blob blob, open_file(meta_path, work));
    FATHOM_TRY(set->metafile_, read_metafile(blob, work));
    const Metafile& meta = *set->metafile_;
    // People rename and move sets: the prefix as it is, its last part, and the metafile's own name.
    const fs::path prefix(meta.prefix);
    const std::string base = prefix.filename().string();
    const std::string stem = meta_path.stem().string();
    const std::map<std::uint32_t, fs::path>* chosen = nullptr;
    std::map<std::string, std::map<std::uint32_t, fs::path>> elsewhere;
    if (prefix.has_parent_path()) {
      elsewhere = list_rank_files(directory / prefix.parent_path());
      if (const auto it = elsewhere.find(base); it != elsewhere.end()) chosen = &it->second;
    }
    for (const std::string& candidate : {base, stem}) {
      if (chosen != nullptr) break;
      if (const auto it = stems.find(candidate); it != stems.end()) chosen = &it->second;
    }
    if (chosen == nullptr) {
      return Error(
                 fmt::format("none of the rank files exist: looked for {}-0000.bin and {}-0000.bin", meta.prefix, stem),
                 Place::in(meta_path.string()))
          .hint("the .bin files must lie beside the metafile or where its fileprefix says");
    }
    if (meta.prefix.empty()) {
      FATHOM_CHECK(work->diagnostics.warn("dumpi.metafile_prefix", Place::in(meta_path.string()),
                                          "there is no fileprefix; the files of the metafile's own name are used"));
    }
    paths.assign(chosen->begin(), chosen->end());
    const std::uint32_t highest = paths.back().first;
    set->world_size_ = meta.ranks.value_or(highest + 1);
    if (!plausible_world(set->world_size_, paths.size())) {
      FATHOM_CHECK(work->diagnostics.warn("dumpi.metafile_numprocs", Place::in(meta_path.string()),
                                          fmt::format("numprocs is {}, but there are {} rank files: taken as {} ranks",
                                                      set->world_size_, paths.size(), std::uint64_t{highest} + 1)));
      set->world_size_ = highest + 1;
    }
    if (highest >= set->world_size_) {
      FATHOM_CHECK(work->diagnostics.warn(
          "dumpi.metafile_numprocs", Place::in(meta_path.string()),
          fmt::format("numprocs is {}, but there is a file of rank {}", set->world_size_, highest)));
      set->world_size_ = highest + 1;
    }
    if (paths.size() < set->world_size_) {
      FATHOM_CHECK(work->diagnostics.lost(
          "dumpi.missing_ranks", Place::in(meta_path.string()),
          fmt::format("{} of {} ranks have no file", set->world_size_ - paths.size(), set->world_size_)));
    }
  } else {
    if (stems.empty()) {
      return Error("holds no metafile and no NAME-0000.bin", Place::in(directory.string()));
    }
    if (stems.size() > 1) {
      return Error(fmt::format("holds rank files of {} runs and no metafile: {}, {}, ...", stems.size(),
                               stems.begin()->first, std::next(stems.begin())->first),
                   Place::in(directory.string()))
          .hint("name one of the files, or give each run its own directory");
    }
    const auto& ranks = stems.begin()->second;
    paths.assign(ranks.begin(), ranks.end());
    set->world_size_ = paths.back().first + 1;
    if (paths.size() < set->world_size_) {
      FATHOM_CHECK(work->diagnostics.lost(
          "dumpi.missing_ranks", Place::in(directory.string()),
          fmt::format("{} of {} ranks have no file", set->world_size_ - paths.size(), set->world_size_)));
    }
  }

  if (!plausible_world(std::uint64_t{paths.back().first} + 1, paths.size())) {
    return Error(fmt::format("the number {} is no rank of a run with {} files", paths.back().first, paths.size()),
                 Place::in(paths.back().second.string()))
        .hint("rank files are named PREFIX-0000.bin, PREFIX-0001.bin, ...");
  }
  std::vector<fs::path> names;
  for (const auto& [rank, path] : paths) names.push_back(path);
  FATHOM_TRY(std::vector<OpenedRank> opened, open_rank_files(names, work));
  // A rank that cannot be read is missing, the others are still worth having.
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto& [file, failed] = opened[i];
    if (file) {
      set->files_.push_back({paths[i].first, *std::move(file)});
      continue;
    }
    if (failed->kind() != ErrorKind::unusable || paths.size() == 1) return *std::move(failed);
    FATHOM_CHECK(work->diagnostics.lost("dumpi.unreadable_rank", failed->place(), failed->message()));
  }
  if (set->files_.empty()) return Error("none of the rank files can be read", Place::in(source.path().string()));
  return set;
}

std::shared_ptr<RankSet> RankSet::of(File file, std::uint32_t rank, Work work) {
  auto set = std::make_shared<RankSet>();
  set->files_.push_back({rank, std::move(file)});
  set->world_size_ = rank + 1;
  set->work_ = std::move(work);
  return set;
}

std::uint64_t RankSet::bytes() const {
  std::uint64_t sum = 0;
  for (const RankFile& file : files_) sum += file.file.size();
  return sum;
}

int RankSet::find(std::uint32_t rank) const {
  const auto it = std::lower_bound(files_.begin(), files_.end(), rank,
                                   [](const RankFile& file, std::uint32_t wanted) { return file.rank < wanted; });
  return it != files_.end() && it->rank == rank ? static_cast<int>(it - files_.begin()) : -1;
}

Result<const std::vector<ScanResult>*> RankSet::scans() const {
  const std::scoped_lock lock(mutex_);
  if (!scans_) {
    const auto bytes = [&](std::size_t i) { return files_[i].file.size(); };
    const auto one = [&](std::size_t i, ScanResult& result) -> Result<void> {
      FATHOM_TRY(result, scan(files_[i].file, work_));
      return {};
    };
    FATHOM_TRY(std::vector<ScanResult> results,
               share_out<ScanResult>("scanning", files_.size(), bytes, Holder::all, one));
    // A number in the metafile that is not believed says nothing about the files.
    const bool told = metafile_ && metafile_->ranks && *metafile_->ranks == world_size_;
    FATHOM_CHECK(check_identities(files_, results, told ? metafile_->ranks : std::nullopt, work_));
    if (work_->options.text(kClock) != "raw") {
      FATHOM_TRY(const std::vector<std::int64_t> shifts, clock_shifts(files_, results, work_));
      for (std::size_t i = 0; i < files_.size(); ++i) files_[i].file.shift_clock(shifts[i]);
    }
    scans_ = std::move(results);
  }
  return &*scans_;
}

}  // namespace fathom::dumpi
