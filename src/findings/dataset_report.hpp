// The report of any dataset, by the level that says most about it; and of two, compared.
#pragma once

#include <functional>
#include <memory>

#include "findings/finding.hpp"
#include "formats/dataset.hpp"

namespace fathom {

// What a report is made from, with the names that it carries: an experiment, or a profile, a trace or both.
struct ReportInput {
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const Experiment> experiment;
  std::shared_ptr<const Trace> trace;
  std::string path;
  std::string format;
  Work work;
};

// Whether the processes of a team share the reading: calls of a trace, runs of a directory. The others leave when the
// first one has them (elsewhere()).
bool is_reported_together(const Dataset& dataset);
// Makes the levels; the dataset is not needed any more afterwards.
Result<ReportInput> report_input(Dataset& dataset);
// MT: safe.
Result<Report> make_report(const ReportInput& input);
// Two profiles, or traces as such: what became slower. A directory on either side holds repetitions of one run.
using OpenDataset = std::function<Result<DatasetPtr>(const std::filesystem::path&)>;
Result<Report> make_report(const std::filesystem::path& before, const std::filesystem::path& after,
                           const OpenDataset& open);

}  // namespace fathom
