// Aligned columns for people.
#pragma once

#include <string>
#include <vector>

#include "report/terminal.hpp"

namespace fathom {

enum class Align : std::uint8_t { left, right };

struct Cell {
  std::string text;
  Style style = Style::plain;

  Cell() = default;
  Cell(std::string shown, Style look = Style::plain) : text(std::move(shown)), style(look) {}
  Cell(const char* shown) : text(shown) {}
};

// On a terminal the elastic columns are cut until a row fits; in a pipe nothing is.
class TextTable {
 public:
  TextTable& column(std::string title, Align align = Align::left, bool elastic = false);
  void row(std::vector<Cell> cells);
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // With a header line unless all titles are empty.
  [[nodiscard]] std::string text(const Terminal& terminal) const;

 private:
  struct Column {
    std::string title;
    Align align;
    bool elastic;
  };
  [[nodiscard]] std::vector<std::size_t> widths(const Terminal& terminal) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace fathom
