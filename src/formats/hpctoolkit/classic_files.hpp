// Per-thread files of classic databases: dense metric values (*.metric-db), samples (*.hpctrace), and the merged forms
// (experiment-N.mdb, experiment.mt) that the viewer makes of them. All big endian.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

// One stream's file, or its part of a merged file.
struct StreamFile {
  std::optional<std::int64_t> process;
  std::optional<std::int64_t> thread;
  // From the file name; parts of merged files have none of these.
  std::string program;  // the whole name where it does not say more
  std::string host;     // hexadecimal
  std::string pid;
  std::string generation;
  Blob content;
};

// Files of a directory that match a pattern, in name order; what the names say is taken from them.
Result<std::vector<StreamFile>> stream_files(const std::filesystem::path& directory, const std::string& pattern,
                                             const Work& work);
// Which of the streams each trace belongs to, or none. Names that agree in everything decide; what is left belongs
// together where rank and thread leave no choice. Two processes can have the same rank: a program that forks.
std::vector<std::optional<std::size_t>> streams_of_traces(const std::vector<StreamFile>& traces,
                                                          const std::vector<StreamFile>& streams);
// The parts of a merged file. One without the end marker is refused: it was not written to the end.
Result<std::vector<StreamFile>> merged_files(const Blob& blob, const Work& work);

// A dense table: row = context id - 1.
struct MetricDbFile {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  const std::byte* values = nullptr;

  // A file that ends early keeps its whole rows; the rest is reported and counts as zero.
  static Result<MetricDbFile> read(const Blob& blob, const Work& work);
  [[nodiscard]] double at(std::uint64_t row, std::uint32_t column) const {
    return load_unchecked<double>(values + (row * columns + column) * sizeof(double), Endian::big);
  }
};

struct TraceFile {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint32_t stride = 12;  // 16 where samples carry a metric

  // A record is time, context and, where it is there, the id of a metric.
  [[nodiscard]] bool has_metric_ids() const { return stride > 12; }
  // `header_size` as the XML says it, 0 = from the file's version.
  static Result<TraceFile> read(const Blob& blob, std::uint64_t header_size, const Work& work);
};

}  // namespace fathom::hpctoolkit
