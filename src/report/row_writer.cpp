#include "report/row_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/number_text.hpp"
#include "base/text.hpp"

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

// Eight characters at once: the high bit of a byte is set where a character must not stand as it is.
constexpr std::uint64_t every(unsigned char c) { return 0x0101010101010101ULL * c; }
constexpr std::uint64_t equal(std::uint64_t word, unsigned char c) {
  const std::uint64_t x = word ^ every(c);
  return (x - every(1)) & ~x & every(0x80);
}
std::uint64_t special(RowForm form, std::uint64_t word) {
  if (form == RowForm::csv) return equal(word, ',') | equal(word, '"') | equal(word, '\n') | equal(word, '\r');
  const std::uint64_t control = (word - every(0x20)) & ~word & every(0x80);
  return (word & every(0x80)) | control | equal(word, '"') | equal(word, '\\') | equal(word, 0x7F);
}

// At most that many characters for one of a text, and for the quotes and the end of the last word.
constexpr std::size_t kMostPerCharacter = 6;
constexpr std::size_t kQuotes = 2 + sizeof(std::uint64_t);

// Looked at and copied in one go; once more where a character needs an escape.
char* put_text(RowForm form, char* to, std::string_view text) {
  const bool json = form == RowForm::json;
  char* out = to;
  if (json) *out++ = '"';
  std::uint64_t found = 0;
  std::size_t at = 0;
  std::uint64_t word;
  for (; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    std::memcpy(out + at, &word, sizeof word);
    found |= special(form, word);
  }
  word = every('a');
  char* const rest = reinterpret_cast<char*>(&word);
  for (std::size_t i = 0; at + i < text.size(); ++i) rest[i] = text[at + i];
  std::memcpy(out + at, &word, sizeof word);
  found |= special(form, word);
  if (found != 0) [[unlikely]]
    return text_writing::put(to, json ? json_quote(text) : csv_quote(text));
  out += text.size();
  if (json) *out++ = '"';
  return out;
}

}  // namespace

void append_spelled(RowForm form, std::string_view text, TextBuffer& to) {
  to.written(put_text(form, to.room(text.size() * kMostPerCharacter + kQuotes), text));
}

class SpelledTexts {
 public:
  SpelledTexts(RowForm form, Dictionary dictionary) : of_(std::move(dictionary)) {
    at_.reserve(of_->size() + 1);
    TextBuffer all;
    for (const std::string& text : *of_) {
      at_.push_back(all.size());
      append_spelled(form, text, all);
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
};

RowWriter::RowWriter(RowForm form, std::vector<ColumnSpec> columns)
    : form_(form), columns_(std::move(columns)), last_(columns_.size()) {
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
    append_spelled(form_, columns_[i].name, to);
  }
  to.append("\n");
}

// A dictionary of definitions serves every batch and is spelled once; one that comes with its batch is spelled with it.
std::shared_ptr<const SpelledTexts> RowWriter::spelled(std::size_t column, const Dictionary& dictionary) {
  {
    const std::scoped_lock lock(mutex_);
    if (last_[column] && last_[column]->of() == dictionary) return last_[column];
  }
  auto made = std::make_shared<const SpelledTexts>(form_, dictionary);
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
    Prepared prepared{&column, column.type(), !column.validity().empty(), &before_[i], before_[i].size(), {}};
    room += before_[i].size() + 2 * kSlack;
    if (column.type() == ColumnType::text) {
      prepared.texts = spelled(i, column.dictionary());
      room += prepared.texts->longest();
    } else {
      room += kNumberRoom;
    }
    columns.push_back(std::move(prepared));
  }
  const bool json = form_ == RowForm::json;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    char* at = to.room(room);
    for (const Prepared& cell : columns) {
      at = put_words(at, cell.before->data(), cell.before_size);
      const Column& column = *cell.column;
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
        case ColumnType::text:
          at = cell.texts->put(at, column.values<std::uint32_t>()[row]);
          break;
        case ColumnType::free_text: {
          const std::string_view text = column.text(row);
          to.written(at);
          at = put_text(form_, to.room(text.size() * kMostPerCharacter + kQuotes + room), text);
          break;
        }
      }
    }
    at = put(at, row_end_);
    to.written(at);
  }
}

}  // namespace fathom
