// What a command takes: declared as data, parsed by parser.cpp, shown by help.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fathom::cli {

// The variable an option fills; its type says how the text is read. Repeated values need a vector.
using Target = std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*, std::uint64_t*,
                            std::optional<std::uint64_t>*, double*, std::optional<double>*>;

struct OptionSpec {
  std::string names;        // "-n,--number"; of a positional its name, "PATH"
  std::string placeholder;  // "N"; empty for flags
  std::string help;
  Target target;
  std::vector<std::string> choices = {};  // allowed texts; empty = any
  bool positional = false;
  bool required = false;
  bool size = false;           // bytes: "64K", "1.5G"
  std::string old_names = {};  // still taken, with a hint
};

struct Example {
  std::string command;
  std::string meaning;
};

// Variables that are bound must outlive the parsing.
class Options {
 public:
  Options& flag(std::string names, bool& target, std::string help);
  // One value; the last one given wins.
  Options& value(std::string names, std::string placeholder, Target target, std::string help);
  // Given any number of times: --metric a --metric b.
  Options& values(std::string names, std::string placeholder, std::vector<std::string>& target, std::string help);
  Options& choice(std::string names, std::string& target, std::vector<std::string> choices, std::string help);
  // A number of bytes.
  Options& size(std::string names, std::string placeholder, std::optional<std::uint64_t>& target, std::string help);
  Options& positional(std::string name, std::string& target, std::string help, bool required = true);
  Options& positionals(std::string name, std::vector<std::string>& target, std::string help, bool required = true);
  // Earlier spellings of the option declared last, as "-r": they work, are in no help, and give a hint.
  Options& was(std::string old_names);
  // Shown at the end of --help.
  Options& example(std::string command, std::string meaning);
  // A paragraph of --help, between the summary and the options.
  Options& about(std::string text);

  [[nodiscard]] const std::vector<OptionSpec>& specs() const { return specs_; }
  [[nodiscard]] const std::vector<Example>& examples() const { return examples_; }
  [[nodiscard]] const std::vector<std::string>& paragraphs() const { return paragraphs_; }

 private:
  std::vector<OptionSpec> specs_;
  std::vector<Example> examples_;
  std::vector<std::string> paragraphs_;
};

}  // namespace fathom::cli
