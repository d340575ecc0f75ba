// A prompt with editing, history and completion, where the library for it was there at build time; plain lines
// otherwise.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

// One at a time: the library behind it keeps its state in variables of its own.
class LineEditor {
 public:
  // `words`: what Tab completes. History comes from this file and goes back there; empty = it is not kept.
  LineEditor(std::vector<std::string> words, std::filesystem::path history);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line without its end; nothing when there are no more.
  std::optional<std::string> read(const std::string& prompt);
  // For the next time that the arrow keys are used.
  void remember(const std::string& text);

 private:
  std::filesystem::path history_;
};

// Words of `words` that a beginning may become. "v.na" also becomes "v.name": what stands behind a dot is a column of
// whatever stands before it.
std::vector<std::string> completions(const std::vector<std::string>& words, const std::string& beginning);

// Where histories are kept: $XDG_STATE_HOME/fathom/NAME or ~/.local/state/fathom/NAME; empty without a home.
std::filesystem::path history_path(const std::string& name);

}  // namespace fathom::cli
