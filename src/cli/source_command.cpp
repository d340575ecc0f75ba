// fathom source: values beside the lines of source that they were measured in.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "formats/source_text.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"
#include "profile/source_lines.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

class SourceCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options, false);
    arguments_.declare_metrics(options, "the metric; default: time");
    options.value("-f,--file", "F", &file_, "this file with its lines; the end of its path is enough; patterns")
        .value("--around", "N", &around_, "lines shown around those with values; default: 2")
        .flag("--all", all_, "all lines of the file");
    arguments_.declare_derive(options);
    arguments_.declare_hiding(options);
    options
        .about(
            "Without --file: the source files, how much was measured in each, and where its text was found: the copy "
            "in "
            "the database (src/), or the file itself on this machine. With --file: values beside the lines. Without "
            "the "
            "text, the numbers of the lines stand alone.")
        .example("fathom source run.d", "which files matter, and which of them are at hand")
        .example("fathom source run.d -f solver.c", "the hot lines of one file");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(DatasetPtr opened, session.open(arguments_.path));
    Dataset& dataset = session.keep(std::move(opened));
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(dataset));
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, arguments_.metrics));
    const Metric& metric = profile->defs().metric(metrics.front());
    FATHOM_TRY(const auto files, source_lines(*profile, {metrics.front(), {}, {}}));
    FATHOM_TRY(const Value total, metric_total(*profile, metrics.front(), {}));
    if (adds_up(*profile, metrics.front())) whole_ = total.scalar();
    if (!file_) return list(session, dataset, metric, files, total.scalar());
    std::vector<const SourceLines*> chosen;
    std::vector<std::string> names;
    for (const SourceLines& file : files) {
      names.push_back(file.file);
      if (fits(file.file)) chosen.push_back(&file);
    }
    if (chosen.empty()) {
      return Error::usage(fmt::format("no source file is called '{}'{}", *file_, did_you_mean(*file_, names)))
          .hint("'fathom source PATH' lists them");
    }
    if (session.csv() || session.json()) {
      RowStream rows = session.stream({"line",
                                       {{"file", ColumnType::text},
                                        {"line", ColumnType::int64},
                                        {"value", ColumnType::float64, metric.unit},
                                        {"inclusive", ColumnType::float64, metric.unit},
                                        {"text", ColumnType::free_text}}});
      for (const SourceLines* file : chosen) FATHOM_CHECK(write_lines(rows, dataset, *file));
      rows.end();
      return kDone;
    }
    for (const SourceLines* file : chosen) FATHOM_CHECK(annotate(session, dataset, metric, *file, total.scalar()));
    return kDone;
  }

 private:
  [[nodiscard]] bool fits(const std::string& name) const {
    return name == *file_ || name.ends_with("/" + *file_) || matches_pattern(*file_, name);
  }

  Result<int> list(Session& session, const Dataset& dataset, const Metric& metric,
                   const std::vector<SourceLines>& files, double total) const {
    if (session.csv() || session.json()) {
      TableBuilder table({"files",
                          {{"file", ColumnType::text},
                           {"value", ColumnType::float64, metric.unit},
                           {"inclusive", ColumnType::float64, metric.unit},
                           {"lines", ColumnType::uint64},
                           {"text", ColumnType::text}}});
      for (const SourceLines& file : files) {
        const auto found = find_source(dataset.path(), file.file);
        table.row(file.file, file.total, file.inclusive, file.lines.size(), found ? found->string() : std::string());
      }
      session.show_table(std::move(table).finish(), "files");
      return kDone;
    }
    session.out().write(fmt::format("{}: {} in total\n\n", session.terminal().paint(visible(metric.name), Style::bold),
                                    readable(total, metric.unit)));
    TextTable table;
    table.column("MEASURED IN", Align::right).column("%", Align::right);
    table.column("CALLED FROM", Align::right).column("%", Align::right).column("LINES", Align::right);
    table.column("FILE", Align::left, true).column("TEXT", Align::left, true);
    for (const SourceLines& file : files) {
      const auto found = find_source(dataset.path(), file.file);
      table.row({readable(file.total, metric.unit),
                 percent(file.total, whole_),
                 readable(file.inclusive, metric.unit),
                 percent(file.inclusive, whole_),
                 grouped(file.lines.size()),
                 file.file,
                 {found ? found->string() : "not found", Style::dim}});
    }
    session.out().write(table.text(session.terminal()));
    return kDone;
  }

  // Lines of the file that `show` accepts, with their text where there is one.
  template <class Use>
  static Result<void> each_line(const Dataset& dataset, const SourceLines& file, Use&& use) {
    const auto found = find_source(dataset.path(), file.file);
    std::int64_t last = 0;
    if (found) {
      FATHOM_TRY(Blob blob, map_file(*found));
      LineCursor text(std::move(blob));
      while (const auto line = text.next()) {
        last = static_cast<std::int64_t>(text.number());
        use(last, *line);
      }
    }
    // Without the text, or beyond its end when the file is another version.
    for (auto at = file.lines.upper_bound(last); at != file.lines.end(); ++at) use(at->first, std::string_view());
    return {};
  }

  static Result<void> write_lines(RowStream& rows, const Dataset& dataset, const SourceLines& file) {
    return each_line(dataset, file, [&](std::int64_t line, std::string_view text) {
      const auto value = file.lines.find(line);
      const bool any = value != file.lines.end();
      rows.row(file.file, line, any ? value->second.own : 0.0, any ? value->second.inclusive : 0.0, text);
    });
  }

  Result<void> annotate(Session& session, const Dataset& dataset, const Metric& metric, const SourceLines& file,
                        double total) {
    const auto found = find_source(dataset.path(), file.file);
    Output& out = session.out();
    out.write(fmt::format("{}: {}: {} measured in it, {} with what it calls, of {}\n",
                          session.terminal().paint(visible(file.file), Style::cyan), visible(metric.name),
                          readable(file.total, metric.unit), readable(file.inclusive, metric.unit),
                          readable(total, metric.unit)));
    if (!found) out.write("the text is neither in the database nor on this machine\n");
    const auto write_line = [&](const SourceLines::Line& value, std::string_view line, std::string_view text) {
      const auto cell = [&](double v) { return v == 0 ? std::string() : readable(v, metric.unit); };
      const auto share = [&](double v) { return v == 0 ? std::string() : percent(v, whole_); };
      out.write(fmt::format("{:>10} {:>6} {:>10} {:>6} {:>6}  {}\n", cell(value.own), share(value.own),
                            cell(value.inclusive), share(value.inclusive), line, text));
    };
    out.write(fmt::format("{:>10} {:>6} {:>10} {:>6} {:>6}\n", "OWN", "%", "INCLUSIVE", "%", "LINE"));
    if (const auto nowhere = file.lines.find(0); nowhere != file.lines.end()) {
      write_line(nowhere->second, "?", "in no known line");
    }
    const auto around = static_cast<std::int64_t>(around_);
    std::int64_t before = 0;
    FATHOM_CHECK(each_line(dataset, file, [&](std::int64_t line, std::string_view text) {
      const auto near = file.lines.lower_bound(std::max<std::int64_t>(1, line - around));
      const bool shown = all_ || (near != file.lines.end() && near->first <= line + around);
      if (!shown || line == 0) return;
      if (before != 0 && line != before + 1) write_line({}, "⋮", "");
      before = line;
      const auto value = file.lines.find(line);
      write_line(value == file.lines.end() ? SourceLines::Line{} : value->second, std::to_string(line), text);
    }));
    out.write("\n");
    return {};
  }

  ProfileArguments arguments_;
  std::optional<std::string> file_;
  double whole_ = std::numeric_limits<double>::quiet_NaN();  // what shares are shares of
  std::size_t around_ = 2;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_source_command() { return std::make_unique<SourceCommand>(); }

}  // namespace fathom::cli
