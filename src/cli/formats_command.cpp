// fathom formats: what is read and written, from the registry.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "formats/registry.hpp"
#include "report/csv.hpp"
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

class FormatsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--markdown", markdown_, "as the table of the documentation")
        .example("fathom formats", "everything that Fathom reads or writes")
        .example("fathom formats --json", "the same for scripts");
  }

  Result<int> run(Session& session) override {
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
  static void write_json(Session& session) {
    JsonWriter json(session.out());
    const auto levels = [&](std::string_view key, const std::vector<Level>& list) {
      json.key(key).begin_array();
      for (const Level level : list) json.value(to_string(level));
      json.end_array();
    };
    json.begin_array();
    for (const Format* format : all_formats()) {
      json.begin_object().member("name", format->name).member("title", format->title);
      json.key("extensions").begin_array();
      for (const std::string_view extension : split(format->extensions, ' ')) {
        if (!extension.empty()) json.value(extension);
      }
      json.end_array();
      levels("reads", format->can.reads);
      levels("writes", format->can.writes);
      json.end_object();
    }
    json.end_array();
  }

  static void write_csv(Session& session) {
    CsvWriter csv(session.out());
    csv.header({"name", "title", "extensions", "reads", "writes"});
    for (const Format* format : all_formats()) {
      csv.field(format->name);
      csv.field(format->title);
      csv.field(format->extensions);
      csv.field(joined(format->can.reads, ""));
      csv.field(joined(format->can.writes, ""));
      csv.end_row();
    }
  }

  static void write_markdown(Session& session) {
    session.out().write("| format | what it is | endings | reads | writes |\n|---|---|---|---|---|\n");
    for (const Format* format : all_formats()) {
      session.out().write(fmt::format("| `{}` | {} | {} | {} | {} |\n", format->name, format->title, format->extensions,
                                      joined(format->can.reads, ""), joined(format->can.writes, "")));
    }
  }

  static void write_text(Session& session) {
    TextTable table;
    table.column("FORMAT").column("WHAT IT IS", Align::left, true).column("ENDINGS").column("READS").column("WRITES");
    for (const Format* format : all_formats()) {
      table.row({{std::string(format->name), Style::cyan},
                 std::string(format->title),
                 std::string(format->extensions),
                 {joined(format->can.reads, "-"), format->can.reads.empty() ? Style::dim : Style::green},
                 {joined(format->can.writes, "-"), format->can.writes.empty() ? Style::dim : Style::green}});
    }
    session.out().write(table.text(session.terminal()));
  }

  bool markdown_ = false;
};

}  // namespace

std::unique_ptr<Command> make_formats_command() { return std::make_unique<FormatsCommand>(); }

}  // namespace fathom::cli
