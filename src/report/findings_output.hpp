// Findings and what they rest on, as JSON, as text for people and as Markdown.
#pragma once

#include <string>

#include "base/json.hpp"
#include "findings/finding.hpp"
#include "report/terminal.hpp"

namespace fathom {

// The members of the report, into an object that is open; the caller adds the diagnostics.
void write_report(JsonWriter& json, const Report& report);
std::string report_text(const Report& report, const Terminal& terminal);
std::string report_markdown(const Report& report);

}  // namespace fathom
