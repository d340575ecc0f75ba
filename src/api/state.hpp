// What stands behind the handles of the public API.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/execution.hpp"
#include "base/result.hpp"
#include "base/table.hpp"
#include "fathom/dataset.hpp"
#include "fathom/table.hpp"
#include "formats/dataset.hpp"

namespace fathom::api {

Error to_public(const fathom::Error& error);

// The body runs as the options of the dataset say; whatever happens inside comes back as an error.
template <class T, class Body>
Result<T> guarded(const Execution& execution, const Body& body) {
  try {
    const ExecutionScope scope(execution);
    fathom::Result<T> result = body();
    if (!result.ok()) return to_public(result.error());
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return std::move(result).value();
    }
  } catch (const std::exception& error) {
    return Error(ErrorKind::unusable, error.what());
  }
}

// Kept alive by everything that was made from it.
struct Dataset::State {
  Execution execution;
  DatasetPtr dataset;
  std::mutex mutex;  // levels are made on first use
};

struct Table::State {
  std::shared_ptr<Dataset::State> dataset;  // before the source: it must go last
  std::shared_ptr<const TableSource> source;
  std::vector<ColumnInfo> columns;
};

std::shared_ptr<const Table::State> make_table_state(std::shared_ptr<Dataset::State> dataset,
                                                     std::unique_ptr<TableSource> source);
// Positions of columns by name; none = all.
fathom::Result<ScanRequest> make_request(const Schema& schema, const std::vector<std::string>& columns,
                                         std::size_t batch_rows);

}  // namespace fathom::api
