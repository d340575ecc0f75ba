#include "report/table_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "io/output_by_name.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "io/temporary.hpp"
#include "report/table_output.hpp"
#include "tables/tables.hpp"

namespace fathom {

namespace {

// To an open file, which is closed.
Result<void> write_one(const TableSource& source, RowForm form, int file, const std::filesystem::path& path,
                       bool csv_safe) {
  Output out(file);
  out.csv_safe(csv_safe);
  auto done = write_rows(out, form, source);
  if (done.ok()) {
    done = out.finish();
    if (!done.ok() && done.error().place().file.empty()) {
      done = Error(done.error().what(), Place::in(final_path(path).string()));
    }
  }
  const int failed = ::close(file) != 0 && done.ok() ? errno : 0;
  if (failed != 0) return Error(std::generic_category().message(failed), Place::in(final_path(path).string()));
  return done;
}

Result<void> write_one(const TableSource& source, RowForm form, const std::filesystem::path& path, bool csv_safe) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Error(std::generic_category().message(errno), Place::in(final_path(path).string()));
  return write_one(source, form, file, path, csv_safe);
}

}  // namespace

Result<void> write_table_files(Dataset& dataset, RowForm form, const std::filesystem::path& target,
                               const TableFilesOptions& options) {
  const std::string ending = form == RowForm::csv ? ".csv" : ".json";
  if (!options.table.empty()) {
    FATHOM_TRY(const auto source, open_table(dataset, options.table));
    if (is_stream_target(target)) {
      FATHOM_TRY(const int stream, open_stream_target(target));
      return write_one(*source, form, stream, target, options.csv_safe);
    }
    FATHOM_TRY(OutputByName file, OutputByName::create(target));
    FATHOM_CHECK(write_one(*source, form, file.path(), options.csv_safe));
    return file.commit();
  }
  if (is_stream_target(target)) return Error::usage("several tables do not fit into a stream: --table T chooses one");
  FATHOM_TRY(OutputSet files,
             OutputSet::directory(target, {.owns = [&](const auto& file) { return is_table_file(file, ending); },
                                           .force = options.force,
                                           .source = dataset.path()}));
  for (const TableKind* kind : tables_of(dataset.levels())) {
    FATHOM_TRY(const auto source, open_table(dataset, kind->name));
    FATHOM_CHECK(write_one(*source, form, files.path() / (std::string(kind->name) + ending), options.csv_safe));
  }
  return files.commit();
}

}  // namespace fathom
