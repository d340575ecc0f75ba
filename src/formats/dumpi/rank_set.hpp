// The files of one run: found from a metafile, a directory or one rank's file.
#pragma once

#include <filesystem>
#include <mutex>

#include "formats/dumpi/scan.hpp"
#include "formats/format.hpp"

namespace fathom::dumpi {

// The text file that names a run.
struct Metafile {
  std::vector<std::pair<std::string, std::string>> entries;  // in file order, unknown keys too
  std::optional<std::uint32_t> ranks;                        // numprocs
  std::string prefix;                                        // fileprefix
  [[nodiscard]] const std::string* find(std::string_view key) const;
};
// How many of the two keys that a metafile needs are there.
int metafile_keys(std::string_view head);
Result<Metafile> read_metafile(const Blob& blob, const Work& work);

struct RankFile {
  std::uint32_t rank = 0;
  File file;
};

// Ranks are in ascending order; some may be missing.
class RankSet {
 public:
  static Result<std::shared_ptr<RankSet>> open(const Source& source, const Work& work);
  static std::shared_ptr<RankSet> of(File file, std::uint32_t rank, Work work);

  // Once scans() was called the files have the clock of the run.
  [[nodiscard]] const std::vector<RankFile>& files() const { return files_; }
  // World size: what the metafile says, or one more than the highest rank found.
  [[nodiscard]] std::uint32_t world_size() const { return world_size_; }
  [[nodiscard]] const std::optional<Metafile>& metafile() const { return metafile_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] std::uint64_t bytes() const;
  // Position of a rank in files(), or -1.
  [[nodiscard]] int find(std::uint32_t rank) const;

  // One pass over all streams, made on first use. MT: safe.
  Result<const std::vector<ScanResult>*> scans() const;

 private:
  mutable std::vector<RankFile> files_;  // their clocks are set by scans()
  std::uint32_t world_size_ = 0;
  std::optional<Metafile> metafile_;
  Work work_;
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<ScanResult>> scans_;
};

// "run-0003.bin" or "run-0003.bin.gz": its stem and rank.
struct RankName {
  std::string stem;
  std::uint32_t rank = 0;
};
std::optional<RankName> parse_rank_name(const std::string& file_name);

}  // namespace fathom::dumpi
