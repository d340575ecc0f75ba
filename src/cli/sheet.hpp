// Rows of texts and numbers in whichever form was asked for: a table for people, CSV or JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/session.hpp"

namespace fathom::cli {

class Sheet {
 public:
  struct Column {
    std::string name;
    bool number = false;
  };
  explicit Sheet(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // `key`: of the list in the JSON object.
  void print(Session& session, std::string_view key) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fathom::cli
