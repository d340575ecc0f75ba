#include "cli/table_rows.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace fathom::cli {

namespace {
constexpr std::size_t kMetricColumn = 24;
constexpr std::size_t kIdColumn = 9;
constexpr std::size_t kValueColumn = 24;

void pad_left(std::string& out, std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  if (used < width) out.append(width - used, ' ');
  out += text;
}

}  // namespace

void RowSpeller::start_context(std::string_view context_id, std::string_view path) {
  prefix_.clear();
  suffix_.clear();
  switch (form_) {
    case RowForm::csv:
      prefix_ = csv_quote(metric_) + ',' + std::string(context_id) + ',' + csv_quote(path) + ',';
      break;
    case RowForm::json:
      prefix_ = "{\"metric\": " + json_quote(metric_) +
                ", \"context\": " + (context_id.empty() ? "null" : std::string(context_id)) +
                ", \"path\": " + json_quote(path) + ", \"location\": ";
      break;
    case RowForm::text:
      prefix_ = metric_;
      if (const std::size_t width = display_width(metric_); width < kMetricColumn) {
        prefix_.append(kMetricColumn - width, ' ');
      }
      pad_left(prefix_ += ' ', context_id, kIdColumn);
      prefix_ += ' ';
      if (!path.empty()) suffix_ = "  " + std::string(path);
      break;
  }
}

void RowSpeller::row(std::string& out, std::string_view location, std::string_view value, bool is_number) const {
  switch (form_) {
    case RowForm::csv:
      out += prefix_;
      out += location;
      out += ',';
      out += value;
      out += '\n';
      break;
    case RowForm::json:
      out += ",\n  ";
      out += prefix_;
      out += location;
      out += ", \"value\": ";
      if (is_number) {
        out += value;
      } else {
        out += json_quote(value);
      }
      out += '}';
      break;
    case RowForm::text:
      out += prefix_;
      out += location;
      out += ' ';
      pad_left(out, value, kValueColumn);
      out += suffix_;
      out += '\n';
      break;
  }
}

std::string RowSpeller::spell_location(RowForm form, std::string_view label) {
  if (form == RowForm::csv) return csv_quote(label);
  if (form == RowForm::json) return json_quote(label);
  std::string out;
  pad_left(out, label, kIdColumn);
  return out;
}

std::string RowSpeller::header(RowForm form) {
  if (form == RowForm::csv) return "metric,context,path,location,value\n";
  if (form == RowForm::json) return "[";
  std::string out = "METRIC" + std::string(kMetricColumn - 6, ' ') + ' ';
  pad_left(out, "CONTEXT", kIdColumn);
  pad_left(out += ' ', "LOCATION", kIdColumn);
  pad_left(out += ' ', "VALUE", kValueColumn);
  return out + "  PATH\n";
}

std::string RowSpeller::footer(RowForm form, bool any) {
  if (form != RowForm::json) return {};
  return any ? "\n]\n" : "]\n";
}

}  // namespace fathom::cli
