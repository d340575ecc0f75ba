#include "report/table_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "report/table_output.hpp"
#include "tables/tables.hpp"

namespace fathom {

namespace {

Result<void> write_one(const TableSource& source, RowForm form, const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Error(std::generic_category().message(errno), Place::in(path.string()));
  Output out(file);
  auto done = write_rows(out, form, source);
  if (done.ok()) done = out.finish();
  if (::close(file) != 0 && done.ok()) done = Error(std::generic_category().message(errno), Place::in(path.string()));
  return done;
}

}  // namespace

Result<void> write_table_files(Dataset& dataset, RowForm form, const std::filesystem::path& target,
                               const TableFilesOptions& options) {
  const std::string ending = form == RowForm::csv ? ".csv" : ".json";
  if (!options.table.empty()) {
    FATHOM_TRY(const auto source, open_table(dataset, options.table));
    if (is_stream_target(target)) {
      const std::filesystem::path device = target == "-" ? "/dev/stdout" : target;
      return write_one(*source, form, device);
    }
    FATHOM_TRY(OutputSet files, OutputSet::into(target.has_parent_path() ? target.parent_path() : "."));
    FATHOM_CHECK(write_one(*source, form, files.path() / target.filename()));
    return files.commit();
  }
  if (is_stream_target(target)) return Error::usage("several tables do not fit into a stream: --table T chooses one");
  FATHOM_TRY(OutputSet files,
             OutputSet::directory(target, {.owns = [&](const auto& file) { return file.extension() == ending; },
                                           .force = options.force,
                                           .source = dataset.path()}));
  for (const TableKind* kind : tables_of(dataset.levels())) {
    FATHOM_TRY(const auto source, open_table(dataset, kind->name));
    FATHOM_CHECK(write_one(*source, form, files.path() / (std::string(kind->name) + ending)));
  }
  return files.commit();
}

}  // namespace fathom
