#include "report/table_output.hpp"

#include "base/number_text.hpp"
#include "base/parallel.hpp"
#include "base/pipeline.hpp"
#include "base/progress.hpp"
#include "base/self_profile.hpp"
#include "base/team.hpp"
#include "report/table_text.hpp"

namespace fathom {

namespace {

// Batches that are large enough to share the cost of starting one, small enough to stay in a core's cache.
constexpr std::size_t kBatchRows = 4096;

std::vector<ColumnSpec> chosen_columns(const Schema& schema, const ScanRequest& request) {
  if (request.columns.empty()) return schema.columns;
  std::vector<ColumnSpec> columns;
  for (const std::size_t column : request.columns) columns.push_back(schema.columns[column]);
  return columns;
}

// All parts of a source, one after the other.
class Parts {
 public:
  Parts(const TableSource& source, const ScanRequest& request) : Parts(source, request, 0, source.parts()) {}
  Parts(const TableSource& source, const ScanRequest& request, std::size_t first, std::size_t last)
      : source_(source), request_(request), part_(first), last_(last) {}
  Result<bool> prepare(BatchMaker& maker) {
    for (; part_ < last_; ++part_) {
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
  std::size_t part_;
  std::size_t last_;
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

namespace {

// The rows of some parts as text, a few batches at a time.
class RowTexts {
 public:
  RowTexts(RowWriter& writer, const TableSource& source, const ScanRequest& request, std::size_t first,
           std::size_t last)
      : writer_(writer), parts_(source, request, first, last) {}

  // False = there are no more rows.
  Result<bool> next(Parcel& parcel) {
    std::vector<BatchMaker> makers;
    for (BatchMaker maker; makers.size() < std::size_t{4} * thread_count(); makers.push_back(std::move(maker))) {
      const TeamScope alone(nullptr);  // parts are this process's own
      FATHOM_TRY(const bool more, parts_.prepare(maker));
      if (!more) break;
    }
    if (makers.empty()) return false;
    std::vector<TextBuffer> texts(makers.size());
    FATHOM_CHECK(parallel_for(makers.size(), [&](std::size_t i) -> Result<void> {
      FATHOM_TRY(const Batch batch, makers[i]());
      writer_.write(batch, texts[i]);
      return {};
    }));
    parcel.clear();
    for (const TextBuffer& text : texts) {
      const auto bytes = std::as_bytes(std::span(text.view()));
      parcel.insert(parcel.end(), bytes.begin(), bytes.end());
    }
    return true;
  }

 private:
  RowWriter& writer_;
  Parts parts_;
};

}  // namespace

Result<void> write_rows(Output& out, RowForm form, const TableSource& source, const ScanRequest& request,
                        const std::optional<RowProgress>& how_far) {
  ScanRequest smaller = request;
  smaller.batch_rows = std::min(request.batch_rows, kBatchRows);
  RowWriter writer(form, chosen_columns(source.schema(), request), out.csv_safe());
  TextBuffer head;
  writer.header(head);
  out.write(form == RowForm::json ? std::string_view("[") : head.view());

  bool any = false;
  const auto write = [&](std::string_view text) {
    if (form == RowForm::json && !any && !text.empty()) text.remove_prefix(1);
    any = any || !text.empty();
    const Phase phase("write");
    out.write(text);
    return !out.closed();
  };
  FATHOM_CHECK(team().assemble("rows"));
  if (!team().alone()) {
    // Neighbouring parts for every process, so that their texts one after the other are the table.
    constexpr std::uint64_t kAhead = std::uint64_t{128} << 20;
    const std::size_t parts = source.parts();
    const std::size_t rank = team().rank();
    RowTexts texts(writer, source, smaller, parts * rank / team().size(), parts * (rank + 1) / team().size());
    FATHOM_CHECK(relay_ahead(
        kAhead, [&](Parcel& parcel) { return texts.next(parcel); },
        [&](const Parcel& parcel) {
          return write({reinterpret_cast<const char*>(parcel.data()), parcel.size()});
        }));
    FATHOM_CHECK(first_goes_on());
    if (form == RowForm::json) out.write(any ? "\n]\n" : "]\n");
    return {};
  }

  struct Slot {
    BatchMaker maker;
    TextBuffer text;
    std::int64_t last = 0;  // value of the column that tells how far the rows are
  };
  std::optional<Progress> progress;
  if (how_far && how_far->to > how_far->from) {
    // The rate is that of what the bar counts, so the label names it.
    progress.emplace("writing rows (ns of the trace)", static_cast<std::uint64_t>(how_far->to - how_far->from));
  }
  std::int64_t reached = how_far ? how_far->from : 0;
  std::vector<Slot> slots(2 * std::size_t{thread_count()} + 1);
  Parts parts(source, smaller);
  FATHOM_CHECK(run_pipeline(
      slots.size(),
      [&](std::size_t slot) -> Result<bool> {
        const Phase phase("read");
        slots[slot].maker = nullptr;
        return parts.prepare(slots[slot].maker);
      },
      [&](std::size_t slot) -> Result<void> {
        slots[slot].text.clear();
        if (!slots[slot].maker) return {};
        FATHOM_TRY(const Batch batch, [&] {
          const Phase phase("decode");
          return slots[slot].maker();
        }());
        const Phase phase("render");
        writer.write(batch, slots[slot].text);
        slots[slot].last = 0;
        if (progress && batch.rows > 0 && !batch.columns[how_far->column].is_null(batch.rows - 1)) {
          slots[slot].last = batch.columns[how_far->column].values<std::int64_t>()[batch.rows - 1];
        }
        return {};
      },
      [&](std::size_t slot) -> Result<bool> {
        const bool wanted = write(slots[slot].text.view());
        if (progress && slots[slot].last > reached) {
          progress->advance(static_cast<std::uint64_t>(slots[slot].last - reached));
          reached = slots[slot].last;
        }
        return wanted;
      }));
  if (form == RowForm::json) out.write(any ? "\n]\n" : "]\n");
  return {};
}

void write_csv(Output& out, const Table& table) {
  RowWriter writer(RowForm::csv, table.schema.columns, out.csv_safe());
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
