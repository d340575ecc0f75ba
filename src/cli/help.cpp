#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 96;  // lines that are longer are tiring to read
constexpr std::size_t kNameColumn = 11;

std::size_t width_of(const Terminal& terminal) {
  return terminal.width == Terminal::kUnlimited ? kHelpWidth : std::min(terminal.width, kHelpWidth);
}

// Breaks at blanks; lines after the first start at `indent`.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, const Terminal& terminal) {
  const std::size_t most = width_of(terminal);
  std::string out;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = display_width(word);
    if (column + (out.empty() ? 0 : 1) + width > most && column > indent) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  return out;
}

std::string option_line(const OptionSpec& spec, const Terminal& terminal) {
  std::string left;
  for (const std::string_view name : split(spec.names, ',')) left += (left.empty() ? "" : ", ") + std::string(name);
  const std::string names = left;
  if (!spec.placeholder.empty()) left += ' ' + spec.placeholder;
  std::string line = std::string(kMargin, ' ') + terminal.paint(names, Style::bold) + left.substr(names.size());
  const std::size_t used = kMargin + display_width(left);
  line += used + 2 <= kHelpColumn ? std::string(kHelpColumn - used, ' ') : '\n' + std::string(kHelpColumn, ' ');
  return line + wrapped(spec.help, kHelpColumn, kHelpColumn, terminal) + '\n';
}

std::string usage_line(std::string_view name, const Options& options) {
  std::string out = fmt::format("fathom {}", name);
  for (const OptionSpec& spec : options.specs()) {
    if (!spec.positional) continue;
    std::string shown = spec.names;
    if (std::holds_alternative<std::vector<std::string>*>(spec.target)) shown += "…";
    out += spec.required ? ' ' + shown : " [" + shown + ']';
  }
  return out + " [options]";
}

std::string command_line(const CommandEntry& entry, const Terminal& terminal) {
  const std::string name = fmt::format("{:<9}", entry.name);
  const std::size_t column = kMargin + name.size() + 2;
  return fmt::format("  {}  {}\n", terminal.paint(name, Style::cyan),
                     wrapped(entry.summary, column, kMargin + kNameColumn, terminal));
}

}  // namespace

std::string overview(const Terminal& terminal) {
  std::string out = wrapped(
      "Fathom reads HPC performance data of many formats, shows where the time goes, what changed and how it scales, "
      "and "
      "hands it on to other tools.",
      0, 0, terminal);
  out += "\n\n";
  out += terminal.paint("Usage:", Style::bold) + " fathom COMMAND PATH… [options]\n";
  out += "       fathom PATH              what it is, and what to try next\n\n";
  out += terminal.paint("Start with", Style::bold) + '\n';
  for (const std::string_view name : first_commands()) out += command_line(*find_command(name), terminal);
  out += '\n' + terminal.paint("All commands", Style::bold) + " ('fathom help TOPIC' explains those of a line)\n";
  for (const CommandGroup& group : command_groups()) {
    std::string names;
    for (const CommandEntry& entry : group.commands) names += (names.empty() ? "" : ", ") + std::string(entry.name);
    out += fmt::format("  {}  {}\n", terminal.paint(fmt::format("{:<9}", group.topic), Style::cyan),
                       wrapped(names, kMargin + kNameColumn, kMargin + kNameColumn, terminal));
  }
  out +=
      '\n' + wrapped(
                 "PATH is a file or a directory of any format ('fathom formats'); --json and --csv are for programs. "
                 "'fathom COMMAND --help' explains a command, with examples; 'fathom help commands' lists all.",
                 0, 0, terminal);
  return out + '\n';
}

std::string topic(std::string_view name, const Terminal& terminal) {
  std::string out;
  for (const CommandGroup& group : command_groups()) {
    if (name != group.topic && name != "commands") continue;
    if (group.topic == "convert" && name == "convert") return {};  // the command of that name says more
    out += (out.empty() ? "" : "\n") + terminal.paint(group.title, Style::bold) + '\n';
    for (const CommandEntry& entry : group.commands) out += command_line(entry, terminal);
  }
  if (!out.empty()) out += "\n'fathom COMMAND --help' explains a command, with examples.\n";
  return out;
}

std::string command_help(const CommandEntry& entry, const Options& command, const Options& everywhere,
                         const Terminal& terminal) {
  std::string out = wrapped(fmt::format("fathom {}: {}", entry.name, entry.summary), 0, 2, terminal) + "\n\n";
  out += terminal.paint("Usage:", Style::bold) + ' ' + usage_line(entry.name, command) + '\n';
  for (const std::string& paragraph : command.paragraphs()) out += '\n' + wrapped(paragraph, 0, 0, terminal) + '\n';
  const auto section = [&](std::string_view title, const Options& options, bool positional) {
    std::string lines;
    for (const OptionSpec& spec : options.specs()) {
      const bool form = &options == &everywhere &&
                        ((spec.names == "--json" && (entry.forms == Forms::text || entry.forms == Forms::csv)) ||
                         (spec.names == "--csv" && (entry.forms == Forms::text || entry.forms == Forms::json)));
      if (spec.positional == positional && !form) lines += option_line(spec, terminal);
    }
    if (!lines.empty()) out += '\n' + terminal.paint(title, Style::bold) + '\n' + lines;
  };
  section("Arguments", command, true);
  section("Options", command, false);
  section("Everywhere", everywhere, false);
  if (!command.examples().empty()) out += '\n' + terminal.paint("Examples", Style::bold) + '\n';
  for (const Example& example : command.examples()) {
    out += fmt::format("  {}\n      {}\n", example.command, wrapped(example.meaning, 6, 6, terminal));
  }
  return out;
}

}  // namespace fathom::cli
