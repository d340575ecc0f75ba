#include "cli/record/mpi_recorders.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "io/blob.hpp"
#include "io/file.hpp"

namespace fathom::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "libfathom-dumpi-";
constexpr std::string_view kEnding = ".so";

void collect(const fs::path& folder, std::vector<MpiRecorder>& found) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) continue;
    const std::string library = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kEnding.size());
    const bool known =
        std::any_of(found.begin(), found.end(), [&](const auto& other) { return other.library == library; });
    if (!known) found.push_back({library, fs::absolute(entry.path())});
  }
}

// The file that a word of a command runs; empty when it is none.
fs::path executable(const std::string& word) {
  if (word.empty() || word.starts_with('-')) return {};
  const auto usable = [](const fs::path& path) {
    std::error_code status;
    return fs::is_regular_file(path, status) && ::access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return usable(word) ? fs::path(word) : fs::path();
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    const fs::path candidate = fs::path(folder) / word;
    if (!folder.empty() && usable(candidate)) return candidate;
  }
  return {};
}

// Which MPI library a program names among those it needs.
std::string library_in(const fs::path& program) {
  auto blob = map_file(program);
  if (!blob.ok()) return {};
  const std::string_view bytes = as_text(blob->bytes());
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return {};
  // MPICH and what keeps to its binary interface; Open MPI has always had other version numbers.
  for (const std::string_view name : {"libmpich.so.", "libmpi.so.12", "libmpifort.so.12", "libmpichfort.so."}) {
    if (bytes.find(name) != std::string_view::npos) return "mpich";
  }
  if (bytes.find("libmpi.so.") != std::string_view::npos || bytes.find("libmpi_mpifh.so.") != std::string_view::npos) {
    return "openmpi";
  }
  return {};
}

std::string launcher_library(const fs::path& program) {
  std::error_code status;
  const std::string name = fs::canonical(program, status).filename().string();
  for (const std::string_view part : {"orterun", "openmpi", "prterun"}) {
    if (name.find(part) != std::string::npos) return "openmpi";
  }
  for (const std::string_view part : {"hydra", "mpich"}) {
    if (name.find(part) != std::string::npos) return "mpich";
  }
  return {};
}

}  // namespace

std::vector<MpiRecorder> mpi_recorders() {
  std::vector<MpiRecorder> found;
  if (const char* folder = std::getenv("FATHOM_CAPTURE_DIR")) collect(folder, found);
  std::error_code status;
  const fs::path home = fs::read_symlink("/proc/self/exe", status).parent_path();
  collect(home / "capture" / "lib", found);  // a build folder
  for (const char* folder : {"lib", "lib64"}) {
    const fs::path libraries = home.parent_path() / folder;
    collect(libraries / "fathom", found);
    for (const auto& entry : fs::directory_iterator(libraries, status)) collect(entry.path() / "fathom", found);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.library < b.library; });
  return found;
}

std::string mpi_library_of(const std::vector<std::string>& command) {
  std::string launcher;
  for (const std::string& word : command) {
    const fs::path program = executable(word);
    if (program.empty()) continue;
    const std::string of_launcher = launcher_library(program);
    if (launcher.empty()) launcher = of_launcher;
    if (!of_launcher.empty()) continue;
    if (std::string library = library_in(program); !library.empty()) return library;
  }
  return launcher;
}

bool is_launcher_of(const std::string& word, const std::string& library) {
  const fs::path program = executable(word);
  return !program.empty() && launcher_library(program) == library;
}

Result<fs::path> clock_sampler(const std::vector<std::string>& launcher, const std::string& library) {
  std::vector<MpiRecorder> found;
  for (const MpiRecorder& recorder : mpi_recorders()) {
    const fs::path program = recorder.path.parent_path() / ("fathom-clock-samples-" + recorder.library);
    std::error_code status;
    if (fs::is_regular_file(program, status)) found.push_back({recorder.library, program});
  }
  if (found.empty()) {
    return Error("no program that samples clocks is installed beside this one")
        .hint("build Fathom where an MPI library and its headers are installed");
  }
  const std::string wanted = library.empty() ? mpi_library_of(launcher) : library;
  if (wanted.empty() && found.size() == 1) return found.front().path;
  if (wanted.empty()) {
    return Error::usage("it is not clear which MPI library the launcher uses").hint("--mpi openmpi or --mpi mpich");
  }
  for (const MpiRecorder& program : found) {
    if (program.library == wanted) return program.path;
  }
  return Error(fmt::format("there is no program that samples clocks for {}", wanted));
}

}  // namespace fathom::cli
