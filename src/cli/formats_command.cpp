// fathom formats: what is read and written, from the registry.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic_ids.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "formats/conversions.hpp"
#include "formats/registry.hpp"
#include "report/csv.hpp"
#include "report/table_output.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

std::string joined(const std::vector<Level>& levels, std::string_view none) {
  std::string out;
  for (const Level level : levels) {
    if (!out.empty()) out += ", ";
    out += to_string(level);
  }
  return out.empty() ? std::string(none) : out;
}

template <class Visit>
void for_each_option(const Format& format, const Visit& visit) {
  for (const OptionDeclaration* option : format.options.reading) visit("reading", *option);
  for (const OptionDeclaration* option : format.options.writing) visit("writing", *option);
  for (const OptionDeclaration* option : format.options.statistics) visit("statistics", *option);
}

class FormatsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("FORMAT", name_, "only this one", false)
        .flag("--events", events_, "every kind of record that FORMAT knows (ovni)")
        .flag("--diagnostics", diagnostics_, "every id of what may be noticed about data, and what it means")
        .flag("--matrix", matrix_, "what converts to what, and what is lost on the way")
        .flag("--markdown", markdown_, "as the table of the documentation")
        .example("fathom formats", "everything that Fathom reads or writes")
        .example("fathom formats --json", "the same for scripts")
        .example("fathom formats dumpi", "one format, and what can be asked of it")
        .example("fathom formats --matrix --csv", "every conversion: from, to, level, state, loses")
        .example("fathom formats ovni --events", "the events of all ovni models");
  }

  Result<int> run(Session& session) override {
    if (events_) return list_events(session);
    if (matrix_) return list_conversions(session);
    if (diagnostics_ && (session.json() || session.csv())) return Error::usage("--diagnostics is a text");
    if (diagnostics_) return list_diagnostics(session);
    if (!name_.empty()) {
      FATHOM_TRY(const Format* format, find_format(name_));
      formats_ = {format};
    } else {
      formats_.assign(all_formats().begin(), all_formats().end());
    }
    if (session.json()) {
      write_json(session);
    } else if (session.csv()) {
      write_csv(session);
    } else if (markdown_) {
      write_markdown(session);
    } else {
      write_text(session);
    }
    return kDone;
  }

 private:
  void write_json(Session& session) const {
    JsonWriter json(session.out());
    const auto levels = [&](std::string_view key, const std::vector<Level>& list) {
      json.key(key).begin_array();
      for (const Level level : list) json.value(to_string(level));
      json.end_array();
    };
    json.begin_array();
    for (const Format* format : formats_) {
      json.begin_object().member("name", format->name).member("title", format->title);
      json.key("extensions").begin_array();
      for (const std::string_view extension : split(format->extensions, ' ')) {
        if (!extension.empty()) json.value(extension);
      }
      json.end_array();
      levels("reads", format->can.reads);
      levels("writes", format->can.writes);
      json.key("options").begin_array();
      for_each_option(*format, [&](std::string_view use, const OptionDeclaration& option) {
        json.begin_object().member("name", option.name).member("use", use).member("type", to_string(option.type));
        json.key("choices").begin_array();
        for (const std::string_view choice : split(option.choices, ' ')) {
          if (!choice.empty()) json.value(choice);
        }
        json.end_array().member("help", option.help).end_object();
      });
      json.end_array();
      json.end_object();
    }
    json.end_array();
  }

  void write_csv(Session& session) const {
    CsvWriter csv(session.out());
    csv.header({"name", "title", "extensions", "reads", "writes"});
    for (const Format* format : formats_) {
      csv.field(format->name);
      csv.field(format->title);
      csv.field(format->extensions);
      csv.field(joined(format->can.reads, ""));
      csv.field(joined(format->can.writes, ""));
      csv.end_row();
    }
  }

  void write_markdown(Session& session) const {
    session.out().write("| format | what it is | endings | reads | writes |\n|---|---|---|---|---|\n");
    for (const Format* format : formats_) {
      session.out().write(fmt::format("| `{}` | {} | {} | {} | {} |\n", format->name, format->title, format->extensions,
                                      joined(format->can.reads, ""), joined(format->can.writes, "")));
    }
  }

  void write_text(Session& session) const {
    TextTable table;
    table.column("FORMAT").column("WHAT IT IS", Align::left, true).column("ENDINGS").column("READS").column("WRITES");
    for (const Format* format : formats_) {
      table.row({{std::string(format->name), Style::cyan},
                 std::string(format->title),
                 std::string(format->extensions),
                 {joined(format->can.reads, "-"), format->can.reads.empty() ? Style::dim : Style::green},
                 {joined(format->can.writes, "-"), format->can.writes.empty() ? Style::dim : Style::green}});
    }
    session.out().write(table.text(session.terminal()));
    if (name_.empty()) return;
    write_options(session, *formats_.front());
    write_commands(session, *formats_.front());
  }

  static void write_options(Session& session, const Format& format) {
    TextTable table;
    table.column("OPTION").column("FOR").column("WHAT IT DOES", Align::left, true);
    bool any = false;
    for_each_option(format, [&](std::string_view use, const OptionDeclaration& option) {
      any = true;
      std::string name(option.name);
      const std::string value(option.choices.empty() ? option.placeholder : option.choices);
      if (option.type != OptionType::flag) {
        name += '=' + value;
        std::replace(name.begin(), name.end(), ' ', '|');
      }
      table.row({{name, Style::cyan}, std::string(use), std::string(option.help)});
    });
    if (!any) return;
    session.out().write("\n" + table.text(session.terminal()));
    session.out().write(
        "\nOptions of reading are --NAME on commands that read experiments; those of writing and of statistics are\n"
        "--option NAME=VALUE of convert and stats. Programs hand over all of them by name.\n");
  }

  // What only this format has; all other commands work on any.
  static void write_commands(Session& session, const Format& format) {
    TextTable table;
    table.column("COMMAND OF ITS OWN").column("WHAT IT DOES", Align::left, true);
    bool any = false;
    for (const CommandGroup& group : command_groups()) {
      for (const CommandEntry& entry : group.commands) {
        if (entry.format != format.name) continue;
        any = true;
        table.row({{std::string(entry.name), Style::cyan}, std::string(entry.summary)});
      }
    }
    if (any) session.out().write("\n" + table.text(session.terminal()));
  }

  static Result<int> list_diagnostics(Session& session) {
    for (const DiagnosticId& one : all_diagnostic_ids()) {
      session.out().write(fmt::format("{:<32}  {}\n", one.id, one.meaning));
    }
    return kDone;
  }

  Result<int> list_conversions(Session& session) const {
    if (!name_.empty()) {
      if (auto known = find_format(name_); !known.ok()) return std::move(known).error();
    }
    TableBuilder table({"conversion",
                        {{"from", ColumnType::text},
                         {"to", ColumnType::text},
                         {"level", ColumnType::text},
                         {"state", ColumnType::text},
                         {"loses", ColumnType::text}}});
    for (const Conversion& one : all_conversions()) {
      if (!name_.empty() && one.from->name != name_ && one.to->name != name_) continue;
      table.row(one.from->name, one.to->name, to_string(one.level), one.state, std::string_view(one.loses));
    }
    const Table rows = std::move(table).finish();
    if (markdown_) {
      fathom::write_markdown(session.out(), rows);
      return kDone;
    }
    FATHOM_CHECK(session.show_rows(*source_of(rows), {}, {{{"from"}, {"to"}, {"level"}, {"state"}, {"loses"}}}));
    return kDone;
  }

  Result<int> list_events(Session& session) const {
    if (name_.empty()) return Error::usage("--events needs a format").hint("fathom formats ovni --events");
    FATHOM_TRY(const Format* format, find_format(name_));
    if (format->catalogue == nullptr) return Error::usage(fmt::format("{} has no list of events", name_));
    const std::vector<CatalogueEntry> entries = format->catalogue();
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_array();
      for (const CatalogueEntry& entry : entries) {
        json.begin_object().member("code", std::string_view(entry.code)).member("group", std::string_view(entry.group));
        json.member("arguments", std::string_view(entry.arguments));
        json.member("meaning", std::string_view(entry.meaning));
        json.member("effect", std::string_view(entry.effect)).end_object();
      }
      json.end_array();
    } else if (session.csv()) {
      CsvWriter csv(session.out());
      csv.header({"code", "group", "arguments", "meaning", "effect"});
      for (const CatalogueEntry& entry : entries) {
        for (const std::string* field : {&entry.code, &entry.group, &entry.arguments, &entry.meaning, &entry.effect}) {
          csv.field(std::string_view(*field));
        }
        csv.end_row();
      }
    } else if (markdown_) {
      session.out().write("| event | model | arguments | meaning | effect |\n|---|---|---|---|---|\n");
      for (const CatalogueEntry& entry : entries) {
        session.out().write(fmt::format("| `{}` | {} | {} | {} | {} |\n", entry.code, entry.group, entry.arguments,
                                        entry.meaning, entry.effect));
      }
    } else {
      TextTable table;
      table.column("EVENT").column("MODEL").column("ARGUMENTS").column("MEANING", Align::left, true);
      table.column("EFFECT", Align::left, true);
      for (const CatalogueEntry& entry : entries) {
        table.row({{entry.code, Style::cyan}, entry.group, entry.arguments, entry.meaning, {entry.effect, Style::dim}});
      }
      session.out().write(table.text(session.terminal()));
    }
    return kDone;
  }

  bool markdown_ = false;
  bool events_ = false;
  bool matrix_ = false;
  bool diagnostics_ = false;
  std::string name_;
  std::vector<const Format*> formats_;
};

}  // namespace

std::unique_ptr<Command> make_formats_command() { return std::make_unique<FormatsCommand>(); }

}  // namespace fathom::cli
