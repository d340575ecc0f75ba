#include "report/row_stream.hpp"

namespace fathom {

RowStream::RowStream(Output& out, std::optional<RowForm> form, Schema schema, const TableLook& look)
    : out_(out), form_(form), schema_(std::move(schema)), builder_(schema_) {
  if (form_) {
    rows_ = std::make_unique<RowWriter>(*form_, schema_.columns, out_.csv_safe());
    rows_->header(text_);
    if (*form_ == RowForm::json) text_.append("[");
    out_.write(text_.view());
  } else {
    lines_ = std::make_unique<LineWriter>(out_, schema_, look);
  }
}

void RowStream::flush() {
  const Table table = std::move(*builder_).finish();
  builder_.emplace(schema_);
  if (lines_) {
    lines_->write(table.data);
    return;
  }
  text_.clear();
  rows_->write(table.data, text_);
  std::string_view text = text_.view();
  if (*form_ == RowForm::json && !any_ && !text.empty()) text.remove_prefix(1);
  any_ = any_ || !text.empty();
  out_.write(text);
}

void RowStream::end() {
  flush();
  if (lines_) lines_->end();
  if (form_ == RowForm::json) out_.write(any_ ? "\n]\n" : "]\n");
}

}  // namespace fathom
