#include "report/table_output.hpp"

#include "base/number_text.hpp"
#include "base/parallel.hpp"
#include "base/pipeline.hpp"
#include "report/table_text.hpp"

namespace fathom {

namespace {

// Batches that are large enough to share the cost of starting one, small enough to stay in a core's cache.
constexpr std::size_t kBatchRows = 8192;

std::vector<ColumnSpec> chosen_columns(const Schema& schema, const ScanRequest& request) {
  if (request.columns.empty()) return schema.columns;
  std::vector<ColumnSpec> columns;
  for (const std::size_t column : request.columns) columns.push_back(schema.columns[column]);
  return columns;
}

// All parts of a source, one after the other.
class Parts {
 public:
  Parts(const TableSource& source, const ScanRequest& request) : source_(source), request_(request) {}
  Result<bool> prepare(BatchMaker& maker) {
    for (; part_ < source_.parts(); ++part_) {
      if (!reader_) {
        FATHOM_TRY(reader_, source_.open(part_, request_));
      }
      FATHOM_TRY(const bool more, reader_->prepare(maker));
      if (more) return true;
      reader_.reset();
    }
    return false;
  }

 private:
  const TableSource& source_;
  const ScanRequest& request_;
  std::unique_ptr<BatchReader> reader_;
  std::size_t part_ = 0;
};

void write_cell(JsonWriter& json, const Column& column, std::size_t row) {
  if (column.is_null(row)) {
    json.value(nullptr);
    return;
  }
  switch (column.type()) {
    case ColumnType::boolean:
      json.value(column.values<std::uint8_t>()[row] != 0);
      break;
    case ColumnType::int64:
      json.value(column.values<std::int64_t>()[row]);
      break;
    case ColumnType::uint64:
      json.value(column.values<std::uint64_t>()[row]);
      break;
    case ColumnType::int128:
      json.value(column.values<Int128>()[row]);
      break;
    case ColumnType::float64:
      json.value(column.values<double>()[row]);
      break;
    case ColumnType::seconds: {
      char digits[text_writing::kNumberRoom];
      const char* end = text_writing::put_seconds(digits, column.values<std::int64_t>()[row]);
      json.raw({digits, static_cast<std::size_t>(end - digits)});
      break;
    }
    case ColumnType::text:
    case ColumnType::free_text:
      json.value(column.text(row));
      break;
  }
}

void write_object(JsonWriter& json, const Table& table, std::size_t row, std::size_t first, JsonRows how) {
  json.begin_object();
  for (std::size_t i = first; i < table.data.columns.size(); ++i) {
    if (how.skip_missing && table.data.columns[i].is_null(row)) continue;
    json.key(table.schema.columns[i].name);
    write_cell(json, table.data.columns[i], row);
  }
  json.end_object();
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\') out += '\\';
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<void> write_rows(Output& out, RowForm form, const TableSource& source, const ScanRequest& request) {
  ScanRequest smaller = request;
  smaller.batch_rows = std::min(request.batch_rows, kBatchRows);
  RowWriter writer(form, chosen_columns(source.schema(), request));
  TextBuffer head;
  writer.header(head);
  out.write(form == RowForm::json ? std::string_view("[") : head.view());

  struct Slot {
    BatchMaker maker;
    TextBuffer text;
  };
  std::vector<Slot> slots(2 * std::size_t{thread_count()} + 1);
  Parts parts(source, smaller);
  bool any = false;
  FATHOM_CHECK(run_pipeline(
      slots.size(),
      [&](std::size_t slot) -> Result<bool> {
        slots[slot].maker = nullptr;
        return parts.prepare(slots[slot].maker);
      },
      [&](std::size_t slot) -> Result<void> {
        slots[slot].text.clear();
        if (!slots[slot].maker) return {};
        FATHOM_TRY(const Batch batch, slots[slot].maker());
        writer.write(batch, slots[slot].text);
        return {};
      },
      [&](std::size_t slot) -> Result<bool> {
        std::string_view text = slots[slot].text.view();
        if (form == RowForm::json && !any && !text.empty()) text.remove_prefix(1);
        any = any || !text.empty();
        out.write(text);
        return !out.closed();
      }));
  if (form == RowForm::json) out.write(any ? "\n]\n" : "]\n");
  return {};
}

void write_csv(Output& out, const Table& table) {
  RowWriter writer(RowForm::csv, table.schema.columns);
  TextBuffer text;
  writer.header(text);
  writer.write(table.data, text);
  out.write(text.view());
}

void write_json(JsonWriter& json, const Table& table, JsonRows how) {
  json.begin_array();
  for (std::size_t row = 0; row < table.rows(); ++row) write_object(json, table, row, 0, how);
  json.end_array();
}

void write_json_by_key(JsonWriter& json, const Table& table, JsonRows how) {
  json.begin_object();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    json.key(table.data.columns[0].text(row));
    write_object(json, table, row, 1, how);
  }
  json.end_object();
}

void write_markdown(Output& out, const Table& table) {
  std::string rule = "|";
  out.write("|");
  for (const ColumnSpec& spec : table.schema.columns) {
    out.write(" " + markdown_cell(spec.title.empty() ? spec.name : spec.title) + " |");
    rule += is_text(spec.type) ? "---|" : "---:|";
  }
  out.write("\n" + rule + "\n");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    out.write("|");
    for (std::size_t i = 0; i < table.data.columns.size(); ++i) {
      out.write(" " + markdown_cell(exact_cell(table.data.columns[i], row)) + " |");
    }
    out.write("\n");
  }
}

}  // namespace fathom
