// The archives of the shared data, and what independent readers say of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/otf2/otf2_trace.hpp"
#include "formats/registry.hpp"
#include "temporary_directory.hpp"

namespace fathom::otf2 {

inline std::filesystem::path data_directory() { return std::filesystem::path(FATHOM_SHARED_DATA) / "otf2"; }
inline bool has_data() { return std::filesystem::exists(data_directory()); }

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

inline std::shared_ptr<const Archive> open_archive(const std::filesystem::path& anchor,
                                                   const Work& work = make_work()) {
  auto archive = Archive::open(files_beside(anchor), work);
  EXPECT_TRUE(archive.ok()) << archive.error().text();
  return archive.ok() ? *archive : nullptr;
}

inline std::vector<Event> all_events(const Trace& trace, LocationId location, TimeWindow window = {}) {
  std::vector<Event> events;
  auto stream = trace.open(location, window);
  EXPECT_TRUE(stream.ok());
  EventCursor cursor(std::move(*stream), 7);  // odd, so that records with several events do not fit
  while (const Event* event = cursor.next()) events.push_back(*event);
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().error().text();
  return events;
}

inline bool has_diagnostic(const Work& work, std::string_view id) {
  for (const Diagnostic& diagnostic : work->diagnostics.all()) {
    if (diagnostic.id == id) return true;
  }
  return false;
}

inline bool has_program(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

}  // namespace fathom::otf2
