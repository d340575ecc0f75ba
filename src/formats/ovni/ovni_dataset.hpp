// An ovni trace that was opened.
#pragma once

#include <optional>

#include "formats/dataset.hpp"
#include "formats/ovni/count.hpp"
#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

class OvniDataset : public Dataset {
 public:
  OvniDataset(const Format& format, std::filesystem::path path, Work work, NativeTrace native)
      : Dataset(format, std::move(path), std::move(work)), native_(std::move(native)) {}

  [[nodiscard]] const NativeTrace& native() const { return native_; }

  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool count) override;
  Result<std::shared_ptr<const Trace>> trace() override;
  Result<void> dump(const DumpOptions& options, const TextSink& sink) override;
  Result<TraceStatistics> statistics(const StatisticsOptions& options) override;
  Result<bool> statistics_text(const StatisticsOptions& options, const TextSink& sink) override;
  Result<void> check() override;
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions& options) override;

 private:
  Result<const std::vector<StreamCounts>*> counts();

  NativeTrace native_;
  std::optional<std::vector<StreamCounts>> counts_;
  std::shared_ptr<const Trace> trace_;
};

}  // namespace fathom::ovni
