#include "formats/source_text.hpp"

namespace fathom {

std::optional<std::filesystem::path> find_source(const std::filesystem::path& dataset, std::string_view file) {
  namespace fs = std::filesystem;
  if (file.empty()) return std::nullopt;
  std::error_code status;
  const fs::path directory = fs::is_directory(dataset, status) ? dataset : dataset.parent_path();
  const fs::path named = fs::path(file).lexically_normal();
  const fs::path relative = named.relative_path();
  const bool inside = relative.begin() != relative.end() && *relative.begin() != "..";
  if (inside) {
    for (const fs::path& candidate : {directory / relative, directory / "src" / relative}) {
      if (fs::is_regular_file(candidate, status)) return candidate;
    }
  }
  if (named.is_absolute() && fs::is_regular_file(named, status)) return named;
  // Databases are handed on with their sources put together: the end of the path is enough.
  for (auto part = relative.begin(); inside && part != relative.end(); ++part) {
    fs::path end;
    for (auto rest = part; rest != relative.end(); ++rest) end /= *rest;
    if (fs::is_regular_file(directory / "src" / end, status)) return directory / "src" / end;
  }
  return std::nullopt;
}

}  // namespace fathom
