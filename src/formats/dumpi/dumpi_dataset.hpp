// A DUMPI trace that was opened.
#pragma once

#include "formats/dumpi/rank_set.hpp"

namespace fathom::dumpi {

class DumpiDataset : public Dataset {
 public:
  DumpiDataset(const Format& format, std::filesystem::path path, Work work, std::shared_ptr<RankSet> ranks)
      : Dataset(format, std::move(path), std::move(work)), ranks_(std::move(ranks)) {}

  [[nodiscard]] const RankSet& ranks() const { return *ranks_; }

  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<std::shared_ptr<const Trace>> trace() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<TraceStatistics> statistics(const StatisticsOptions& options) override;
  Result<void> check() override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

 private:
  std::shared_ptr<RankSet> ranks_;
  std::shared_ptr<const Trace> trace_;
};

// The same dataset with its native records; an error for datasets of other formats, which have none to write.
Result<DumpiDataset*> with_calls(Dataset& dataset);

}  // namespace fathom::dumpi
