// A classic database (experiment.xml 2.x, 3.x with per-thread files) as a dataset.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "formats/format.hpp"
#include "formats/hpctoolkit/classic_files.hpp"
#include "formats/hpctoolkit/classic_values.hpp"
#include "formats/hpctoolkit/experiment_xml.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/hpctoolkit/sample_trace.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

class ClassicDatabase : public Dataset {
 public:
  static Result<std::unique_ptr<ClassicDatabase>> open(const Format& format, const std::filesystem::path& directory,
                                                       const Blob& xml, const Work& work);

  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] std::vector<Level> levels() const override;
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<ProfilePtr> profile() override { return profile_; }
  Result<std::shared_ptr<const Trace>> trace() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<TraceStatistics> statistics(const StatisticsOptions& options) override;

 private:
  ClassicDatabase(const Format& format, std::filesystem::path directory, const Work& work)
      : Dataset(format, std::move(directory), work) {}
  Result<void> load(const Blob& blob);
  Result<void> load_metric_files(const ExperimentXml& xml);
  Result<void> load_traces(const ExperimentXml& xml);
  Result<TickScale> scale_of(const ExperimentXml& xml, const std::vector<SampleLine>& lines) const;
  [[nodiscard]] static std::vector<std::string> patterns_of(const ExperimentXml& xml);
  Result<std::vector<StreamFile>> find_streams(const std::string& merged, const std::string& pattern) const;
  TableColumns map_tables(const ExperimentXml& xml);
  Result<void> tell_what_has_no_place(const ExperimentXml& xml, const std::vector<ContextId>& contexts) const;
  struct TreeRows {
    std::vector<bool> in_tree;  // as many as the largest table has
    std::uint64_t needed = 0;
  };
  [[nodiscard]] Result<void> tell_of_table(const ExperimentXml& xml, std::size_t table, const TreeRows& rows) const;
  [[nodiscard]] Result<void> tell_of_unnamed_files() const;
  Result<void> map_columns(const ExperimentXml& xml, const std::vector<ContextId>& contexts, TableColumns columns);
  LocationId location_for(SystemTree& system, const StreamFile& file, std::size_t position);

  Blob xml_;
  std::string version_;
  Mapping mapping_;
  std::map<std::string, SystemNodeId> parts_;  // hosts and processes of the system tree, by what files say of them
  std::set<std::string> ranks_;                // whose plain name a process has
  std::vector<StreamFile> streams_;            // by location
  std::vector<MetricDbFile> tables_;
  std::vector<std::size_t> group_;  // of every table: files of one pattern have the same columns
  std::vector<StreamFile> trace_files_;
  std::shared_ptr<const Profile> profile_;
  std::shared_ptr<const Trace> trace_;
  std::uint64_t samples_ = 0;
  std::size_t declared_ = 0;  // metrics: columns of the XML, and metrics of the files per thread
};

}  // namespace fathom::hpctoolkit
