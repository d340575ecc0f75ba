// What stands behind the handles of the public API.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/execution.hpp"
#include "base/result.hpp"
#include "base/stop.hpp"
#include "base/table.hpp"
#include "fathom/dataset.hpp"
#include "fathom/table.hpp"
#include "formats/dataset.hpp"
#include "io/input_watch.hpp"

namespace fathom::api {

Error to_public(const fathom::Error& error);

// The body runs as the options of the dataset say; whatever happens inside comes back as an error.
template <class T, class Body>
Result<T> guarded(const Execution& execution, const Body& body) {
  try {
    const InputsInUse in_use;
    const ExecutionScope scope(execution);
    fathom::Result<T> result = body();
    // What came of a file that is gone is worth nothing, whatever it looks like.
    if (const auto lost = stop_reason()) return to_public(*lost);
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
  std::optional<InputWatch> watch;

  std::optional<fathom::Error> lost() {
    if (!watch) return std::nullopt;
    return watch->lost(dataset == nullptr ? nullptr : &dataset->work()->diagnostics);
  }
};

// The same with the files of a dataset.
template <class T, class Body>
Result<T> guarded(Dataset::State& state, const Body& body) {
  if (const auto lost = state.lost()) return to_public(*lost);
  auto result = guarded<T>(state.execution, body);
  if (const auto lost = state.lost()) return to_public(*lost);
  return result;
}

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
