// A directory in memory for one input, emptied after it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fathom {

class Scratch {
 public:
  Scratch() : path_(root()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    std::filesystem::create_directories(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void put(const std::string& name, const std::string& bytes) const {
    std::error_code ignored;
    std::filesystem::create_directories((path_ / name).parent_path(), ignored);
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  static std::filesystem::path root() {
    const char* const memory = "/dev/shm";
    return std::filesystem::path(std::filesystem::is_directory(memory) ? memory : "/tmp") /
           ("fathom-fuzz-" + std::to_string(getpid()));
  }
  std::filesystem::path path_;
};

}  // namespace fathom
