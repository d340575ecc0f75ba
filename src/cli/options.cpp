#include "cli/options.hpp"

namespace fathom::cli {

Options& Options::flag(std::string names, bool& target, std::string help) {
  specs_.push_back({.names = std::move(names), .placeholder = {}, .help = std::move(help), .target = &target});
  return *this;
}

Options& Options::value(std::string names, std::string placeholder, Target target, std::string help) {
  specs_.push_back(
      {.names = std::move(names), .placeholder = std::move(placeholder), .help = std::move(help), .target = target});
  return *this;
}

Options& Options::values(std::string names, std::string placeholder, std::vector<std::string>& target,
                         std::string help) {
  return value(std::move(names), std::move(placeholder), &target, std::move(help));
}

Options& Options::choice(std::string names, std::string& target, std::vector<std::string> choices, std::string help) {
  std::string placeholder;
  for (const std::string& choice : choices) placeholder += (placeholder.empty() ? "" : "|") + choice;
  value(std::move(names), std::move(placeholder), &target, std::move(help));
  specs_.back().choices = std::move(choices);
  return *this;
}

Options& Options::size(std::string names, std::string placeholder, std::optional<std::uint64_t>& target,
                       std::string help) {
  value(std::move(names), std::move(placeholder), &target, std::move(help));
  specs_.back().size = true;
  return *this;
}

Options& Options::positional(std::string name, std::string& target, std::string help, bool required) {
  value(std::move(name), {}, &target, std::move(help));
  specs_.back().positional = true;
  specs_.back().required = required;
  return *this;
}

Options& Options::positionals(std::string name, std::vector<std::string>& target, std::string help, bool required) {
  value(std::move(name), {}, &target, std::move(help));
  specs_.back().positional = true;
  specs_.back().required = required;
  return *this;
}

Options& Options::was(std::string old_names) {
  specs_.back().old_names = std::move(old_names);
  return *this;
}

Options& Options::example(std::string command, std::string meaning) {
  examples_.push_back({std::move(command), std::move(meaning)});
  return *this;
}

Options& Options::about(std::string text) {
  paragraphs_.push_back(std::move(text));
  return *this;
}

}  // namespace fathom::cli
