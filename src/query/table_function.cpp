#include "query/table_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/cancel.hpp"
#include "base/text.hpp"

namespace fathom::query {

namespace {

struct Registered {
  const DuckDb* api;
  std::shared_ptr<ScannedDataset> dataset;
  const TableKind* kind;
};

// What a query scans: one for each mention of the table.
struct Bound {
  std::shared_ptr<ScannedDataset> dataset;
  std::shared_ptr<const TableSource> source;
};

// Shared by the threads of one scan.
struct Global {
  Bound bound;
  ScanRequest request;
  // Which column of a batch goes to which vector of a chunk. Vectors beyond the columns of the table (the number of a
  // row, which count(*) asks for) are of a type of their own and stay as they are.
  std::vector<std::pair<idx_t, std::size_t>> vectors;
  std::atomic<std::size_t> next_part{0};
};

// Of one thread.
struct Local {
  Bound bound;  // what the reader needs lives as long as it does, whoever is dropped first
  std::unique_ptr<BatchReader> reader;
  Batch batch;
  Batch before;  // its texts may still be looked at
  std::size_t at = 0;
};

template <class T>
void destroy(void* data) {
  delete static_cast<T*>(data);
}

DbTypeId type_of(ColumnType type) {
  switch (type) {
    case ColumnType::boolean:
      return kDbBoolean;
    case ColumnType::int64:
      return kDbBigint;
    case ColumnType::uint64:
      return kDbUbigint;
    case ColumnType::int128:
      return kDbHugeint;
    case ColumnType::float64:
      return kDbDouble;
    default:
      return kDbVarchar;
  }
}

// A parameter as a list of texts: one value, or the members of a list.
std::vector<std::string> parameter(const DuckDb& api, DbBindInfo info, std::string_view name) {
  std::vector<std::string> out;
  DbValue value = api.bind_get_named_parameter(info, std::string(name).c_str());
  if (value == nullptr) return out;
  const auto add = [&](DbValue one) {
    if (api.is_null_value(one)) return;
    char* text = api.get_varchar(one);
    if (text == nullptr) return;
    out.emplace_back(text);
    api.free(text);
  };
  if (!api.is_null_value(value)) {
    // The type belongs to the value.
    if (api.get_type_id(api.get_value_type(value)) == kDbList) {
      for (idx_t i = 0; i < api.get_list_size(value); ++i) {
        DbValue child = api.get_list_child(value, i);
        add(child);
        api.destroy_value(&child);
      }
    } else {
      add(value);
    }
  }
  api.destroy_value(&value);
  return out;
}

Result<TableBounds> bounds_of(const DuckDb& api, DbBindInfo info, const TableKind& kind) {
  TableBounds bounds;
  for (const std::string_view name : kind.bounds) {
    const std::vector<std::string> texts = parameter(api, info, name);
    if (texts.empty()) continue;
    if (name == "from_ns" || name == "to_ns") {
      const auto number = parse_integer<std::int64_t>(texts.front());
      if (!number)
        return Error::usage(fmt::format("{} is a whole number of nanoseconds, not '{}'", name, texts.front()));
      (name == "from_ns" ? bounds.from_ns : bounds.to_ns) = *number;
    } else if (name == "location") {
      bounds.locations = texts;
    } else if (name == "metric") {
      bounds.metrics = texts;
    } else if (name == "context") {
      bounds.contexts = texts;
    } else if (name == "flavour") {
      bounds.flavour = texts.front();
    }
  }
  return bounds;
}

// Nothing may be thrown into DuckDB.
template <class Body, class Tell>
void safely(const Body& body, const Tell& tell) {
  try {
    const Result<void> status = body();
    if (!status.ok()) tell(status.error().text());
  } catch (const std::exception& thrown) {
    tell(thrown.what());
  }
}

// Callbacks only exist once it was loaded.
const DuckDb& loaded() { return **load_duckdb(); }

void bind(DbBindInfo info) {
  const DuckDb& api = loaded();
  safely(
      [&]() -> Result<void> {
        const auto* registered = static_cast<const Registered*>(api.bind_get_extra_info(info));
        const ExecutionScope scope(registered->dataset->execution);
        FATHOM_TRY(const TableBounds bounds, bounds_of(api, info, *registered->kind));
        auto bound = std::make_unique<Bound>();
        bound->dataset = registered->dataset;
        {
          const std::scoped_lock lock(*bound->dataset->mutex);
          FATHOM_TRY(bound->source, open_table(*bound->dataset->dataset, registered->kind->name, bounds));
        }
        for (const ColumnSpec& column : bound->source->schema().columns) {
          DbType type = api.create_logical_type(type_of(column.type));
          api.bind_add_result_column(info, column.name.c_str(), type);
          api.destroy_logical_type(&type);
        }
        if (const auto rows = bound->source->row_count()) api.bind_set_cardinality(info, *rows, true);
        api.bind_set_bind_data(info, bound.release(), destroy<Bound>);
        return {};
      },
      [&](const std::string& text) { api.bind_set_error(info, text.c_str()); });
}

void init(DbInitInfo info) {
  const DuckDb& api = loaded();
  safely(
      [&]() -> Result<void> {
        auto global = std::make_unique<Global>();
        global->bound = *static_cast<const Bound*>(api.init_get_bind_data(info));
        const TableSource& source = *global->bound.source;
        for (idx_t i = 0; i < api.init_get_column_count(info); ++i) {
          const idx_t column = api.init_get_column_index(info, i);
          if (column >= source.schema().columns.size()) continue;
          global->vectors.emplace_back(i, global->request.columns.size());
          global->request.columns.push_back(column);
        }
        // No columns would be all of them: one is enough to count rows.
        if (global->request.columns.empty()) global->request.columns.push_back(0);
        api.init_set_max_threads(info, std::max<std::size_t>(1, source.parts()));
        api.init_set_init_data(info, global.release(), destroy<Global>);
        return {};
      },
      [&](const std::string& text) { api.init_set_error(info, text.c_str()); });
}

void local_init(DbInitInfo info) {
  const DuckDb& api = loaded();
  safely(
      [&]() -> Result<void> {
        api.init_set_init_data(info, new Local, destroy<Local>);
        return {};
      },
      [&](const std::string& text) { api.init_set_error(info, text.c_str()); });
}

template <class To, class From>
void copy(const Column& column, std::size_t at, std::size_t rows, void* out) {
  auto* to = static_cast<To*>(out);
  const auto from = column.values<From>().subspan(at, rows);
  if constexpr (std::is_same_v<To, From>) {
    std::memcpy(to, from.data(), rows * sizeof(To));
  } else {
    for (std::size_t i = 0; i < rows; ++i) to[i] = static_cast<To>(from[i]);
  }
}

template <class To>
void copy_as(const Column& column, std::size_t at, std::size_t rows, void* out) {
  switch (column.type()) {
    case ColumnType::boolean:
      return copy<To, std::uint8_t>(column, at, rows, out);
    case ColumnType::int64:
      return copy<To, std::int64_t>(column, at, rows, out);
    case ColumnType::uint64:
      return copy<To, std::uint64_t>(column, at, rows, out);
    case ColumnType::int128:
      return copy<To, Int128>(column, at, rows, out);
    default:
      return copy<To, double>(column, at, rows, out);
  }
}

// Long texts stay where they are: the batch lives until the chunk has gone through.
DbString text_in_place(std::string_view text) {
  DbString out{};
  out.length = static_cast<std::uint32_t>(text.size());
  if (text.size() <= DbString::kInlined) {
    std::memcpy(reinterpret_cast<char*>(&out) + sizeof out.length, text.data(), text.size());
  } else {
    std::memcpy(out.prefix, text.data(), sizeof out.prefix);
    out.pointer = text.data();
  }
  return out;
}

void fill_texts(const Column& column, std::size_t at, std::size_t rows, DbString* out) {
  if (column.type() != ColumnType::text) {
    for (std::size_t i = 0; i < rows; ++i) out[i] = text_in_place(column.text(at + i));
    return;
  }
  // Often the same one again.
  const auto codes = column.values<std::uint32_t>().subspan(at, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    out[i] = i > 0 && codes[i] == codes[i - 1] ? out[i - 1] : text_in_place(column.text(at + i));
  }
}

void fill(const DuckDb& api, DbVector vector, ColumnType type, const Column& column, std::size_t at, std::size_t rows) {
  void* data = api.vector_get_data(vector);
  switch (type) {
    case ColumnType::boolean:
      copy_as<std::uint8_t>(column, at, rows, data);
      break;
    case ColumnType::int64:
      copy_as<std::int64_t>(column, at, rows, data);
      break;
    case ColumnType::uint64:
      copy_as<std::uint64_t>(column, at, rows, data);
      break;
    case ColumnType::int128:
      copy_as<Int128>(column, at, rows, data);
      break;
    case ColumnType::float64:
      copy_as<double>(column, at, rows, data);
      break;
    default:
      fill_texts(column, at, rows, static_cast<DbString*>(data));
  }
  if (column.validity().empty()) return;
  api.vector_ensure_validity_writable(vector);
  std::uint64_t* bits = api.vector_get_validity(vector);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    if (column.is_null(at + i)) {
      bits[i / 64] &= ~bit;
    } else {
      bits[i / 64] |= bit;
    }
  }
}

// The next batch of this thread; false when all parts are taken.
Result<bool> refill(Global& global, Local& local) {
  local.before = std::move(local.batch);
  local.at = 0;
  while (true) {
    if (cancelled()) return cancelled_error();
    if (!local.reader) {
      const std::size_t part = global.next_part.fetch_add(1);
      if (part >= global.bound.source->parts()) return false;
      local.bound = global.bound;
      FATHOM_TRY(local.reader, global.bound.source->open(part, global.request));
    }
    FATHOM_TRY(const bool more, local.reader->next(local.batch));
    if (more && local.batch.rows > 0) return true;
    if (!more) local.reader.reset();
  }
}

void scan(DbFunctionInfo info, DbChunk chunk) {
  const DuckDb& api = loaded();
  safely(
      [&]() -> Result<void> {
        auto& global = *static_cast<Global*>(api.function_get_init_data(info));
        auto& local = *static_cast<Local*>(api.function_get_local_init_data(info));
        const ExecutionScope scope(global.bound.dataset->execution);
        api.data_chunk_set_size(chunk, 0);
        if (local.at >= local.batch.rows) {
          FATHOM_TRY(const bool more, refill(global, local));
          if (!more) return {};
        }
        const std::size_t rows = std::min<std::size_t>(api.vector_size(), local.batch.rows - local.at);
        const Schema& schema = global.bound.source->schema();
        for (const auto& [vector, column] : global.vectors) {
          fill(api, api.data_chunk_get_vector(chunk, vector), schema.columns[global.request.columns[column]].type,
               local.batch.columns[column], local.at, rows);
        }
        local.at += rows;
        api.data_chunk_set_size(chunk, rows);
        return {};
      },
      [&](const std::string& text) { api.function_set_error(info, text.c_str()); });
}

}  // namespace

Result<void> register_table(const DuckDb& api, DbConnection connection, std::shared_ptr<ScannedDataset> dataset,
                            const TableKind& kind, const std::string& function) {
  DbTableFunction made = api.create_table_function();
  api.table_function_set_name(made, function.c_str());
  api.table_function_set_extra_info(made, new Registered{&api, std::move(dataset), &kind}, destroy<Registered>);
  for (const std::string_view bound : kind.bounds) {
    DbType any = api.create_logical_type(kDbAny);
    api.table_function_add_named_parameter(made, std::string(bound).c_str(), any);
    api.destroy_logical_type(&any);
  }
  api.table_function_set_bind(made, bind);
  api.table_function_set_init(made, init);
  api.table_function_set_local_init(made, local_init);
  api.table_function_set_function(made, scan);
  api.table_function_supports_projection_pushdown(made, true);
  const DbState state = api.register_table_function(connection, made);
  api.destroy_table_function(&made);
  if (state != kDbSuccess) return Error(fmt::format("DuckDB refused the table function '{}'", function));
  return {};
}

}  // namespace fathom::query
