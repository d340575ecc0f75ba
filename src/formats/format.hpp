// What a format folder offers to the registry.
#pragma once

#include <optional>

#include "base/option.hpp"
#include "formats/dataset.hpp"
#include "io/blob.hpp"

namespace fathom {

enum class Scaling : std::uint8_t;

// A path that is to be recognised and opened: its content for a file, its entries for a directory.
class Source {
 public:
  static Result<Source> at(const std::filesystem::path& path, const Work& work);
  // Bytes in memory under a name, for tests and fuzzing.
  static Source of(Blob blob) {
    std::filesystem::path path = blob.name();
    return Source(std::move(path), std::move(blob), false);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_directory() const { return is_directory_; }
  // Of a file, unpacked when it was gzip; empty for a directory.
  [[nodiscard]] const Blob& blob() const { return blob_; }
  // The first bytes as text, for recognition.
  [[nodiscard]] std::string_view head(std::size_t count = 4096) const { return blob_.text().substr(0, count); }
  // True when the directory has an entry of that name.
  [[nodiscard]] bool has(std::string_view entry) const;

 private:
  Source(std::filesystem::path path, Blob blob, bool is_directory)
      : path_(std::move(path)), blob_(std::move(blob)), is_directory_(is_directory) {}
  std::filesystem::path path_;
  Blob blob_;
  bool is_directory_;
};

enum class Confidence : std::uint8_t { no, maybe, likely, certain };

struct Match {
  Confidence confidence = Confidence::no;
  std::string reason;  // "starts with 'ustar' and holds anchor.xml"
};

// What can be read from or written to at each level.
struct Capabilities {
  std::vector<Level> reads;
  std::vector<Level> writes;
};

// One run of a directory of runs, and where in the parameter space it was made.
struct RunFile {
  std::filesystem::path path;
  std::vector<double> point;
};
using CollectRuns = Result<std::shared_ptr<const Experiment>> (*)(const std::string& name,
                                                                  const std::vector<std::string>& parameters,
                                                                  const std::vector<RunFile>& runs, Scaling scaling,
                                                                  const Work& work);

// One kind of record that a format knows, for `fathom formats NAME --events`.
struct CatalogueEntry {
  std::string code;
  std::string group;
  std::string arguments;
  std::string meaning;
  std::string effect;
};

// What can be asked of a format beside the path, by what it is for.
struct FormatOptions {
  std::vector<const OptionDeclaration*> reading = {};     // found in the work's options
  std::vector<const OptionDeclaration*> writing = {};     // handed over as WriteOptions
  std::vector<const OptionDeclaration*> statistics = {};  // handed over as StatisticsOptions
};

// What several processes do together, each a part of it. The first one does the rest alone.
struct SharedWork {
  bool reads_values = false;    // the values of its profiles
  bool writes_profile = false;  // a profile of another format that is read so
  bool writes_trace = false;    // a trace of another format
  bool rewrites = false;        // a dataset of its own
};

struct Format {
  std::string_view name;        // as in --from, --to and info
  std::string_view title;       // for people: "Cube 4 profile"
  std::string_view extensions;  // ".cubex", blank separated; used for choosing an output format, never alone for input
  Capabilities can;
  // Looks at content, bounded; cannot fail.
  Match (*recognise)(const Source& source) = nullptr;
  Result<DatasetPtr> (*open)(const Source& source, const Work& work) = nullptr;
  // Writes whatever level of the dataset it can take.
  Result<void> (*write)(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) = nullptr;
  // How runs of this format become an experiment where its community has rules of its own; otherwise their profiles
  // are collected. Runs come in the order of their points.
  CollectRuns collect = nullptr;
  // Where profiles are collected: call nodes of one path in a run are repetitions, as its community has it. Otherwise
  // they are one, which has the values of all.
  bool equal_paths_repeat = false;
  // Every kind of record it knows, where there is a fixed list of them.
  std::vector<CatalogueEntry> (*catalogue)() = nullptr;
  FormatOptions options = {};
  SharedWork shared = {};
  // Formats of one family take over the trace beside each other's profiles, also those that are written for profiles.
  std::string_view family = {};
};

}  // namespace fathom
