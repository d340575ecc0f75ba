#include "formats/sound_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"

namespace fathom {

Result<void> leave_out_unreadable(const std::vector<std::filesystem::path>& runs,
                                  const std::vector<std::optional<Error>>& errors, const std::string& name,
                                  const Work& work) {
  std::size_t bad = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!errors[i]) continue;
    ++bad;
    if (bad == runs.size()) return *errors[i];
    Place place = errors[i]->place();
    if (place.file.empty()) place = Place::in(runs[i].string());
    FATHOM_CHECK(work->diagnostics.lost("runs.unreadable", std::move(place),
                                        fmt::format("this run is left out: {}", errors[i]->what())));
  }
  if (bad == runs.size()) return Error("none of the runs can be read", Place::in(name));
  return {};
}

Result<std::vector<std::size_t>> read_sound_runs(const std::vector<RunFile>& runs, const std::string& name,
                                                 const Work& work,
                                                 const std::function<Result<void>(std::size_t)>& read) {
  std::vector<std::optional<Error>> errors(runs.size());
  FATHOM_CHECK(parallel_for(runs.size(), [&](std::size_t i) -> Result<void> {
    auto done = read(i);
    if (done) return {};
    if (done.error().kind() == ErrorKind::cancelled) return std::move(done).error();
    errors[i] = std::move(done).error();
    return {};
  }));
  std::vector<std::filesystem::path> paths;
  std::vector<std::size_t> sound;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    paths.push_back(runs[i].path);
    if (!errors[i]) sound.push_back(i);
  }
  FATHOM_CHECK(leave_out_unreadable(paths, errors, name, work));
  return sound;
}

}  // namespace fathom
