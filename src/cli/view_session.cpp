#include "cli/view_session.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/work.hpp"
#include "io/file.hpp"

namespace fathom::cli {

Result<ViewSession> read_view_session(const std::filesystem::path& file) {
  FATHOM_TRY(const Blob blob, map_file(file));
  const auto wrong = [&](const char* text) { return Error(text, blob.place()).as(ErrorKind::usage); };
  constexpr std::size_t kLargest = 1U << 20;
  if (blob.size() > kLargest) return wrong("is too large for a saved view");
  const auto json = nlohmann::json::parse(blob.text(), nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!json.is_object() || !json.contains("fathom_session") || !json.contains("paths") || !json["paths"].is_array()) {
    return wrong("is no view that the viewer saved");
  }
  ViewSession out;
  const std::filesystem::path folder = text("folder");
  for (const auto& path : json["paths"]) {
    if (!path.is_string()) return wrong("lists a path that is no text");
    const std::filesystem::path named = path.get<std::string>();
    out.paths.push_back((named.is_absolute() ? named : folder / named).string());
  }
  if (out.paths.empty()) return wrong("lists no dataset");
  out.view = text("view");
  // It becomes part of an address.
  if (std::any_of(out.view.begin(), out.view.end(),
                  [](unsigned char c) { return c <= ' ' || c >= 0x7f || c == '"'; })) {
    return wrong("holds a view that is no address");
  }
  return out;
}

}  // namespace fathom::cli
