// The C interface: thin over the C++ one.
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/json.hpp"
#include "fathom/fathom.h"
#include "fathom/fathom.hpp"

struct fathom_error {
  fathom::api::Error error;
};
struct fathom_cancel {
  fathom::api::CancelToken token;
};
struct fathom_dataset {
  fathom::api::Dataset dataset;
  std::string format;
  std::string levels;
  std::vector<std::string> tables;
};
struct fathom_models {
  fathom::api::Models models;
  std::vector<std::string> parameters;
};

namespace {

using fathom::api::Error;
using fathom::api::ErrorKind;
using fathom::api::Result;

// Memory that runs out while telling about an error leaves no error; the return value still says that it failed.
void tell(fathom_error** out, Error error) {
  if (out == nullptr) return;
  *out = new (std::nothrow) fathom_error{std::move(error)};
}

// Nothing may be thrown into C.
template <class T, class Body>
T safely(fathom_error** error, T failed, const Body& body) {
  if (error != nullptr) *error = nullptr;
  try {
    Result<T> result = body();
    if (result.ok()) return std::move(result).value();
    tell(error, result.error());
  } catch (const std::exception& thrown) {
    tell(error, Error(ErrorKind::unusable, thrown.what()));
  }
  return failed;
}

std::vector<std::string> texts(const char* const* list) {
  std::vector<std::string> out;
  for (; list != nullptr && *list != nullptr; ++list) out.emplace_back(*list);
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> pairs(const char* const* list) {
  const std::vector<std::string> flat = texts(list);
  std::vector<std::pair<std::string, std::string>> out;
  if (flat.size() % 2 != 0) return Error(ErrorKind::usage, "options are pairs of name and value");
  for (std::size_t i = 0; i < flat.size(); i += 2) out.emplace_back(flat[i], flat[i + 1]);
  return out;
}

// Members that the caller's version does not have yet are zero.
template <class Struct>
Struct of_caller(const Struct* given) {
  Struct out{};
  if (given != nullptr) std::memcpy(&out, given, std::min(given->size, sizeof out));
  return out;
}

// A text that the caller frees.
Result<char*> text_of_caller(const std::string& text) {
  char* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) return Error(ErrorKind::unusable, "no memory");
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

Result<fathom::api::Table> find_table(fathom_dataset* dataset, const char* name, const fathom_bounds& bounds) {
  fathom::api::Bounds wanted;
  if (bounds.from_ns != nullptr) wanted.from_ns = *bounds.from_ns;
  if (bounds.to_ns != nullptr) wanted.to_ns = *bounds.to_ns;
  wanted.locations = texts(bounds.locations);
  wanted.metrics = texts(bounds.metrics);
  wanted.contexts = texts(bounds.contexts);
  if (bounds.flavour != nullptr) wanted.flavour = bounds.flavour;
  return dataset->dataset.table(name == nullptr ? "" : name, wanted);
}

std::string_view level_name(fathom::api::Level level) {
  switch (level) {
    case fathom::api::Level::trace:
      return "trace";
    case fathom::api::Level::profile:
      return "profile";
    case fathom::api::Level::experiment:
      return "experiment";
    case fathom::api::Level::model:
      return "model";
  }
  return "";
}

std::int64_t or_none(const std::optional<std::uint64_t>& value) {
  return value ? static_cast<std::int64_t>(*value) : -1;
}

fathom_dataset* handle_of(fathom::api::Dataset opened) {
  std::string format(opened.format());
  std::string levels;
  for (const auto level : opened.levels()) {
    if (!levels.empty()) levels += ' ';
    levels += level_name(level);
  }
  std::vector<std::string> tables = opened.tables();
  return new fathom_dataset{std::move(opened), std::move(format), std::move(levels), std::move(tables)};
}

}  // namespace

extern "C" {

int fathom_error_kind(const fathom_error* error) { return static_cast<int>(error->error.kind()); }
const char* fathom_error_text(const fathom_error* error) { return error->error.text().c_str(); }
const char* fathom_error_hint(const fathom_error* error) { return error->error.hint().c_str(); }
const char* fathom_error_file(const fathom_error* error) { return error->error.place().file.c_str(); }
int64_t fathom_error_offset(const fathom_error* error) { return or_none(error->error.place().offset); }
int64_t fathom_error_line(const fathom_error* error) { return or_none(error->error.place().line); }
void fathom_error_free(fathom_error* error) { delete error; }

fathom_cancel* fathom_cancel_new(void) {
  try {
    return new fathom_cancel;
  } catch (const std::exception&) {
    return nullptr;
  }
}
void fathom_cancel_request(fathom_cancel* cancel) { cancel->token.request(); }
void fathom_cancel_reset(fathom_cancel* cancel) { cancel->token.reset(); }
void fathom_cancel_free(fathom_cancel* cancel) { delete cancel; }

fathom_dataset* fathom_open(const char* path, const fathom_open_options* given, fathom_error** error) {
  return safely<fathom_dataset*>(error, nullptr, [&]() -> Result<fathom_dataset*> {
    if (path == nullptr) return Error(ErrorKind::usage, "no path was given");
    const fathom_open_options from = of_caller(given);
    fathom::api::OpenOptions options;
    if (from.format != nullptr) options.format = from.format;
    options.strict = from.strict != 0;
    options.threads = from.threads;
    options.max_memory = from.max_memory;
    if (from.cancel != nullptr) options.cancel = from.cancel->token;
    if (from.progress != nullptr) {
      options.progress = [tell = from.progress, user = from.user](const fathom::api::Progress& report) {
        tell(user, std::string(report.label).c_str(), report.done, report.total, report.finished ? 1 : 0);
      };
    }
    auto named = pairs(from.options);
    if (!named.ok()) return named.error();
    options.options = *std::move(named);
    auto opened = fathom::api::open(path, options);
    if (!opened.ok()) return opened.error();
    return handle_of(*std::move(opened));
  });
}

fathom_dataset* fathom_reduce(fathom_dataset* dataset, const char* const* options, fathom_error** error) {
  return safely<fathom_dataset*>(error, nullptr, [&]() -> Result<fathom_dataset*> {
    auto named = pairs(options);
    if (!named.ok()) return named.error();
    auto made = fathom::api::reduce(dataset->dataset, *named);
    if (!made.ok()) return made.error();
    return handle_of(*std::move(made));
  });
}

void fathom_close(fathom_dataset* dataset) { delete dataset; }
const char* fathom_format(const fathom_dataset* dataset) { return dataset->format.c_str(); }
const char* fathom_levels(const fathom_dataset* dataset) { return dataset->levels.c_str(); }

char* fathom_info(fathom_dataset* dataset, int count, fathom_error** error) {
  return safely<char*>(error, nullptr, [&]() -> Result<char*> {
    auto entries = dataset->dataset.info(count != 0);
    if (!entries.ok()) return entries.error();
    fathom::Output out;
    fathom::JsonWriter json(out);
    json.begin_object().member("format", dataset->format).member("version", dataset->dataset.version());
    json.key("levels").begin_array();
    for (const auto level : dataset->dataset.levels()) json.value(level_name(level));
    json.end_array();
    for (const auto& entry : *entries) json.key(entry.key).raw(entry.value);
    json.end_object();
    return text_of_caller(out.text());
  });
}

char* fathom_report(fathom_dataset* dataset, fathom_error** error) {
  return safely<char*>(error, nullptr, [&]() -> Result<char*> {
    auto text = fathom::api::report(dataset->dataset);
    if (!text.ok()) return text.error();
    return text_of_caller(*text);
  });
}

void fathom_text_free(char* text) { std::free(text); }

size_t fathom_table_count(const fathom_dataset* dataset) { return dataset->tables.size(); }
const char* fathom_table_name(const fathom_dataset* dataset, size_t position) {
  return position < dataset->tables.size() ? dataset->tables[position].c_str() : nullptr;
}

int fathom_table(fathom_dataset* dataset, const char* name, const fathom_bounds* given, ArrowArrayStream* out,
                 fathom_error** error) {
  return safely<int>(error, -1, [&]() -> Result<int> {
    fathom_bounds bounds = of_caller(given);
    if (given == nullptr) bounds.part = -1;
    auto table = find_table(dataset, name, bounds);
    if (!table.ok()) return table.error();
    std::optional<std::size_t> part;
    if (bounds.part >= 0) part = static_cast<std::size_t>(bounds.part);
    auto status = table->stream(out, texts(bounds.columns), part, bounds.batch_rows);
    if (!status.ok()) return status.error();
    return 0;
  });
}

int64_t fathom_table_parts(fathom_dataset* dataset, const char* name, const fathom_bounds* given,
                           fathom_error** error) {
  return safely<std::int64_t>(error, -1, [&]() -> Result<std::int64_t> {
    auto table = find_table(dataset, name, of_caller(given));
    if (!table.ok()) return table.error();
    return static_cast<std::int64_t>(table->parts());
  });
}

int fathom_sql(fathom_dataset* const* datasets, const char* const* schemas, size_t count, const char* query,
               ArrowArrayStream* out, fathom_error** error) {
  return safely<int>(error, -1, [&]() -> Result<int> {
    std::vector<fathom::api::NamedDataset> named;
    for (std::size_t i = 0; i < count; ++i) {
      const bool has_name = schemas != nullptr && schemas[i] != nullptr;
      named.push_back({has_name ? schemas[i] : "", datasets[i]->dataset});
    }
    auto table = fathom::api::sql(named, query == nullptr ? "" : query);
    if (!table.ok()) return table.error();
    auto status = table->stream(out);
    if (!status.ok()) return status.error();
    return 0;
  });
}

fathom_models* fathom_fit(fathom_dataset* dataset, const char* modeler, const char* measure, const char* const* options,
                          fathom_error** error) {
  return safely<fathom_models*>(error, nullptr, [&]() -> Result<fathom_models*> {
    fathom::api::ModelOptions wanted;
    if (modeler != nullptr) wanted.modeler = modeler;
    if (measure != nullptr) wanted.measure = measure;
    auto named = pairs(options);
    if (!named.ok()) return named.error();
    wanted.options = *std::move(named);
    auto models = fathom::api::fit(dataset->dataset, wanted);
    if (!models.ok()) return models.error();
    std::vector<std::string> parameters = models->parameters();
    return new fathom_models{*std::move(models), std::move(parameters)};
  });
}

void fathom_models_free(fathom_models* models) { delete models; }
size_t fathom_models_count(const fathom_models* models) { return models->models.size(); }
size_t fathom_models_parameter_count(const fathom_models* models) { return models->parameters.size(); }
const char* fathom_models_parameter(const fathom_models* models, size_t position) {
  return position < models->parameters.size() ? models->parameters[position].c_str() : nullptr;
}

int fathom_models_table(fathom_models* models, ArrowArrayStream* out, fathom_error** error) {
  return safely<int>(error, -1, [&]() -> Result<int> {
    auto status = models->models.table().stream(out);
    if (!status.ok()) return status.error();
    return 0;
  });
}

int fathom_models_predict(const fathom_models* models, size_t position, const double* point, size_t length,
                          double level, double out[3], fathom_error** error) {
  return safely<int>(error, -1, [&]() -> Result<int> {
    auto forecast = models->models.predict(position, {point, length}, level);
    if (!forecast.ok()) return forecast.error();
    out[0] = forecast->value;
    out[1] = forecast->low;
    out[2] = forecast->high;
    return 0;
  });
}

const char* fathom_version(void) { return FATHOM_VERSION; }

}  // extern "C"
