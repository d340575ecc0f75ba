#include "cli/sql_output.hpp"

#include <fmt/format.h>

#include "io/output_file.hpp"
#include "report/table_output.hpp"
#include "report/table_text.hpp"

namespace fathom::cli {

Result<void> write_sql_result(Output& out, SqlForm form, const TableSource& rows) {
  switch (form) {
    case SqlForm::csv:
      return write_rows(out, RowForm::csv, rows);
    case SqlForm::json:
      return write_rows(out, RowForm::json, rows);
    case SqlForm::markdown: {
      FATHOM_TRY(const Table table, read_all(rows));
      write_markdown(out, table);
      return {};
    }
    case SqlForm::text:
      break;
  }
  return write_text(out, rows, {}, {.columns = {}, .all = Show::exact});
}

Result<void> write_sql_file(const TableSource& rows, const std::filesystem::path& target, bool csv_safe) {
  const std::string ending = target.extension().string();
  if (ending != ".csv" && ending != ".json") {
    return Error::usage(fmt::format("the ending of '{}' says nothing about its form", target.string()))
        .hint("endings: .parquet, .csv, .json");
  }
  const RowForm form = ending == ".csv" ? RowForm::csv : RowForm::json;
  FATHOM_TRY(OutputFile file, OutputFile::create(target));
  RowWriter writer(form, rows.schema().columns, csv_safe);
  TextBuffer text;
  writer.header(text);
  file.write(form == RowForm::json ? std::string_view("[") : text.view());
  bool any = false;
  for (std::size_t part = 0; part < rows.parts(); ++part) {
    FATHOM_TRY(const auto reader, rows.open(part, {}));
    for (Batch batch;;) {
      FATHOM_TRY(const bool more, reader->next(batch));
      if (!more) break;
      text.clear();
      writer.write(batch, text);
      std::string_view lines = text.view();
      if (form == RowForm::json && !any && !lines.empty()) lines.remove_prefix(1);
      any = any || !lines.empty();
      file.write(lines);
    }
  }
  if (form == RowForm::json) file.write(any ? "\n]\n" : "]\n");
  return file.commit();
}

}  // namespace fathom::cli
