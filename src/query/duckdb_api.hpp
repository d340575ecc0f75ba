// The part of DuckDB's C interface that Fathom uses, and the library that has it: found and loaded at run time, so that
// everything else works without it. Names, types and numbers are DuckDB's (its stable C API, 1.2 and later).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace fathom::query {

using idx_t = std::uint64_t;

// Handles are pointers to something of DuckDB's own.
template <class Tag>
using Handle = Tag*;
using DbDatabase = Handle<struct DbDatabaseTag>;
using DbConnection = Handle<struct DbConnectionTag>;
using DbConfig = Handle<struct DbConfigTag>;
using DbStatement = Handle<struct DbStatementTag>;
using DbStatements = Handle<struct DbStatementsTag>;
using DbPending = Handle<struct DbPendingTag>;
using DbChunk = Handle<struct DbChunkTag>;
using DbVector = Handle<struct DbVectorTag>;
using DbType = Handle<struct DbTypeTag>;
using DbValue = Handle<struct DbValueTag>;
using DbTableFunction = Handle<struct DbTableFunctionTag>;
using DbBindInfo = Handle<struct DbBindInfoTag>;
using DbInitInfo = Handle<struct DbInitInfoTag>;
using DbFunctionInfo = Handle<struct DbFunctionInfoTag>;

enum DbState : int { kDbSuccess = 0, kDbError = 1 };
enum DbPendingState : int { kDbResultReady = 0, kDbNotReady = 1, kDbPendingError = 2, kDbNoTasks = 3 };

enum DbTypeId : int {
  kDbInvalid = 0,
  kDbBoolean = 1,
  kDbTinyint = 2,
  kDbSmallint = 3,
  kDbInteger = 4,
  kDbBigint = 5,
  kDbUtinyint = 6,
  kDbUsmallint = 7,
  kDbUinteger = 8,
  kDbUbigint = 9,
  kDbFloat = 10,
  kDbDouble = 11,
  kDbHugeint = 16,
  kDbVarchar = 17,
  kDbDecimal = 19,
  kDbEnum = 23,
  kDbList = 24,
  kDbAny = 34,
};

// Passed by value; only `internal` means anything today.
struct DbResult {
  idx_t columns = 0;
  idx_t rows = 0;
  idx_t changed = 0;
  void* column_list = nullptr;
  char* error = nullptr;
  void* internal = nullptr;
};

// A text in a vector: short ones lie inside, long ones elsewhere.
struct DbString {
  static constexpr std::uint32_t kInlined = 12;
  std::uint32_t length;
  char prefix[4];  // of short ones the first characters, which go on in `pointer`
  const char* pointer;
};
static_assert(sizeof(DbString) == 16);

using DbDestroy = void (*)(void*);

// One member per function, called as DuckDB calls it: api.query(...) is duckdb_query(...).
#define FATHOM_DUCKDB_FUNCTIONS(X)                                                           \
  X(const char*, library_version, ())                                                        \
  X(void, free, (void*))                                                                     \
  X(DbState, create_config, (DbConfig*))                                                     \
  X(DbState, set_config, (DbConfig, const char*, const char*))                               \
  X(void, destroy_config, (DbConfig*))                                                       \
  X(DbState, open_ext, (const char*, DbDatabase*, DbConfig, char**))                         \
  X(void, close, (DbDatabase*))                                                              \
  X(DbState, connect, (DbDatabase, DbConnection*))                                           \
  X(void, disconnect, (DbConnection*))                                                       \
  X(void, interrupt, (DbConnection))                                                         \
  X(DbState, query, (DbConnection, const char*, DbResult*))                                  \
  X(void, destroy_result, (DbResult*))                                                       \
  X(const char*, result_error, (DbResult*))                                                  \
  X(idx_t, column_count, (DbResult*))                                                        \
  X(const char*, column_name, (DbResult*, idx_t))                                            \
  X(DbType, column_logical_type, (DbResult*, idx_t))                                         \
  X(DbChunk, fetch_chunk, (DbResult))                                                        \
  X(idx_t, extract_statements, (DbConnection, const char*, DbStatements*))                   \
  X(const char*, extract_statements_error, (DbStatements))                                   \
  X(void, destroy_extracted, (DbStatements*))                                                \
  X(DbState, prepare_extracted_statement, (DbConnection, DbStatements, idx_t, DbStatement*)) \
  X(DbState, prepare, (DbConnection, const char*, DbStatement*))                             \
  X(const char*, prepare_error, (DbStatement))                                               \
  X(void, destroy_prepare, (DbStatement*))                                                   \
  X(idx_t, prepared_statement_column_count, (DbStatement))                                   \
  X(const char*, prepared_statement_column_name, (DbStatement, idx_t))                       \
  X(DbTypeId, prepared_statement_column_type, (DbStatement, idx_t))                          \
  X(DbState, pending_prepared_streaming, (DbStatement, DbPending*))                          \
  X(const char*, pending_error, (DbPending))                                                 \
  X(DbPendingState, pending_execute_task, (DbPending))                                       \
  X(bool, pending_execution_is_finished, (DbPendingState))                                   \
  X(DbState, execute_pending, (DbPending, DbResult*))                                        \
  X(void, destroy_pending, (DbPending*))                                                     \
  X(void, destroy_data_chunk, (DbChunk*))                                                    \
  X(idx_t, data_chunk_get_size, (DbChunk))                                                   \
  X(void, data_chunk_set_size, (DbChunk, idx_t))                                             \
  X(DbVector, data_chunk_get_vector, (DbChunk, idx_t))                                       \
  X(idx_t, vector_size, ())                                                                  \
  X(void*, vector_get_data, (DbVector))                                                      \
  X(std::uint64_t*, vector_get_validity, (DbVector))                                         \
  X(void, vector_ensure_validity_writable, (DbVector))                                       \
  X(void, vector_assign_string_element_len, (DbVector, idx_t, const char*, idx_t))           \
  X(DbType, create_logical_type, (DbTypeId))                                                 \
  X(void, destroy_logical_type, (DbType*))                                                   \
  X(DbTypeId, get_type_id, (DbType))                                                         \
  X(std::uint8_t, decimal_scale, (DbType))                                                   \
  X(DbTypeId, decimal_internal_type, (DbType))                                               \
  X(DbTypeId, enum_internal_type, (DbType))                                                  \
  X(std::uint32_t, enum_dictionary_size, (DbType))                                           \
  X(char*, enum_dictionary_value, (DbType, idx_t))                                           \
  X(void, destroy_value, (DbValue*))                                                         \
  X(char*, get_varchar, (DbValue))                                                           \
  X(bool, is_null_value, (DbValue))                                                          \
  X(DbType, get_value_type, (DbValue))                                                       \
  X(idx_t, get_list_size, (DbValue))                                                         \
  X(DbValue, get_list_child, (DbValue, idx_t))                                               \
  X(DbTableFunction, create_table_function, ())                                              \
  X(void, destroy_table_function, (DbTableFunction*))                                        \
  X(void, table_function_set_name, (DbTableFunction, const char*))                           \
  X(void, table_function_add_named_parameter, (DbTableFunction, const char*, DbType))        \
  X(void, table_function_set_extra_info, (DbTableFunction, void*, DbDestroy))                \
  X(void, table_function_set_bind, (DbTableFunction, void (*)(DbBindInfo)))                  \
  X(void, table_function_set_init, (DbTableFunction, void (*)(DbInitInfo)))                  \
  X(void, table_function_set_local_init, (DbTableFunction, void (*)(DbInitInfo)))            \
  X(void, table_function_set_function, (DbTableFunction, void (*)(DbFunctionInfo, DbChunk))) \
  X(void, table_function_supports_projection_pushdown, (DbTableFunction, bool))              \
  X(DbState, register_table_function, (DbConnection, DbTableFunction))                       \
  X(void*, bind_get_extra_info, (DbBindInfo))                                                \
  X(void, bind_add_result_column, (DbBindInfo, const char*, DbType))                         \
  X(DbValue, bind_get_named_parameter, (DbBindInfo, const char*))                            \
  X(void, bind_set_bind_data, (DbBindInfo, void*, DbDestroy))                                \
  X(void, bind_set_cardinality, (DbBindInfo, idx_t, bool))                                   \
  X(void, bind_set_error, (DbBindInfo, const char*))                                         \
  X(void*, init_get_bind_data, (DbInitInfo))                                                 \
  X(void, init_set_init_data, (DbInitInfo, void*, DbDestroy))                                \
  X(idx_t, init_get_column_count, (DbInitInfo))                                              \
  X(idx_t, init_get_column_index, (DbInitInfo, idx_t))                                       \
  X(void, init_set_max_threads, (DbInitInfo, idx_t))                                         \
  X(void, init_set_error, (DbInitInfo, const char*))                                         \
  X(void*, function_get_bind_data, (DbFunctionInfo))                                         \
  X(void*, function_get_init_data, (DbFunctionInfo))                                         \
  X(void*, function_get_local_init_data, (DbFunctionInfo))                                   \
  X(void, function_set_error, (DbFunctionInfo, const char*))

struct DuckDb {
#define FATHOM_DUCKDB_MEMBER(returns, name, arguments) returns(*name) arguments = nullptr;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_MEMBER)
#undef FATHOM_DUCKDB_MEMBER
  std::string path;  // where it was found
};

// Loaded once and kept: an installed libduckdb first, then the one that FATHOM_DUCKDB names, then the one that ./dev
// fetched. An error says how to get one. MT: safe.
Result<const DuckDb*> load_duckdb();

}  // namespace fathom::query
