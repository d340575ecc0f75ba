#include "report/table_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/number_text.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"

namespace fathom {

namespace {

constexpr std::size_t kBarWidth = 12;
constexpr double kHundred = 100;

std::string capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '_') c = ' ';
  }
  return out;
}

// The unit stands with the numbers, not in the title.
std::string title_of(const ColumnSpec& spec, Show show) {
  if (!spec.title.empty()) return spec.title;
  std::string_view name = spec.name;
  if (show != Show::exact && spec.unit == "s" && name.ends_with("_s")) name.remove_suffix(2);
  return capitals(name);
}

bool is_bar(Show show) { return show == Show::bar || show == Show::percent_bar; }

struct Shown {
  std::size_t column;
  Show show;
  std::string title;
  bool elastic;
  double whole = 0;  // sum or largest, for shares and bars
};

std::vector<Shown> shown_columns(const Schema& schema, const TableLook& look) {
  std::vector<Shown> out;
  if (look.columns.empty()) {
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
      const ColumnSpec& spec = schema.columns[i];
      out.push_back({i, look.all, look.all == Show::exact ? spec.name : title_of(spec, look.all), is_text(spec.type)});
    }
    return out;
  }
  for (const ColumnLook& one : look.columns) {
    const auto at = schema.find(one.column);
    if (!at) continue;
    const bool beside = one.show == Show::of_sum || is_bar(one.show);
    const std::string title = !one.title.empty() ? one.title
                              : beside           ? (one.show == Show::of_sum ? "%" : "")
                                                 : title_of(schema.columns[*at], one.show);
    out.push_back({*at, one.show, title, one.elastic});
  }
  return out;
}

Align align_of(const ColumnSpec& spec, Show show) {
  return is_text(spec.type) || is_bar(show) ? Align::left : Align::right;
}

}  // namespace

std::string exact_cell(const Column& column, std::size_t row) {
  using namespace text_writing;
  if (column.is_null(row)) return {};
  char text[kNumberRoom];
  char* end = text;
  switch (column.type()) {
    case ColumnType::boolean:
      return column.values<std::uint8_t>()[row] != 0 ? "yes" : "no";
    case ColumnType::int64:
      end = put_signed(text, column.values<std::int64_t>()[row]);
      break;
    case ColumnType::uint64:
      end = put_unsigned(text, column.values<std::uint64_t>()[row]);
      break;
    case ColumnType::int128:
      end = put_sum(text, column.values<Int128>()[row]);
      break;
    case ColumnType::float64:
      end = put_real(text, column.values<double>()[row]);
      break;
    case ColumnType::seconds:
      end = put_seconds(text, column.values<std::int64_t>()[row]);
      break;
    case ColumnType::text:
    case ColumnType::free_text:
      return std::string(column.text(row));
  }
  return {text, static_cast<std::size_t>(end - text)};
}

std::string readable_cell(const Column& column, const ColumnSpec& spec, std::size_t row, Show show) {
  if (column.is_null(row)) return {};
  if (is_text(column.type()) || column.type() == ColumnType::boolean || show == Show::exact) {
    return exact_cell(column, row);
  }
  const double value = column.real(row);
  if (show == Show::share) return percent(value, 1);
  if (show == Show::percent) return percent(value, kHundred);
  const bool grouped_digits = show == Show::grouped || spec.unit == "occ" || spec.unit == "#";
  if (grouped_digits && value >= 0 && value < 1e18 && value == std::floor(value)) {
    return grouped(static_cast<std::uint64_t>(value));
  }
  if (show == Show::grouped) return exact_cell(column, row);
  if (spec.unit.empty()) {
    return column.type() == ColumnType::float64 ? readable(value, "") : exact_cell(column, row);
  }
  return readable(value, spec.unit);
}

std::string table_text(const Table& table, const Terminal& terminal, const TableLook& look) {
  std::vector<Shown> columns = shown_columns(table.schema, look);
  std::erase_if(columns, [&](const Shown& one) {
    if (is_bar(one.show) && !terminal.bars) return true;
    const Column& column = table.data.columns[one.column];
    if (column.validity().empty() || table.rows() == 0) return false;
    return std::all_of(column.validity().begin(), column.validity().end(),
                       [](std::uint64_t word) { return word == 0; });
  });
  TextTable text;
  for (Shown& one : columns) {
    const Column& column = table.data.columns[one.column];
    text.column(one.title, align_of(table.schema.columns[one.column], one.show), one.elastic);
    if (one.show != Show::of_sum && one.show != Show::bar) continue;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const double value = column.real(row);
      if (!std::isfinite(value)) continue;
      one.whole = one.show == Show::of_sum ? one.whole + value : std::max(one.whole, value);
    }
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Style style = look.style ? look.style(table, row) : Style::plain;
    std::vector<Cell> cells;
    for (const Shown& one : columns) {
      const Column& column = table.data.columns[one.column];
      if (one.show == Show::of_sum) {
        const double value = column.real(row);
        cells.emplace_back(column.is_null(row) ? "" : percent(value, one.whole), heat(value / one.whole));
      } else if (is_bar(one.show)) {
        const double whole = one.show == Show::bar ? one.whole : kHundred;
        const double share = whole > 0 ? column.real(row) / whole : 0;
        cells.emplace_back(bar_text(share, kBarWidth), one.show == Show::bar ? Style::blue : heat(share));
      } else {
        cells.emplace_back(readable_cell(column, table.schema.columns[one.column], row, one.show), style);
      }
    }
    text.row(std::move(cells));
  }
  return text.text(terminal);
}

struct LineWriter::Layout {
  std::vector<Shown> columns;
};

LineWriter::LineWriter(Output& out, Schema schema, const TableLook& look)
    : out_(out),
      schema_(std::move(schema)),
      layout_(new Layout{shown_columns(schema_, look)}),
      line_width_(look.line_width) {
  for (const Shown& one : layout_->columns) widths_.push_back(display_width(one.title));
}

LineWriter::~LineWriter() = default;

namespace {

// The end of a text, as much as fits: of call paths it says more than the beginning.
std::string end_of(std::string_view text, std::size_t width) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (std::size_t used = display_width(text); used > width && !text.empty();) {
    std::size_t letter = 1;
    while (letter < text.size() && continues(text[letter])) ++letter;
    used -= display_width(text.substr(0, letter));
    text.remove_prefix(letter);
  }
  return std::string(text);
}

}  // namespace

void LineWriter::print(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Shown& one = layout_->columns[i];
    const std::size_t used = display_width(cells[i]);
    const std::string blanks(used < widths_[i] ? widths_[i] - used : 0, ' ');
    if (i > 0) line += "  ";
    constexpr std::size_t kLeast = 8;  // characters of a name that still say something
    const std::size_t room = line_width_ - std::min(line_width_, display_width(line));
    const bool last_text = i + 1 == cells.size() && is_text(schema_.columns[one.column].type);
    if (line_width_ > 0 && last_text && used > room && room >= kLeast) {
      line += "…" + end_of(cells[i], room - 1);
      continue;
    }
    line += align_of(schema_.columns[one.column], one.show) == Align::right ? blanks + cells[i] : cells[i] + blanks;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  out_.write(line + '\n');
}

void LineWriter::start() {
  started_ = true;
  for (const auto& cells : waiting_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], display_width(cells[i]));
  }
  std::vector<std::string> titles;
  for (const Shown& one : layout_->columns) titles.push_back(one.title);
  print(titles);
  for (const auto& cells : waiting_) print(cells);
  waiting_.clear();
}

void LineWriter::write(const Batch& batch) {
  constexpr std::size_t kMeasured = 1024;  // rows that decide on the widths
  for (std::size_t row = 0; row < batch.rows && !out_.closed(); ++row) {
    std::vector<std::string> cells;
    for (const Shown& one : layout_->columns) {
      cells.push_back(visible(readable_cell(batch.columns[one.column], schema_.columns[one.column], row, one.show)));
    }
    if (started_) {
      print(cells);
      continue;
    }
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == kMeasured) start();
  }
}

void LineWriter::end() {
  if (!started_) start();
}

Result<void> write_text(Output& out, const TableSource& source, const ScanRequest& request, const TableLook& look) {
  Schema schema{source.schema().name, {}};
  if (request.columns.empty()) schema.columns = source.schema().columns;
  for (const std::size_t column : request.columns) schema.columns.push_back(source.schema().columns[column]);
  LineWriter lines(out, std::move(schema), look);
  for (std::size_t part = 0; part < source.parts() && !out.closed(); ++part) {
    FATHOM_TRY(const auto reader, source.open(part, request));
    for (Batch batch; !out.closed();) {
      FATHOM_TRY(const bool more, reader->next(batch));
      if (!more) break;
      lines.write(batch);
    }
  }
  lines.end();
  return {};
}

}  // namespace fathom
