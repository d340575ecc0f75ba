// One command of the program. README.md says how to add one.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "cli/options.hpp"

namespace fathom::cli {

class Session;

// Exit statuses that a command gives itself; errors have theirs (session.hpp).
inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;  // the data were judged and refused

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  // Binds the command's options to its members.
  virtual void declare(Options& options) = 0;
  virtual Result<int> run(Session& session) = 0;
};

// Which machine forms a command has: asking for another is a usage error.
enum class Forms : std::uint8_t { text, json, csv, json_and_csv };

struct CommandEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `fathom --help`
  Forms forms = Forms::text;
  std::unique_ptr<Command> (*make)() = nullptr;
  std::string_view format = {};  // the one whose own command it is; "" = of any format
};

}  // namespace fathom::cli
