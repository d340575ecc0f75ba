// Rows that come one by one, in whichever form was asked for; memory for a batch of them.
#pragma once

#include <memory>
#include <optional>

#include "report/row_writer.hpp"
#include "report/table_text.hpp"

namespace fathom {

// MT: externally synchronised.
class RowStream {
 public:
  // Without a form: text for people.
  RowStream(Output& out, std::optional<RowForm> form, Schema schema, const TableLook& look = {});

  template <class... Cells>
  void row(const Cells&... cells) {
    builder_->row(cells...);
    if (builder_->rows() == kBatchRows) flush();
  }
  // The rest, and the end of a JSON array.
  void end();

 private:
  static constexpr std::size_t kBatchRows = 4096;
  void flush();

  Output& out_;
  std::optional<RowForm> form_;
  Schema schema_;
  std::unique_ptr<RowWriter> rows_;
  std::unique_ptr<LineWriter> lines_;
  std::optional<TableBuilder> builder_;
  TextBuffer text_;
  bool any_ = false;
};

}  // namespace fathom
