// Shared by the Cube tests: reference data, opening, values as text.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/cube/cube_dataset.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "profile/compute.hpp"

namespace fathom::cube::testing {

using Json = nlohmann::json;

inline std::filesystem::path data_folder() { return std::filesystem::path(FATHOM_SHARED_DATA) / "cube"; }

#define SKIP_WITHOUT_DATA() \
  if (!std::filesystem::exists(fathom::cube::testing::data_folder())) GTEST_SKIP() << "no reference data"

// A valid profile with its reference results.
struct Case {
  std::string name;
  std::filesystem::path folder;
  [[nodiscard]] std::filesystem::path file() const {
    const auto plain = folder / (name + ".cubex");
    return std::filesystem::exists(plain) ? plain : folder / (name + ".cubex.gz");
  }
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const auto& parent : {data_folder(), data_folder() / "synthetic"}) {
    if (!std::filesystem::exists(parent)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(parent)) {
      if (std::filesystem::exists(entry.path() / "expected.json.gz")) {
        out.push_back({entry.path().filename().string(), entry.path()});
      }
    }
  }
  std::sort(out.begin(), out.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return out;
}

// A text file, unpacked when it is gzip; empty when it does not exist.
inline std::string read_text(const std::filesystem::path& path) {
  auto blob = open_file(path, make_work());
  return blob.ok() ? std::string(blob->text()) : std::string();
}

inline DatasetPtr open_or_fail(const std::filesystem::path& path, const Work& work = make_work()) {
  auto dataset = open_dataset(path, work);
  if (!dataset.ok()) {
    ADD_FAILURE() << path << ": " << dataset.error().text();
    return nullptr;
  }
  return std::move(dataset).value();
}

inline Selection everything(const Profile& profile, Flavour::Kind kind) {
  Selection selection;
  selection.flavour.kind = kind;
  selection.locations = all_locations(profile.defs());
  selection.void_values = true;
  return selection;
}

// A scratch file that goes away with the test.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              (std::to_string(::getpid()) + "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
               "_" + name)) {
    std::string text = path_.string();
    std::replace(text.begin() + 5, text.end(), '/', '_');
    path_ = text;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fathom::cube::testing
