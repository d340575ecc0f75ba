#include "cli/shown_value.hpp"

#include "base/number.hpp"
#include "base/text.hpp"
#include "defs/presentation.hpp"
#include "report/format_string.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

std::string shown_value(double value, const Metric& metric) {
  if (const Presentation shown = presentation_of(metric); !shown.format.empty()) {
    if (const auto text = printf_format(value, shown.format)) return std::string(trim(*text));
  }
  return readable(value, metric.unit);
}

}  // namespace fathom::cli
