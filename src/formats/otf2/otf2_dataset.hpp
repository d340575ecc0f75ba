// An OTF2 archive that was opened.
#pragma once

#include "formats/dataset.hpp"
#include "formats/otf2/otf2_trace.hpp"

namespace fathom::otf2 {

class Otf2Dataset : public Dataset {
 public:
  Otf2Dataset(const Format& owner, std::filesystem::path path, std::filesystem::path anchor, Work work,
              std::shared_ptr<const Archive> archive)
      : Dataset(owner, std::move(path), std::move(work)), anchor_(std::move(anchor)), archive_(std::move(archive)) {}

  [[nodiscard]] std::string version() const override { return archive_->anchor.version; }
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<std::shared_ptr<const Trace>> trace() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<TraceStatistics> statistics(const StatisticsOptions& options) override;
  Result<void> check() override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

 private:
  Result<std::shared_ptr<const Otf2Trace>> own_trace();
  std::filesystem::path anchor_;  // of the archive: the path may be a directory
  std::shared_ptr<const Archive> archive_;
  std::shared_ptr<const Otf2Trace> trace_;
};

}  // namespace fathom::otf2
