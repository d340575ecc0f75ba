#include "report/text_table.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/visible.hpp"

namespace fathom {

namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastElastic = 16;

std::string padded(const std::string& shown, std::size_t used, std::size_t width, Align align, bool last) {
  const std::string blanks(used < width ? width - used : 0, ' ');
  if (align == Align::right) return blanks + shown;
  return last ? shown : shown + blanks;
}

}  // namespace

TextTable& TextTable::column(std::string title, Align align, bool elastic) {
  columns_.push_back({visible(title), align, elastic});
  return *this;
}

void TextTable::row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) {
    if (!is_plain_text(cell.text)) cell.text = visible(cell.text);
  }
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(const Terminal& terminal) const {
  std::vector<std::size_t> out;
  std::size_t total = 0;
  std::size_t elastic = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c].text));
    out.push_back(width);
    total += width + (c > 0 ? kGap : 0);
    if (columns_[c].elastic) ++elastic;
  }
  // The widest elastic column gives way first.
  while (terminal.width != Terminal::kUnlimited && total > terminal.width && elastic > 0) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].elastic && (widest == columns_.size() || out[c] > out[widest])) widest = c;
    }
    if (out[widest] <= kLeastElastic) break;
    --out[widest];
    --total;
  }
  return out;
}

std::string TextTable::text(const Terminal& terminal) const {
  const std::vector<std::size_t> width = widths(terminal);
  std::string out;
  const bool titled = std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  const auto line = [&](const auto& cell_of, bool header) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Cell& cell = cell_of(c);
      if (c > 0) text += std::string(kGap, ' ');
      const std::string shown = fit(cell.text, width[c]);
      const bool last = c + 1 == columns_.size();
      const std::string painted = terminal.paint(shown, header ? Style::bold : cell.style);
      text += padded(painted, display_width(shown), width[c], columns_[c].align, last);
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + '\n';
  };
  if (titled) {
    std::vector<Cell> titles;
    for (const Column& column : columns_) titles.emplace_back(column.title);
    line([&](std::size_t c) -> const Cell& { return titles[c]; }, true);
  }
  for (const auto& row : rows_) line([&](std::size_t c) -> const Cell& { return row[c]; }, false);
  return out;
}

}  // namespace fathom
