// A database of the 4.0 (XML) or 4.x (meta.db) generation as a dataset.
#pragma once

#include <optional>

#include "formats/format.hpp"
#include "formats/hpctoolkit/cct_db.hpp"
#include "formats/hpctoolkit/database_source.hpp"
#include "formats/hpctoolkit/experiment_xml.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/meta_db.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/trace_db.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// The files of a database, mapped; those that are not there are absent.
struct DatabaseFiles {
  std::filesystem::path directory;
  Blob description;  // meta.db or experiment.xml
  std::optional<Blob> profiles;
  std::optional<Blob> contexts;
  std::optional<Blob> trace;
  std::string named;  // the file that was asked for; empty: the directory

  static Result<DatabaseFiles> at(const std::filesystem::path& directory, const char* description, const Work& work);
};

class Database : public Dataset {
 public:
  static Result<std::unique_ptr<Database>> open(const Format& format, DatabaseFiles files, const Work& work);

  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] std::vector<Level> levels() const override;
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<ProfilePtr> profile() override;
  Result<std::shared_ptr<const Trace>> trace() override;
  Result<void> check() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<TraceStatistics> statistics(const StatisticsOptions& options) override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

  [[nodiscard]] const Mapping& mapping() const { return *mapping_; }
  [[nodiscard]] const DatabaseSource& source() const { return *source_; }

 private:
  Database(const Format& format, DatabaseFiles files, const Work& work)
      : Dataset(format, files.directory, work), files_(std::move(files)) {}
  Result<void> load();
  Result<void> load_taxonomy(Mapping& mapping);
  Result<std::vector<ProfileRecord>> numbered_profiles();
  Result<void> load_values();
  [[nodiscard]] MetricId metric_of_id(std::uint16_t id) const;

  DatabaseFiles files_;
  std::string version_;
  std::string variant_;
  std::shared_ptr<const ProfileDb> profiles_;
  std::shared_ptr<const CctDb> contexts_;
  std::shared_ptr<const TraceDb> trace_db_;
  std::shared_ptr<Mapping> mapping_;
  std::shared_ptr<const DatabaseSource> source_;
  std::shared_ptr<const Profile> profile_;
  std::shared_ptr<const Trace> trace_;
};

}  // namespace fathom::hpctoolkit
