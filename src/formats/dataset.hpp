// A dataset that was opened: which format it is, what levels it has, and its native records.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/number.hpp"
#include "base/work.hpp"
#include "trace/statistics.hpp"

namespace fathom {

struct Profile;
class Trace;
class Experiment;
struct ModelSet;
struct Format;

enum class Level : std::uint8_t { trace, profile, experiment, model };
std::string_view to_string(Level level);

// One line of `fathom info`: a key of the machine interface and its value; null = not known without a full pass.
using InfoValue =
    std::variant<std::nullptr_t, std::uint64_t, std::int64_t, double, std::string, std::vector<std::string>>;
struct InfoEntry {
  std::string key;  // "metrics", "contexts", "events", ...; further ones are free
  InfoValue value;
};
// When a trace begins and ends, on its own clock, and how long that is.
void describe_span(std::int64_t first_ns, std::int64_t last_ns, std::vector<InfoEntry>& entries);

// Where native text goes; returns false when nobody reads any more.
using TextSink = std::function<bool(std::string_view)>;

struct DumpOptions {
  bool raw = false;                   // -x
  bool old = false;                   // --old
  std::vector<std::string> sections;  // format-specific choice; empty = all
};

struct WriteOptions {
  bool compress = false;  // pack values where the format can
  std::vector<std::pair<std::string, std::string>>
      options;  // KEY=VALUE in the order given; the format declares the keys
};

// Formats derive from this and override what they have. MT: externally synchronised unless a method says otherwise.
class Dataset {
 public:
  Dataset(const Format& format, std::filesystem::path path, Work work)
      : format_(format), path_(std::move(path)), work_(std::move(work)) {}
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  virtual ~Dataset() = default;

  [[nodiscard]] const Format& format() const { return format_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Work& work() const { return work_; }

  [[nodiscard]] virtual std::string version() const { return {}; }
  // What the data are, as they are stored.
  [[nodiscard]] virtual std::vector<Level> levels() const = 0;
  // The same and what is made from them on demand: what can be asked for below.
  [[nodiscard]] std::vector<Level> offered_levels() const;
  // Everything `info` shows besides format, version and levels. `count` allows a full pass.
  virtual Result<std::vector<InfoEntry>> describe(bool count) = 0;

  // The levels; each is made on first use. A trace without a profile is reduced to one; any other level that the
  // dataset does not have is a usage error.
  virtual Result<std::shared_ptr<const Profile>> profile();
  virtual Result<std::shared_ptr<const Trace>> trace();
  virtual Result<std::shared_ptr<const Experiment>> experiment();
  // Named sets of models that the file holds, for the series of experiment().
  virtual Result<std::shared_ptr<const std::vector<ModelSet>>> models();

  // The native layer, for what belongs to one format alone.
  virtual Result<void> dump(const DumpOptions& options, const TextSink& sink);
  // Statistics of a trace, for `stats`: from its events, unless a community counts by rules of its own.
  virtual Result<TraceStatistics> statistics(const StatisticsOptions& options);
  // Prints them as the format's community knows them; false = there is no such form, print the tables.
  virtual Result<bool> statistics_text(const StatisticsOptions& options, const TextSink& sink);
  // Notes every defect in work()->diagnostics; an error only when it cannot go on.
  virtual Result<void> check();
  // Writes the same format again without loss; false when this format has no such thing.
  virtual Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options);

 protected:
  [[nodiscard]] Error no_level(Level level) const;

 private:
  const Format& format_;
  std::filesystem::path path_;
  Work work_;
  std::shared_ptr<const Profile> reduced_;
};

using DatasetPtr = std::unique_ptr<Dataset>;

}  // namespace fathom
