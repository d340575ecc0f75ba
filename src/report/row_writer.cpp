#include "report/row_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/number_text.hpp"
#include "base/text.hpp"
#include "report/formula.hpp"

namespace fathom {

namespace {

// Short texts are copied in whole words, reading and writing up to this much beyond their end.
constexpr std::size_t kSlack = 16;
constexpr std::string_view kNull = "null";

char* put_words(char* to, const char* from, std::size_t size) {
  std::memcpy(to, from, kSlack);
  for (std::size_t done = kSlack; done < size; done += kSlack) std::memcpy(to + done, from + done, kSlack);
  return to + size;
}

// Sixteen characters at once: a byte is set where one must not stand as it is.
using Block [[gnu::vector_size(16)]] = signed char;
Block special(RowForm form, Block text) {
  // Characters beyond ASCII are negative numbers: they may be no UTF-8.
  if (form == RowForm::csv) return (text < 0) | (text == ',') | (text == '"') | (text == '\n') | (text == '\r');
  // Below the space are controls, too.
  return (text < ' ') | (text == '"') | (text == '\\') | (text == 0x7F);
}

bool needs_quotes(RowForm form, std::string_view text) {
  Block found{};
  Block block;
  for (; text.size() >= sizeof block; text.remove_prefix(sizeof block)) {
    std::memcpy(&block, text.data(), sizeof block);
    found |= special(form, block);
  }
  std::memset(&block, 'a', sizeof block);
  if (!text.empty()) std::memcpy(&block, text.data(), text.size());
  found |= special(form, block);
  std::array<std::uint64_t, 2> halves;
  std::memcpy(&halves, &found, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

// At most that many characters for one of a text, and for what is around it.
constexpr std::size_t kMostPerCharacter = 6;
constexpr std::size_t kQuotes = 3;

char* put_text(RowForm form, bool safe, char* to, std::string_view text) {
  const bool json = form == RowForm::json;
  if (safe && !json && looks_like_formula(text)) return text_writing::put(to, csv_quote("'" + std::string(text)));
  if (needs_quotes(form, text)) return text_writing::put(to, json ? json_quote(text) : csv_quote(text));
  if (json) *to++ = '"';
  to = text_writing::put(to, text);
  if (json) *to++ = '"';
  return to;
}

// The texts of a column that stand one behind the other, of which none needs more than what is around all of them.
class PlainTexts {
 public:
  PlainTexts(RowForm form, const Column& column) : quoted_(form == RowForm::json) {
    const auto offsets = column.offsets();
    const std::string_view all(column.bytes() + offsets.front(),
                               static_cast<std::size_t>(offsets.back() - offsets.front()));
    end_ = all.data() + all.size();
    all_plain_ = !needs_quotes(form, all);
  }
  [[nodiscard]] bool all_plain() const { return all_plain_; }
  [[nodiscard]] char* put(char* to, std::string_view text) const {
    if (quoted_) *to++ = '"';
    const bool inside = text.size() + kSlack <= static_cast<std::size_t>(end_ - text.data());
    to = inside ? put_words(to, text.data(), text.size()) : text_writing::put(to, text);
    if (quoted_) *to++ = '"';
    return to;
  }

 private:
  const char* end_;
  bool quoted_;
  bool all_plain_;
};

}  // namespace

void append_spelled(RowForm form, std::string_view text, TextBuffer& to, bool csv_safe) {
  to.written(put_text(form, csv_safe, to.room(text.size() * kMostPerCharacter + kQuotes), text));
}

class SpelledTexts {
 public:
  SpelledTexts(RowForm form, bool safe, std::string_view before, Dictionary dictionary) : of_(std::move(dictionary)) {
    at_.reserve(of_->size() + 1);
    TextBuffer all;
    for (const std::string& text : *of_) {
      at_.push_back(all.size());
      if (!before.empty()) all.append(before);
      append_spelled(form, text, all, safe);
      longest_ = std::max(longest_, all.size() - at_.back());
    }
    at_.push_back(all.size());
    bytes_.reserve(all.size() + kSlack);
    bytes_ = all.view();
    bytes_.append(kSlack, '\0');
  }
  [[nodiscard]] const Dictionary& of() const { return of_; }
  [[nodiscard]] std::size_t longest() const { return longest_; }
  [[nodiscard]] char* put(char* to, std::uint32_t code) const {
    return put_words(to, bytes_.data() + at_[code], at_[code + 1] - at_[code]);
  }

 private:
  Dictionary of_;
  std::vector<std::size_t> at_;
  std::string bytes_;
  std::size_t longest_ = 0;
};

struct RowWriter::Prepared {
  const Column* column;
  ColumnType type;
  bool nulls;
  const std::string* before;
  std::size_t before_size;
  std::shared_ptr<const SpelledTexts> texts;
  std::optional<PlainTexts> plain;  // free texts that need no quotes of their own
};

RowWriter::RowWriter(RowForm form, std::vector<ColumnSpec> columns, bool csv_safe)
    : form_(form), safe_(csv_safe), columns_(std::move(columns)), last_(columns_.size()) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::string before;
    if (form_ == RowForm::csv) {
      before = i == 0 ? "" : ",";
    } else {
      before = (i == 0 ? ",\n  {" : ", ") + json_quote(columns_[i].name) + ": ";
    }
    before_.push_back(before);
    before_.back().reserve(before.size() + kSlack);
  }
  row_end_ = form_ == RowForm::csv ? "\n" : "}";
}

RowWriter::~RowWriter() = default;

void RowWriter::header(TextBuffer& to) const {
  if (form_ != RowForm::csv) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) to.append(",");
    append_spelled(form_, columns_[i].name, to, safe_);
  }
  to.append("\n");
}

// A dictionary of definitions serves every batch and is spelled once; one that comes with its batch is spelled with it.
std::shared_ptr<const SpelledTexts> RowWriter::spelled(std::size_t column, const Dictionary& dictionary) {
  {
    const std::scoped_lock lock(mutex_);
    if (last_[column] && last_[column]->of() == dictionary) return last_[column];
  }
  auto made = std::make_shared<const SpelledTexts>(form_, safe_, before_[column], dictionary);
  const std::scoped_lock lock(mutex_);
  last_[column] = made;
  return made;
}

void RowWriter::write(const Batch& batch, TextBuffer& to) {
  using namespace text_writing;
  std::vector<Prepared> columns;
  std::size_t room = row_end_.size() + kSlack;  // of a row without its free texts
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    const Column& column = batch.columns[i];
    Prepared prepared{&column, column.type(), !column.validity().empty(), &before_[i], before_[i].size(), {}, {}};
    room += before_[i].size() + 2 * kSlack;
    if (column.type() == ColumnType::text) {
      prepared.texts = spelled(i, column.dictionary());
      room += prepared.texts->longest();
    } else {
      room += kNumberRoom;
    }
    if (column.type() == ColumnType::free_text && !safe_) {
      prepared.plain.emplace(form_, column);
      if (!prepared.plain->all_plain()) prepared.plain.reset();
    }
    columns.push_back(std::move(prepared));
  }
  const bool json = form_ == RowForm::json;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    char* at = to.room(room);
    for (const Prepared& cell : columns) {
      const Column& column = *cell.column;
      if (cell.type == ColumnType::text && !(cell.nulls && column.is_null(row))) {
        at = cell.texts->put(at, column.values<std::uint32_t>()[row]);
        continue;
      }
      at = put_words(at, cell.before->data(), cell.before_size);
      if (cell.nulls && column.is_null(row)) {
        if (json) at = put(at, kNull);
        continue;
      }
      switch (cell.type) {
        case ColumnType::boolean:
          at = put(at, column.values<std::uint8_t>()[row] != 0 ? "true" : "false");
          break;
        case ColumnType::int64:
          at = put_integer(at, column.values<std::int64_t>()[row]);
          break;
        case ColumnType::uint64:
          at = put_integer(at, column.values<std::uint64_t>()[row]);
          break;
        case ColumnType::int128:
          at = put_sum(at, column.values<Int128>()[row]);
          break;
        case ColumnType::float64: {
          const double value = column.values<double>()[row];
          const bool quoted = json && !std::isfinite(value);
          if (quoted) *at++ = '"';
          at = put_real(at, value);
          if (quoted) *at++ = '"';
          break;
        }
        case ColumnType::seconds:
          at = put_seconds(at, column.values<std::int64_t>()[row]);
          break;
        case ColumnType::text:  // above
          break;
        case ColumnType::free_text: {
          const std::string_view text = column.text(row);
          to.written(at);
          if (cell.plain) {
            at = cell.plain->put(to.room(text.size() + kQuotes + kSlack + room), text);
          } else {
            at = put_text(form_, safe_, to.room(text.size() * kMostPerCharacter + kQuotes + room), text);
          }
          break;
        }
      }
    }
    at = put(at, row_end_);
    to.written(at);
  }
}

}  // namespace fathom
