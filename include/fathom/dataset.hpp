// Any dataset: a file or directory of any format that Fathom reads.
//
// Functions that can fail return Result<T>; nothing throws and nothing prints. What was noticed while reading and did
// not stop it is in diagnostics().
//
// What outlives what: a dataset is a handle; everything made from it (tables, traces, profiles, models, scans) shares
// what it needs, so that they may be dropped in any order. Files must not change while they are open.
#pragma once

#include <fathom/export.h>

#include <cstdint>
#include <fathom/error.hpp>
#include <fathom/options.hpp>
#include <fathom/profile.hpp>
#include <fathom/table.hpp>
#include <fathom/trace.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::api {

enum class Level : std::uint8_t { trace, profile, experiment, model };

// One line of `fathom info`.
struct Info {
  std::string key;
  std::string value;  // as JSON: a number, a text in quotes, an array, null = not known without a full pass
};

enum class Severity : std::uint8_t { info, warning, data_loss };

struct Diagnostic {
  std::string id;  // stable, dotted
  Severity severity = Severity::warning;
  Place place;
  std::uint64_t count = 1;
  std::string text;
};

// Copies are the same dataset. MT: internally synchronised.
class FATHOM_API Dataset {
 public:
  struct State;
  explicit Dataset(std::shared_ptr<State> state);
  Dataset(const Dataset&);
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(const Dataset&);
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] std::string_view format() const;
  [[nodiscard]] std::string version() const;
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::vector<Level> levels() const;
  // `count` allows a full pass over the data.
  [[nodiscard]] Result<std::vector<Info>> info(bool count = false) const;
  [[nodiscard]] std::vector<Diagnostic> diagnostics() const;

  [[nodiscard]] Result<Trace> trace() const;
  [[nodiscard]] Result<Profile> profile() const;
  // Names of the tables that it has, and one of them.
  [[nodiscard]] std::vector<std::string> tables() const;
  [[nodiscard]] Result<Table> table(std::string_view name, const Bounds& bounds = {}) const;

  // For the library's own use.
  [[nodiscard]] const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// SQL over one dataset, or over several, each in a schema of its own; see `fathom sql`. Needs libduckdb.so, which is
// loaded when it is first used. Queries see the datasets and neither files nor the network. The table is read once.
struct NamedDataset {
  std::string schema;  // "" = tables need no schema
  Dataset dataset;
};
FATHOM_API Result<Table> sql(const std::vector<NamedDataset>& datasets, std::string_view query);

// What is wrong and why, as `fathom report --json` says it, without the diagnostics.
FATHOM_API Result<std::string> report(const Dataset& dataset);
// The profile of a trace, as `fathom reduce` makes it. Options: from_ns, to_ns, windows, split (communicator, peer,
// size), channel (may come several times).
FATHOM_API Result<Dataset> reduce(const Dataset& dataset,
                                  const std::vector<std::pair<std::string, std::string>>& options = {});

// Opens a file or directory.
FATHOM_API Result<Dataset> open(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace fathom::api

namespace fathom {
using api::open;
using api::report;
using api::sql;
}  // namespace fathom
