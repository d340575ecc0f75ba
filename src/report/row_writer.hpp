// Rows of batches as CSV or JSON text, for any number of them: millions per second and thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "base/text_buffer.hpp"

namespace fathom {

enum class RowForm : std::uint8_t { csv, json };

// The texts of one dictionary in the spelling of a form, quotes included.
class SpelledTexts;

// MT: write() may run on several threads at once.
class RowWriter {
 public:
  // `columns`: of the batches, in their order. `csv_safe`: as --csv-safe has it.
  RowWriter(RowForm form, std::vector<ColumnSpec> columns, bool csv_safe = false);
  ~RowWriter();

  // CSV: the line of names. JSON: nothing; whoever writes the rows writes what stands around them.
  void header(TextBuffer& to) const;
  // CSV: lines. JSON: objects, each on a line of its own with the comma before it: the very first row of all must lose
  // that one character.
  void write(const Batch& batch, TextBuffer& to);

 private:
  struct Prepared;
  std::shared_ptr<const SpelledTexts> spelled(std::size_t column, const Dictionary& dictionary);

  RowForm form_;
  bool safe_;
  std::vector<ColumnSpec> columns_;
  std::vector<std::string> before_;  // what stands before the value of a column, with room to read beyond its end
  std::string row_end_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const SpelledTexts>> last_;  // per column: dictionaries mostly stay the same
};

// Appends a text in the spelling of a form: CSV quotes where needed, JSON always. `csv_safe`: with a ' in front of what
// a spreadsheet would evaluate.
void append_spelled(RowForm form, std::string_view text, TextBuffer& to, bool csv_safe = false);

}  // namespace fathom
