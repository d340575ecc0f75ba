// Questions about what is wrong and why: the report of a dataset.
#pragma once

#include <mutex>
#include <optional>

#include "findings/dataset_report.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// MT: internally synchronised; the work is done once.
class FindingsAnswers {
 public:
  explicit FindingsAnswers(ReportInput input) : input_(std::move(input)) {}

  // `report --json`
  Result<Answer> findings();

 private:
  ReportInput input_;
  std::mutex mutex_;
  std::optional<Result<Report>> report_;
};

}  // namespace fathom::serve
