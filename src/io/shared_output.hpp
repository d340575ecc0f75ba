// Files that several processes write together: the first makes the place, all write into it, and everything appears
// when all are done.
#pragma once

#include <functional>
#include <optional>

#include "io/output_set.hpp"

namespace fathom {

class SharedOutput {
 public:
  // `make` is called in the first process. Everybody of the team must come here.
  static Result<SharedOutput> make(const std::function<Result<OutputSet>()>& make);

  // Where every process writes files of its own.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Waits for all; then only the first process goes on, which has the set to commit.
  Result<void> all_written();
  [[nodiscard]] OutputSet& set() { return *set_; }

 private:
  std::optional<OutputSet> set_;  // at the first
  std::filesystem::path path_;
};

}  // namespace fathom
