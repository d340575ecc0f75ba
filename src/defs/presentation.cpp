#include "defs/presentation.hpp"

namespace fathom {

namespace {
constexpr const char* kShow = "show";  // "inclusive" or "exclusive" alone
constexpr const char* kPercent = "show-percent";
constexpr const char* kFormat = "fmt";
}  // namespace

Presentation presentation_of(const Metric& metric) {
  Presentation out;
  // Minima and maxima are no part of a whole.
  out.percent = metric.type.kind != ValueKind::min_f64 && metric.type.kind != ValueKind::max_f64;
  if (const std::string* show = find_attribute(metric.attributes, kShow)) {
    if (*show == "inclusive") out.exclusive = false;
    if (*show == "exclusive") out.inclusive = false;
  }
  if (const std::string* percent = find_attribute(metric.attributes, kPercent)) out.percent = *percent != "0";
  if (const std::string* format = find_attribute(metric.attributes, kFormat)) out.format = *format;
  return out;
}

void present(Metric& metric, const Presentation& presentation) {
  std::erase_if(metric.attributes,
                [](const auto& a) { return a.first == kShow || a.first == kPercent || a.first == kFormat; });
  if (presentation.inclusive != presentation.exclusive) {
    metric.attributes.emplace_back(kShow, presentation.inclusive ? "inclusive" : "exclusive");
  }
  if (!presentation.percent) metric.attributes.emplace_back(kPercent, "0");
  if (!presentation.format.empty()) metric.attributes.emplace_back(kFormat, presentation.format);
}

}  // namespace fathom
