#include "cli/parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.hpp"

namespace fathom::cli {

namespace {

std::string shown_name(const OptionSpec& spec) {
  return spec.positional ? spec.names : std::string(split(spec.names, ',').back());
}

// Sets the target from a text, or says what was expected.
std::string assign(const OptionSpec& spec, const std::string& text) {
  if (!spec.choices.empty() && std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end()) {
    return fmt::format("{}: '{}' is none of {}{}", shown_name(spec), text, fmt::join(spec.choices, ", "),
                       did_you_mean(text, spec.choices));
  }
  const auto number = [&](auto& target, const auto& parsed, std::string_view expected) -> std::string {
    if (!parsed) return fmt::format("{}: expected {}, got '{}'", shown_name(spec), expected, text);
    target = *parsed;
    return {};
  };
  struct Visitor {
    const OptionSpec& spec;
    const std::string& text;
    const decltype(number)& set;
    std::string operator()(bool* target) const {
      *target = true;
      return {};
    }
    std::string operator()(std::string* target) const {
      *target = text;
      return {};
    }
    std::string operator()(std::optional<std::string>* target) const {
      *target = text;
      return {};
    }
    std::string operator()(std::vector<std::string>* target) const {
      target->push_back(text);
      return {};
    }
    std::string operator()(std::uint64_t* target) const {
      return set(*target, parse_integer<std::uint64_t>(text), "a number of 0 or more");
    }
    std::string operator()(std::optional<std::uint64_t>* target) const {
      if (spec.size) return set(*target, parse_size(text), "a size such as 512M or 4G");
      return set(*target, parse_integer<std::uint64_t>(text), "a number of 0 or more");
    }
    std::string operator()(double* target) const { return set(*target, real(), "a number"); }
    std::string operator()(std::optional<double>* target) const { return set(*target, real(), "a number"); }
    // Percentages may carry their sign.
    [[nodiscard]] std::optional<double> real() const {
      const std::string_view plain = text.ends_with('%') ? std::string_view(text).substr(0, text.size() - 1) : text;
      return parse_double(plain);
    }
  };
  return std::visit(Visitor{spec, text, number}, spec.target);
}

struct Problem {
  std::string text;
};

CLI::Option* declare(CLI::App& app, const std::string& names, const OptionSpec& spec, Problem& problem) {
  const auto take = [&spec, &problem](const std::string& text) {
    if (std::string trouble = assign(spec, text); !trouble.empty() && problem.text.empty()) {
      problem.text = std::move(trouble);
    }
  };
  if (std::holds_alternative<bool*>(spec.target)) {
    bool* target = std::get<bool*>(spec.target);
    return app.add_flag_callback(names, [target] { *target = true; });
  }
  if (std::holds_alternative<std::vector<std::string>*>(spec.target)) {
    auto* option = app.add_option_function<std::vector<std::string>>(
        names, [take](const std::vector<std::string>& texts) { std::for_each(texts.begin(), texts.end(), take); });
    if (!spec.positional) option->allow_extra_args(false);
    return option;
  }
  return app.add_option_function<std::string>(names, take)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

// A name that still works, and the one to use instead.
struct OldName {
  CLI::Option* option = nullptr;
  std::string hint;
};

void declare_old(CLI::App& app, const OptionSpec& spec, Problem& problem, std::vector<OldName>& old) {
  if (spec.old_names.empty()) return;
  for (const std::string_view name : split(spec.old_names, ',')) {
    old.push_back(
        {declare(app, std::string(name), spec, problem),
         fmt::format("{} is called {} now; the old name works for one more release", name, shown_name(spec))});
  }
}

std::vector<std::string> long_names(const Options& options) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : options.specs()) {
    if (spec.positional) continue;
    for (const std::string_view name : split(spec.names, ',')) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> old_names(const Options& options) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : options.specs()) {
    for (const std::string_view name : split(spec.old_names, ',')) names.emplace_back(name);
  }
  return names;
}

// A command may have an option of its own under a name that is known everywhere: then its own counts.
std::vector<OptionSpec> without_names_of(const Options& everywhere, const Options& command) {
  std::vector<std::string> own = long_names(command);
  for (std::string& name : old_names(command)) own.push_back(std::move(name));
  const auto others = [&own](const std::string& names) {
    std::string left;
    for (const std::string_view name : split(names, ',')) {
      if (std::find(own.begin(), own.end(), name) != own.end()) continue;
      left += (left.empty() ? "" : ",") + std::string(name);
    }
    return left;
  };
  std::vector<OptionSpec> out;
  for (OptionSpec spec : everywhere.specs()) {
    spec.names = others(spec.names);
    spec.old_names = others(spec.old_names);
    if (!spec.names.empty()) out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> parse_arguments(std::span<const std::string> arguments, const Options& command,
                                                 const Options& everywhere, const std::string& command_name) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Problem problem;
  std::vector<OldName> old;
  for (const OptionSpec& spec : command.specs()) {
    declare(app, spec.names, spec, problem);
    declare_old(app, spec, problem, old);
  }
  const std::vector<OptionSpec> others = without_names_of(everywhere, command);
  for (const OptionSpec& spec : others) {
    declare(app, spec.names, spec, problem);
    declare_old(app, spec, problem, old);
  }
  const std::string hint = fmt::format("'fathom {} --help' lists its options", command_name);
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return Error::usage(error.what()).hint(hint);
  }
  if (!problem.text.empty()) return Error::usage(problem.text).hint(hint);
  const std::vector<std::string> surplus = app.remaining();
  for (const std::string& argument : surplus) {
    if (!argument.starts_with('-') || argument == "--" || argument == "-") continue;
    std::vector<std::string> known = long_names(command);
    for (std::string& name : long_names(everywhere)) known.push_back(std::move(name));
    const std::string name = argument.substr(0, argument.find('='));
    return Error::usage(fmt::format("{} has no option '{}'{}", command_name, name, did_you_mean(name, known)))
        .hint(hint);
  }
  for (const std::string& argument : surplus) {
    if (argument != "--") return Error::usage(fmt::format("unexpected argument '{}'", argument)).hint(hint);
  }
  std::vector<std::string> hints;
  for (const OldName& name : old) {
    if (name.option->count() > 0) hints.push_back(name.hint);
  }
  return hints;
}

}  // namespace fathom::cli
