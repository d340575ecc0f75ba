// What was noticed while reading and did not stop it: collected here, shown after the load, part of --json.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"

namespace fathom {

enum class Severity : std::uint8_t { info, warning, data_loss };

std::string_view to_string(Severity severity);

struct Diagnostic {
  std::string id;  // stable, dotted: "cube.tar_checksum"
  Severity severity = Severity::warning;
  Place place;  // of the first occurrence
  std::uint64_t count = 1;
  std::string text;
};

// MT: every method is internally synchronised.
class Diagnostics {
 public:
  explicit Diagnostics(bool strict = false) : strict_(strict) {}

  // Notes something. The same id in the same file is counted, not listed again, and keeps its first text.
  // Under --strict a warning or worse is the error that ends the work: hence the result.
  Result<void> add(std::string_view id, Severity severity, Place place, std::string text, std::uint64_t count = 1);
  Result<void> warn(std::string_view id, Place place, std::string text) {
    return add(id, Severity::warning, std::move(place), std::move(text));
  }
  Result<void> lost(std::string_view id, Place place, std::string text) {
    return add(id, Severity::data_loss, std::move(place), std::move(text));
  }
  void info(std::string_view id, Place place, std::string text) {
    (void)add(id, Severity::info, std::move(place), std::move(text));
  }

  // `check` lists every defect with its own place instead of counting repetitions (up to a bound per id).
  void list_every_occurrence() { every_ = true; }

  [[nodiscard]] bool strict() const { return strict_; }
  [[nodiscard]] std::vector<Diagnostic> all() const;
  [[nodiscard]] std::size_t size() const;
  // True when something of severity warning or worse was noted.
  [[nodiscard]] bool defective() const;

 private:
  struct Listed {
    std::size_t last = 0;  // in the list
    std::size_t times = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Diagnostic> list_;
  std::unordered_map<std::string, Listed> listed_;  // by id and file
  bool strict_;
  bool every_ = false;
};

// For people: what was noticed in many files alike becomes one entry that says in how many.
std::vector<Diagnostic> summarised(std::vector<Diagnostic> list);

}  // namespace fathom
