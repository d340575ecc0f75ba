// A directory in memory for the inputs of a process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace fathom {

// Of quick runs: without the system (quick/memory_files.hpp).
__attribute__((weak)) void hold_in_memory(const std::string& root,
                                          const std::map<std::string, std::string_view>& files);

// Between inputs it keeps its files: an input mostly differs from the one before in one file, and making all of them
// again takes longer than reading them.
class Scratch {
 public:
  Scratch() {
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

  // These files (names below path() and bytes) and no others.
  void hold(const std::map<std::string, std::string_view>& files) {
    if (hold_in_memory != nullptr) return hold_in_memory(path_.native(), files);
    for (auto held = held_.begin(); held != held_.end();) {
      if (files.contains(held->first)) {
        ++held;
      } else {
        remove(held->first);
        held = held_.erase(held);
      }
    }
    for (const auto& [name, bytes] : files) {
      const auto held = held_.find(name);
      if (held != held_.end() && held->second == bytes) continue;
      if (write(name, bytes)) held_[name] = bytes;
    }
  }

 private:
  // A file whose name is a directory's is left out.
  [[nodiscard]] bool write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path target = path_ / name;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    int file = open(target.c_str(), kFlags, 0600);
    if (file < 0) {
      std::error_code ignored;
      std::filesystem::create_directories(target.parent_path(), ignored);
      file = open(target.c_str(), kFlags, 0600);
    }
    if (file < 0) return false;
    const bool whole = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    close(file);
    return whole;
  }
  // With the directories that are empty without it.
  void remove(const std::string& name) const {
    std::filesystem::path at = path_ / name;
    unlink(at.c_str());
    while ((at = at.parent_path()) != path_ && rmdir(at.c_str()) == 0) {
    }
  }
  static std::filesystem::path root() {
    const char* const memory = "/dev/shm";
    return std::filesystem::path(std::filesystem::is_directory(memory) ? memory : "/tmp") /
           ("fathom-fuzz-" + std::to_string(getpid()));
  }
  std::filesystem::path path_ = root();
  std::map<std::string, std::string> held_;
};

}  // namespace fathom
