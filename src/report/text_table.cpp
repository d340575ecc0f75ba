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

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  std::size_t total = widths.empty() ? 0 : (widths.size() - 1) * kGap;
  for (const std::size_t width : widths) total += width;
  return total;
}

// Drawn, not written: blanks and blocks.
bool is_bar(std::string_view text) {
  constexpr std::string_view kBlocks = "▏▎▍▌▋▊▉█▐░";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = text[at] == ' ' ? 1 : 3;
    if (length == 3 && kBlocks.find(text.substr(at, length)) == std::string_view::npos) return false;
    at += length;
  }
  return !text.empty();
}

// Columns in groups that fit, each with the one that names the rows.
std::vector<std::vector<std::size_t>> groups_that_fit(const std::vector<std::size_t>& widths, std::size_t name,
                                                      std::size_t most) {
  std::vector<std::vector<std::size_t>> out;
  std::size_t total = 0;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (c == name) continue;
    if (out.empty() || total + kGap + widths[c] > most) {
      out.push_back({});
      total = widths[name];
    }
    out.back().push_back(c);
    total += kGap + widths[c];
  }
  for (auto& group : out) group.insert(std::lower_bound(group.begin(), group.end(), name), name);
  return out;
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
  // What is still too wide goes without its bars, and if that is not enough, into several tables below each other.
  if (titled && terminal.width != Terminal::kUnlimited && sum_of(width) > terminal.width && columns_.size() > 2) {
    const auto part = [&](const std::vector<std::size_t>& chosen) {
      TextTable table;
      for (const std::size_t c : chosen) table.columns_.push_back(columns_[c]);
      for (const auto& row : rows_) {
        auto& cells = table.rows_.emplace_back();
        for (const std::size_t c : chosen) cells.push_back(row[c]);
      }
      return table.text(terminal);
    };
    std::vector<std::size_t> written;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool bar = columns_[c].title.empty() && std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) {
                         return display_width(row[c].text) > 2 && is_bar(row[c].text);
                       });
      if (!bar) written.push_back(c);
    }
    if (written.size() < columns_.size()) return part(written);
    const auto elastic = std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.elastic; });
    const auto name = static_cast<std::size_t>(elastic == columns_.end() ? 0 : elastic - columns_.begin());
    const auto groups = groups_that_fit(width, name, terminal.width);
    if (groups.size() > 1) {
      for (const auto& group : groups) out += (out.empty() ? "" : "\n") + part(group);
      return out;
    }
  }
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
