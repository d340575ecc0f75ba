#include "cli/shown_value.hpp"

#include "base/number.hpp"
#include "base/text.hpp"
#include "defs/presentation.hpp"
#include "profile/absent.hpp"
#include "report/format_string.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

std::string shown_value(double value, const Metric& metric) {
  if (const Presentation shown = presentation_of(metric); !shown.format.empty()) {
    if (const auto text = printf_format(value, shown.format)) return std::string(trim(*text));
  }
  return readable(value, metric.unit);
}

std::string shown_value(const Cells& cells, std::size_t row, const Metric& metric) {
  return has_value(cells, row, 0) ? shown_value(cells.scalar(row, 0), metric) : "-";
}

}  // namespace fathom::cli
