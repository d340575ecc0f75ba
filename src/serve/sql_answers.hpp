// Questions in SQL, over all datasets that are shown.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "formats/dataset.hpp"
#include "query/database.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

struct SqlLimits {
  std::size_t rows = 10000;               // that are sent
  std::int64_t milliseconds = 30000;      // a query takes no longer
  std::uint64_t max_memory = 1ULL << 30;  // of the engine
};

// MT: internally synchronised: one query at a time.
class SqlAnswers {
 public:
  // `levels`: held while levels of the datasets are made.
  SqlAnswers(std::vector<std::shared_ptr<Dataset>> datasets, std::shared_ptr<std::mutex> levels, SqlLimits limits = {});

  // Tables with their columns; or why there is no engine, and how to get it.
  Result<Answer> tables();
  // body: the query. Columns with names and types, rows, whether there were more.
  Result<Answer> query(const Request& request);

 private:
  Result<void> opened();

  std::vector<std::shared_ptr<Dataset>> datasets_;
  std::shared_ptr<std::mutex> levels_;
  SqlLimits limits_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::mutex mutex_;
  std::shared_ptr<query::Database> database_;
};

}  // namespace fathom::serve
