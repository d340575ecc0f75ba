#include "defs/context_name.hpp"

#include <algorithm>

#include "base/number.hpp"

namespace fathom {

std::string context_name_without(const Definitions& defs, ContextId id, std::span<const std::string> keys) {
  std::string out = defs.region_of(id).name;
  bool any = false;
  for (const ContextParameter& parameter : defs.contexts.details(id).parameters) {
    if (std::find(keys.begin(), keys.end(), parameter.key) != keys.end()) continue;
    out += any ? ", " : " (";
    any = true;
    out += parameter.key + "=";
    const double* number = std::get_if<double>(&parameter.value);
    out += number != nullptr ? exact_text(*number) : std::get<std::string>(parameter.value);
  }
  if (any) out += ')';
  return out;
}

}  // namespace fathom
