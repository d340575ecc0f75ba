// State of the process and of each thread.
#pragma once

#include <ovni.h>

#include <atomic>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace fathom::ovni_runtime {

using Json = nlohmann::ordered_json;

// Ends the program with a message: what the interface promises for wrong use.
[[noreturn]] __attribute__((format(printf, 1, 2))) void die(const char* format, ...);
__attribute__((format(printf, 1, 2))) void warn(const char* format, ...);

enum class Stage : int { none, starting, ready, gone };

// The first version has one metadata file per process and streams without a header.
enum class Layout { v1, current };

struct Process {
  std::atomic<Stage> stage{Stage::none};
  Layout layout = Layout::current;
  int app = 0;
  int pid = 0;
  std::string loom;
  std::string folder;        // of the process, where its streams are written
  std::string final_folder;  // where they go when they are whole
  bool moves = false;
};
extern Process process;

inline constexpr std::size_t kBuffer = OVNI_MAX_EV_BUF;

struct Thread {
  unsigned char* buffer = nullptr;
  std::size_t used = 0;
  std::size_t limit = 0;  // of the buffer; 0 while the thread is not ready
  bool ready = false;
  bool finished = false;
  int descriptor = -1;
  pid_t tid = 0;
  struct Details* details = nullptr;  // what events do not need
};
extern thread_local Thread thread __attribute__((tls_model("initial-exec")));

struct Details {
  std::string folder;  // of the thread (current layout)
  std::string final_folder;
  std::string stream_name;  // in the folder
  Json metadata = Json::object();
  Json cpus = Json::array();
  int rank = -1;
  int ranks = 0;
  std::string returned;  // what ovni_attr_get_str() gave out
};

// The calling thread, which must be ready.
Details& details(const char* function);

struct Version {
  int major = 0, minor = 0, patch = 0;
};
bool parse_version(const char* text, Version& out);

// Files.
std::string join(const std::string& a, const std::string& b);
void make_folders(const std::string& path);
void write_text(const std::string& path, const std::string& text);
void move_file(const std::string& from, const std::string& to);
void write_bytes(int descriptor, const unsigned char* data, std::size_t size);

// Metadata of the thread, as it is now.
void store_metadata(Details& details);
// The first version: one file for the process, with what its threads said.
void store_process_metadata();
void keep_for_process(const Details& details);

// The buffer of the thread into its file.
void write_buffer();

}  // namespace fathom::ovni_runtime
