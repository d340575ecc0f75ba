// The report of any dataset, by the level that says most about it; and of two, compared.
#pragma once

#include <memory>

#include "findings/finding.hpp"
#include "formats/dataset.hpp"

namespace fathom {

// The level that a report is made from, with the names that it carries; one of the three is there.
struct ReportInput {
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const Experiment> experiment;
  std::shared_ptr<const Trace> trace;
  std::string path;
  std::string format;
  Work work;
};

// Makes the level; the dataset is not needed any more afterwards.
Result<ReportInput> report_input(Dataset& dataset);
// MT: safe.
Result<Report> make_report(const ReportInput& input);
// Both in one.
Result<Report> dataset_report(Dataset& dataset, const Work& work);
// Profiles, and traces as such: what became slower. Named after the later one.
Result<Report> make_report(Dataset& before, Dataset& after);

}  // namespace fathom
