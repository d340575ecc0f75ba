#include "serve/source_files.hpp"

#include <algorithm>

namespace fathom::serve {

namespace fs = std::filesystem;

namespace {

bool below(const fs::path& file, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

}  // namespace

SourceFiles::SourceFiles(const fs::path& dataset, const std::vector<fs::path>& roots) {
  std::error_code failed;
  std::vector<fs::path> wanted;
  if (fs::is_directory(dataset, failed)) {
    wanted.push_back(dataset / "src");
    wanted.push_back(dataset);
  }
  wanted.insert(wanted.end(), roots.begin(), roots.end());
  for (const fs::path& root : wanted) {
    fs::path real = fs::canonical(root, failed);
    if (!failed && fs::is_directory(real, failed)) roots_.push_back(std::move(real));
  }
}

std::optional<fs::path> SourceFiles::find(std::string_view name) const {
  if (name.empty() || name.find('\0') != std::string_view::npos) return std::nullopt;
  const fs::path relative = fs::path(name).lexically_normal().relative_path();
  for (const fs::path& root : roots_) {
    // Sources are handed on in folders of their own: the end of the path is enough.
    for (auto part = relative.begin(); part != relative.end(); ++part) {
      fs::path end;
      for (auto rest = part; rest != relative.end(); ++rest) end /= *rest;
      std::error_code failed;
      const fs::path real = fs::canonical(root / end, failed);
      if (!failed && below(real, root) && fs::is_regular_file(real, failed)) return real;
    }
  }
  return std::nullopt;
}

}  // namespace fathom::serve
