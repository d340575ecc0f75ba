#include "cli/help.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/commands.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 96;
constexpr std::size_t kNameColumn = 11;

// Breaks at blanks; lines after the first start at `indent`.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent) {
  std::string out;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = display_width(word);
    if (column + width > kHelpWidth && column > indent) {
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
  return line + wrapped(spec.help, kHelpColumn, kHelpColumn) + '\n';
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
  return fmt::format("  {}  {}\n", terminal.paint(fmt::format("{:<9}", entry.name), Style::cyan), entry.summary);
}

}  // namespace

std::string overview(const Terminal& terminal) {
  std::string out =
      "Fathom reads HPC performance data of many formats, shows where the time goes, what changed and how it\n"
      "scales, and hands it on to other tools.\n\n";
  out += terminal.paint("Usage:", Style::bold) + " fathom COMMAND PATH… [options]\n";
  out += "       fathom PATH              what it is, and what to try next\n\n";
  out += terminal.paint("Start with", Style::bold) + '\n';
  for (const std::string_view name : first_commands()) out += command_line(*find_command(name), terminal);
  out += '\n' + terminal.paint("All commands", Style::bold) + " ('fathom help TOPIC' explains those of a line)\n";
  for (const CommandGroup& group : command_groups()) {
    std::string names;
    for (const CommandEntry& entry : group.commands) names += (names.empty() ? "" : ", ") + std::string(entry.name);
    out += fmt::format("  {}  {}\n", terminal.paint(fmt::format("{:<9}", group.topic), Style::cyan),
                       wrapped(names, kMargin + kNameColumn, kMargin + kNameColumn));
  }
  out +=
      "\nPATH is a file or a directory of any format ('fathom formats'); --json and --csv are for programs.\n"
      "'fathom COMMAND --help' explains a command, with examples; 'fathom help commands' lists all.\n";
  return out;
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
  std::string out = fmt::format("fathom {}: {}\n\n", entry.name, entry.summary);
  out += terminal.paint("Usage:", Style::bold) + ' ' + usage_line(entry.name, command) + '\n';
  for (const std::string& paragraph : command.paragraphs()) out += '\n' + wrapped(paragraph, 0, 0) + '\n';
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
    out += fmt::format("  {}\n      {}\n", example.command, wrapped(example.meaning, 6, 6));
  }
  return out;
}

}  // namespace fathom::cli
