#include "dumpi/settings.hpp"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fathom::capture {

namespace {

// "key value", "key=value" or "key = value"; both are cut out of the line.
bool split_line(char* line, char*& key, char*& value) {
  if (char* comment = std::strchr(line, '#')) *comment = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (blank(*line)) ++line;
  key = line;
  while (*line != 0 && !blank(*line) && *line != '=') ++line;
  if (line == key) return false;
  char* const key_end = line;
  while (blank(*line) || *line == '=') ++line;
  value = line;
  char* end = line + std::strlen(line);
  while (end > value && blank(end[-1])) --end;
  *end = 0;
  *key_end = 0;
  return true;
}

bool parse_setting(const char* text, Setting& out) {
  if (strcasecmp(text, "enable") == 0) {
    out = kEnable;
  } else if (strcasecmp(text, "disable") == 0) {
    out = kDisable;
  } else if (strcasecmp(text, "success") == 0) {
    out = kSuccess;
  } else {
    return false;
  }
  return true;
}

int function_named(const char* name) {
  for (std::size_t i = 0; i < kFunctions; ++i) {
    if (std::strcmp(kFunctionNames[i], name) == 0) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Settings::Settings() {
  for (Setting& setting : function) setting = kEnable;
}

void Settings::read(bool speak) {
  const char* path = std::getenv("DUMPI_CONF");
  read_file(path != nullptr ? path : "dumpi.conf", speak && path != nullptr);
  if (const char* text = std::getenv("DUMPI_MEMBUF_SIZE")) {
    const long long bytes = std::atoll(text);
    if (bytes > 0) buffer_bytes = bytes < 4096 ? 4096 : static_cast<std::size_t>(bytes);
  }
  if (const char* text = std::getenv("FATHOM_FLUSH_SECONDS")) flush_seconds = static_cast<unsigned>(std::atoi(text));
  if (const char* text = std::getenv("FATHOM_ADDED_CALLS")) added_calls = std::strcmp(text, "1") == 0;
  if (const char* text = std::getenv("FATHOM_SIGNALS")) handle_signals = std::strcmp(text, "0") != 0;
}

void Settings::read_file(const char* path, bool speak) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) {
    if (speak) std::fprintf(stderr, "fathom record: %s: %s; the defaults are used\n", path, std::strerror(errno));
    return;
  }
  // The first setting of a key wins, and one of a function wins over that for all.
  bool has_root = root_is_set, has_times = false, has_statuses = false, has_tracing = false, has_default = false;
  bool has_function[kFunctions] = {};
  Setting all = kEnable;
  char line[kTextLength];
  int number = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    ++number;
    char* key = nullptr;
    char* value = nullptr;
    if (!split_line(line, key, value)) continue;
    bool good = true;
    if (strcasecmp(key, "fileroot") == 0) {
      if (!has_root) std::snprintf(root, sizeof root, "%s", value);
      has_root = true;
      good = *value != 0;
    } else if (strcasecmp(key, "timestamp") == 0) {
      const bool full = strcasecmp(value, "full") == 0;
      const bool cpu = full || strcasecmp(value, "cpu") == 0;
      const bool wall = full || strcasecmp(value, "wall") == 0;
      good = cpu || wall || strcasecmp(value, "none") == 0;
      if (good && !has_times) {
        cpu_time = cpu;
        wall_time = wall;
        has_times = true;
      }
    } else if (strcasecmp(key, "statuses") == 0) {
      Setting setting = kEnable;
      good = parse_setting(value, setting);
      if (good && !has_statuses) {
        statuses = setting;
        has_statuses = true;
      }
    } else if (strcasecmp(key, "MPI_Default") == 0) {
      Setting setting = kEnable;
      good = parse_setting(value, setting);
      if (good && !has_default) {
        all = setting;
        has_default = true;
      }
    } else if (strncasecmp(key, "PAPI", 4) == 0) {
      const char* name = *value != 0 ? value : key;
      good = counters < kMaxCounters && std::strlen(name) < sizeof counter[0];
      if (good) std::memcpy(counter[counters++], name, std::strlen(name));
    } else if (strcasecmp(key, "tracing") == 0) {
      const bool both = strcasecmp(value, "enable") == 0;
      const bool enter = both || strcasecmp(value, "enter") == 0;
      const bool leave = both || strcasecmp(value, "exit") == 0;
      good = enter || leave || strcasecmp(value, "disable") == 0;
      if (good && !has_tracing) {
        trace_enter = enter;
        trace_exit = leave;
        has_tracing = true;
      }
    } else if (strcasecmp(key, "debug") == 0) {
      messages = strcasecmp(value, "none") != 0 && strcasecmp(value, "off") != 0;
    } else if (const int id = function_named(key); id >= 0) {
      Setting setting = kEnable;
      good = parse_setting(value, setting);
      if (good && !has_function[id]) {
        function[id] = setting;
        has_function[id] = true;
      }
    } else if (speak) {
      std::fprintf(stderr, "fathom record: %s:%d: unknown key '%s'\n", path, number, key);
    }
    // A measurement is no reason to end the program.
    if (!good && speak) {
      std::fprintf(stderr, "fathom record: %s:%d: '%s' is no value of %s; the line is ignored\n", path, number, value,
                   key);
    }
  }
  std::fclose(file);
  if (has_default) {
    for (std::size_t i = 0; i < kFunctions; ++i) {
      if (!has_function[i]) function[i] = all;
    }
  }
}

}  // namespace fathom::capture
