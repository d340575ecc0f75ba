#include "cli/line_editor.hpp"

#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#ifdef FATHOM_HAS_EDIT
#include <editline/readline.h>
#endif

namespace fathom::cli {

namespace fs = std::filesystem;

std::vector<std::string> completions(const std::vector<std::string>& words, const std::string& beginning) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& kept, const std::string& part) {
    for (const std::string& word : words) {
      if (word.size() >= part.size() && strncasecmp(word.c_str(), part.c_str(), part.size()) == 0)
        found.push_back(kept + word);
    }
  };
  add("", beginning);
  const auto dot = beginning.rfind('.');
  if (found.empty() && dot != std::string::npos && dot > 0)
    add(beginning.substr(0, dot + 1), beginning.substr(dot + 1));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

fs::path history_path(const std::string& name) {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "fathom" / name;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == 0) return {};
  return fs::path(home) / ".local" / "state" / "fathom" / name;
}

#ifdef FATHOM_HAS_EDIT

namespace {

constexpr int kKept = 1000;  // lines of history

std::vector<std::string>& all_words() {
  static std::vector<std::string> words;
  return words;
}

char* next_match(const char* text, int state) {
  static std::vector<std::string> found;
  static std::size_t at = 0;
  if (state == 0) {
    found = completions(all_words(), text);
    at = 0;
  }
  return at < found.size() ? strdup(found[at++].c_str()) : nullptr;
}

char** match_words(const char* text, int, int) {
  rl_attempted_completion_over = 1;  // no names of files
  return rl_completion_matches(text, next_match);
}

}  // namespace

LineEditor::LineEditor(std::vector<std::string> words, fs::path history) : history_(std::move(history)) {
  all_words() = std::move(words);
  static char name[] = "fathom";
  rl_readline_name = name;
  rl_initialize();
  rl_attempted_completion_function = match_words;
  using_history();
  stifle_history(kKept);
  if (!history_.empty()) read_history(history_.c_str());
}

LineEditor::~LineEditor() {
  all_words().clear();
  if (history_.empty()) return;
  std::error_code status;
  fs::create_directories(history_.parent_path(), status);
  // Queries are nobody else's business.
  const mode_t before = umask(077);
  if (!status) write_history(history_.c_str());
  umask(before);
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  char* line = readline(prompt.c_str());
  if (line == nullptr) return std::nullopt;
  std::string out(line);
  std::free(line);
  return out;
}

void LineEditor::remember(const std::string& text) { add_history(text.c_str()); }

#else

LineEditor::LineEditor(std::vector<std::string>, fs::path) {}
LineEditor::~LineEditor() = default;
void LineEditor::remember(const std::string&) {}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  std::fputs(prompt.c_str(), stdout);
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

#endif

}  // namespace fathom::cli
