#include "query/duckdb_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace fathom::query {

namespace {

// Beside the program: where ./dev puts it, and where an installation may have it.
std::vector<std::string> candidates() {
  std::vector<std::string> out = {"libduckdb.so"};
  if (const char* named = std::getenv("FATHOM_DUCKDB"); named != nullptr && *named != '\0') out.emplace_back(named);
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    for (const char* place : {"duckdb/libduckdb.so", "../lib/fathom/libduckdb.so"}) {
      out.push_back((program.parent_path() / place).string());
    }
  }
  return out;
}

template <class Function>
bool find(void* library, const char* name, Function*& out) {
  void* symbol = dlsym(library, name);
  out = reinterpret_cast<Function*>(symbol);
  return symbol != nullptr;
}

// The name of a function that it lacks, or null.
const char* missing_function(void* library, DuckDb& api) {
#define FATHOM_DUCKDB_FIND(returns, name, arguments) \
  if (!find(library, "duckdb_" #name, api.name)) return "duckdb_" #name;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_FIND)
#undef FATHOM_DUCKDB_FIND
  return nullptr;
}

Result<std::unique_ptr<const DuckDb>> load() {
  std::string why;
  for (const std::string& path : candidates()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = dlerror();
      // What is simply not there is not worth a word, unless the user named it.
      if (const char* named = std::getenv("FATHOM_DUCKDB"); named != nullptr && path == named) {
        why += fmt::format("FATHOM_DUCKDB: {}; ", reason == nullptr ? "cannot be loaded" : reason);
      }
      continue;
    }
    auto api = std::make_unique<DuckDb>();
    if (const char* missing = missing_function(library, *api)) {
      why += fmt::format("{} has no {}: it is too old; ", path, missing);
      dlclose(library);
      continue;
    }
    api->path = path;
    return std::unique_ptr<const DuckDb>(std::move(api));
  }
  return Error::usage(
             fmt::format("{}SQL and Parquet need DuckDB (libduckdb.so, 1.4 or later), which was not found", why))
      .hint(
          "'./dev build --sql' fetches it; or take libduckdb.so from duckdb.org and name it in FATHOM_DUCKDB or put it "
          "where the loader looks");
}

}  // namespace

Result<const DuckDb*> load_duckdb() {
  // Loaded is loaded for the whole process; a failure is tried again.
  static std::mutex mutex;
  static std::unique_ptr<const DuckDb> loaded;
  const std::scoped_lock lock(mutex);
  if (!loaded) {
    FATHOM_TRY(loaded, load());
  }
  return loaded.get();
}

}  // namespace fathom::query
