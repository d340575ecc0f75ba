#include "api/state.hpp"
#include "query/database.hpp"

namespace fathom::api {

Result<Table> sql(const std::vector<NamedDataset>& datasets, std::string_view query) {
  if (datasets.empty()) return Error(ErrorKind::usage, "SQL needs a dataset");
  // Threads, memory and cancel are those of the first.
  const auto& first = datasets.front().dataset.state();
  return guarded<Table>(*first, [&]() -> fathom::Result<Table> {
    query::DatabaseOptions options;
    options.execution = first->execution;
    FATHOM_TRY(const auto database, query::Database::open(std::move(options)));
    for (const NamedDataset& one : datasets) {
      const auto& state = one.dataset.state();
      FATHOM_CHECK(database->add({state, state->dataset.get()}, one.schema, {state, &state->mutex}));
    }
    FATHOM_CHECK(database->seal());
    FATHOM_TRY(query::QueryResult result, database->query(query));
    for (const NamedDataset& one : datasets) {
      if (auto lost = one.dataset.state()->lost()) return *std::move(lost);
    }
    return Table(make_table_state(first, std::move(result.rows)));
  });
}

}  // namespace fathom::api
