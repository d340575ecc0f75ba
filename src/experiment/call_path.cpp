#include "experiment/call_path.hpp"

namespace fathom {

std::string path_level(std::string_view name) {
  std::string out(name);
  for (std::size_t at = 0; (at = out.find("->", at)) != std::string::npos; at += 3) out.replace(at, 2, "- >");
  return out;
}

std::string_view last_level(std::string_view path) {
  const auto arrow = path.rfind("->");
  return arrow == std::string_view::npos ? path : path.substr(arrow + 2);
}

}  // namespace fathom
