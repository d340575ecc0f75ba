// The rows of `fathom table` in one of three spellings.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "profile/value.hpp"
#include "report/output.hpp"

namespace fathom::cli {

enum class RowForm : std::uint8_t { csv, json, text };

// Spells rows that share metric, context and path. The prefix is made once per context, not per row.
// Rows are made into texts on several threads; each JSON row starts with the comma that the very first one loses.
class RowSpeller {
 public:
  RowSpeller(RowForm form, std::string_view metric) : form_(form), metric_(metric) {}

  void start_context(std::string_view context_id, std::string_view path);
  // `location` as prepared by spell_location().
  void row(std::string& out, std::string_view location, std::string_view value, bool is_number) const;

  static std::string spell_location(RowForm form, std::string_view label);
  static std::string header(RowForm form);
  static std::string footer(RowForm form, bool any);

 private:
  RowForm form_;
  std::string metric_;
  std::string prefix_;
  std::string suffix_;
};

}  // namespace fathom::cli
