#include "api/arrow.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace fathom::api {

namespace {

const char* format_of(ColumnType type) {
  switch (type) {
    case ColumnType::boolean:
      return "b";
    case ColumnType::int64:
      return "l";
    case ColumnType::uint64:
      return "L";
    case ColumnType::int128:
      return "d:38,0";
    case ColumnType::float64:
      return "g";
    default:
      return "i";  // codes; the dictionary holds the texts
  }
}

// --- schema ---

struct SchemaData {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  for (std::int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  }
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr) {
    schema->dictionary->release(schema->dictionary);
  }
  delete static_cast<SchemaData*>(schema->private_data);
  schema->release = nullptr;
}

void fill_schema(ArrowSchema* out, const char* format, std::string name, std::int64_t flags) {
  auto* data = new SchemaData{std::move(name), {}, {}, {}};
  *out = {};
  out->format = format;
  out->name = data->name.c_str();
  out->flags = flags;
  out->release = release_schema;
  out->private_data = data;
}

void fill_schema(const Schema& schema, const std::vector<std::size_t>& columns, ArrowSchema* out) {
  fill_schema(out, "+s", schema.name, 0);
  auto* data = static_cast<SchemaData*>(out->private_data);
  data->children.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnSpec& spec = schema.columns[columns[i]];
    fill_schema(&data->children[i], format_of(spec.type), spec.name, ARROW_FLAG_NULLABLE);
    if (*format_of(spec.type) == 'i') {
      auto* child = static_cast<SchemaData*>(data->children[i].private_data);
      fill_schema(&child->dictionary, "U", "", 0);
      data->children[i].dictionary = &child->dictionary;
    }
    data->pointers.push_back(&data->children[i]);
  }
  out->n_children = static_cast<std::int64_t>(columns.size());
  out->children = data->pointers.data();
}

// --- arrays ---

// The texts of a dictionary one after the other.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;
};

struct ArrayData {
  Column column;                       // keeps the values alive
  std::vector<std::byte> values;       // where they had to be converted
  std::shared_ptr<const Texts> texts;  // of a dictionary
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  for (std::int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  if (array->dictionary != nullptr && array->dictionary->release != nullptr) {
    array->dictionary->release(array->dictionary);
  }
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

ArrayData* start_array(ArrowArray* out, std::size_t rows) {
  auto* data = new ArrayData;
  *out = {};
  out->length = static_cast<std::int64_t>(rows);
  out->release = release_array;
  out->private_data = data;
  return data;
}

void finish_array(ArrowArray* out) {
  auto* data = static_cast<ArrayData*>(out->private_data);
  out->n_buffers = static_cast<std::int64_t>(data->buffers.size());
  out->buffers = data->buffers.data();
}

template <class To, class From>
void convert(const Column& column, std::vector<std::byte>& out) {
  out.resize(column.size() * sizeof(To));
  auto* to = reinterpret_cast<To*>(out.data());
  const auto from = column.values<From>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
}

template <class To>
void convert_to(const Column& column, std::vector<std::byte>& out) {
  switch (column.type()) {
    case ColumnType::boolean:
      return convert<To, std::uint8_t>(column, out);
    case ColumnType::int64:
      return convert<To, std::int64_t>(column, out);
    case ColumnType::uint64:
      return convert<To, std::uint64_t>(column, out);
    case ColumnType::int128:
      return convert<To, Int128>(column, out);
    default:
      return convert<To, double>(column, out);
  }
}

void pack_booleans(const Column& column, std::vector<std::byte>& out) {
  out.assign((column.size() + 7) / 8, std::byte{0});
  const auto values = column.values<std::uint8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) out[i / 8] |= std::byte{1} << (i % 8);
  }
}

std::shared_ptr<const Texts> make_texts(const std::vector<std::string>& list) {
  auto texts = std::make_shared<Texts>();
  for (const std::string& text : list) {
    texts->bytes += text;
    texts->offsets.push_back(static_cast<std::int64_t>(texts->bytes.size()));
  }
  return texts;
}

// --- stream ---

struct Stream {
  StreamSource from;
  std::vector<std::size_t> columns;  // of the schema
  std::unique_ptr<BatchReader> reader;
  std::string error;
  // Dictionaries are mostly the same from batch to batch.
  std::vector<std::pair<Dictionary, std::shared_ptr<const Texts>>> dictionaries;

  Result<bool> next(Batch& batch) {
    while (true) {
      if (!reader) {
        if (from.begin == from.end) return false;
        FATHOM_TRY(reader, from.source->open(from.begin++, from.request));
      }
      FATHOM_TRY(const bool more, reader->next(batch));
      if (more) return true;
      reader.reset();
    }
  }

  void fill_texts(std::size_t position, const Column& column, ArrowArray* out) {
    auto* data = static_cast<ArrayData*>(out->private_data);
    data->buffers.push_back(column.data());
    auto& known = dictionaries[position];
    if (known.first != column.dictionary()) known = {column.dictionary(), make_texts(*column.dictionary())};
    ArrayData* words = start_array(&data->dictionary, column.dictionary()->size());
    words->texts = known.second;
    words->buffers = {nullptr, words->texts->offsets.data(), words->texts->bytes.data()};
    finish_array(&data->dictionary);
    out->dictionary = &data->dictionary;
  }

  void fill_column(std::size_t position, const Column& column, ArrowArray* out) {
    const ColumnType type = from.source->schema().columns[columns[position]].type;
    ArrayData* data = start_array(out, column.size());
    data->column = column;
    out->null_count = column.validity().empty() ? 0 : -1;
    data->buffers.push_back(column.validity().empty() ? nullptr : column.validity().data());
    if (type == ColumnType::text) {
      fill_texts(position, column, out);
    } else if (type == ColumnType::boolean) {
      pack_booleans(column, data->values);
      data->buffers.push_back(data->values.data());
    } else if (type == column.type()) {
      data->buffers.push_back(column.data());
    } else {
      if (type == ColumnType::int64) convert_to<std::int64_t>(column, data->values);
      if (type == ColumnType::uint64) convert_to<std::uint64_t>(column, data->values);
      if (type == ColumnType::int128) convert_to<Int128>(column, data->values);
      if (type == ColumnType::float64) convert_to<double>(column, data->values);
      data->buffers.push_back(data->values.data());
    }
    finish_array(out);
  }

  void fill(const Batch& batch, ArrowArray* out) {
    ArrayData* data = start_array(out, batch.rows);
    data->buffers.push_back(nullptr);
    data->children.resize(batch.columns.size());
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
      fill_column(i, batch.columns[i], &data->children[i]);
      data->pointers.push_back(&data->children[i]);
    }
    out->n_children = static_cast<std::int64_t>(batch.columns.size());
    out->children = data->pointers.data();
    finish_array(out);
  }

  // 0, or an errno with the reason in `error`.
  template <class Body>
  int run(const Body& body) {
    try {
      const ExecutionScope scope(*from.execution);
      error.clear();
      const Result<void> status = body();
      if (status.ok()) return 0;
      error = status.error().text();
      return status.error().kind() == ErrorKind::cancelled ? ECANCELED : EIO;
    } catch (const std::exception& thrown) {
      error = thrown.what();
      return ENOMEM;
    }
  }
};

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto* self = static_cast<Stream*>(stream->private_data);
  return self->run([&]() -> Result<void> {
    fill_schema(self->from.source->schema(), self->columns, out);
    return {};
  });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* self = static_cast<Stream*>(stream->private_data);
  *out = {};
  return self->run([&]() -> Result<void> {
    Batch batch;
    FATHOM_TRY(const bool more, self->next(batch));
    if (more) self->fill(batch, out);
    return {};
  });
}

const char* get_last_error(ArrowArrayStream* stream) {
  const auto* self = static_cast<const Stream*>(stream->private_data);
  return self->error.empty() ? nullptr : self->error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_stream(StreamSource source, ArrowArrayStream* out) {
  auto stream = std::make_unique<Stream>();
  stream->columns = source.request.columns;
  for (std::size_t i = 0; source.request.columns.empty() && i < source.source->schema().columns.size(); ++i) {
    stream->columns.push_back(i);
  }
  stream->dictionaries.resize(stream->columns.size());
  stream->from = std::move(source);
  *out = {get_schema, get_next, get_last_error, release_stream, stream.release()};
}

}  // namespace fathom::api
