#include "profile/export/xml_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/utf8.hpp"
#include "base/visible.hpp"

namespace fathom {

namespace {

class AlteredNames {
 public:
  void look_at(std::string_view text) {
    if (stays(text)) return;
    if (count_++ == 0) first_ = text;
  }
  Result<void> tell(const Profile& profile) const {
    if (count_ == 0) return {};
    return profile.work->diagnostics.add(
        "convert.altered_names", Severity::warning, Place::in(profile.name),
        fmt::format("XML has no room for control characters, line breaks and bytes that are no UTF-8: '{}' is written "
                    "with other characters in their place",
                    visible(first_)),
        count_);
  }

 private:
  static bool stays(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = utf8_length(text, i);
      const bool control = static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\t';
      if (length == 0 || control) return false;
      i += length;
    }
    return true;
  }

  std::string_view first_;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<void> tell_names_altered_by_xml(const Profile& profile) {
  const Definitions& defs = profile.defs();
  AlteredNames names;
  for (const Metric& metric : defs.metrics) names.look_at(metric.name);
  for (const Region& region : defs.regions) {
    names.look_at(region.name);
    if (region.mangled_name != region.name) names.look_at(region.mangled_name);
    names.look_at(region.file);
  }
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextDetails& details = defs.contexts.details(ContextId(i));
    names.look_at(details.file);
    for (const ContextParameter& parameter : details.parameters) {
      names.look_at(parameter.key);
      if (const auto* text = std::get_if<std::string>(&parameter.value)) names.look_at(*text);
    }
  }
  for (const SystemNode& node : defs.system.nodes) names.look_at(node.name);
  return names.tell(profile);
}

}  // namespace fathom
