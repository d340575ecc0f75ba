// fathom check: every defect of a dataset with its place; exit status 1 when there are any.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/share_out.hpp"
#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/reading_options.hpp"
#include "cli/session.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"

namespace fathom::cli {

namespace {

class CheckCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a file or directory of any format")
        .about(
            "Reads everything and lists every defect: what is damaged, where, and what is lost by it. Exit status 0 "
            "when there is none, 1 when there are some, 2 when the path is of no known format.")
        .example("fathom check profile.cubex", "is this file sound?")
        .example("fathom check trace/ --json", "the defects for a script");
    reading_.declare(options);
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(reading_.apply(*session.work()));
    session.work()->diagnostics.list_every_occurrence();
    FATHOM_TRY(const Source source, Source::at(path_, session.work()));
    if (session.options().from.empty() && recognise(source).empty()) {
      return open_source(source, session.work()).error();
    }
    if (!session.options().from.empty()) FATHOM_CHECK(known_format(session));
    std::string format;
    const Result<void> outcome = examine(session, source, format);
    if (!outcome.ok() && outcome.error().kind() == ErrorKind::cancelled) return outcome.error();
    const bool sound = outcome.ok() && !session.work()->diagnostics.defective();
    if (session.json()) {
      write_json(session, format, sound, outcome);
    } else {
      write_text(session, format, sound, outcome);
    }
    return sound ? kDone : kRefused;
  }

 private:
  static Result<void> known_format(const Session& session) {
    FATHOM_TRY(const Format* format, find_format(session.options().from));
    (void)format;
    return {};
  }

  Result<void> examine(Session& session, const Source& source, std::string& format) const {
    FATHOM_TRY(const DatasetPtr dataset, open_source(source, session.work(), session.options().from));
    reading_.tell_unused(session, *dataset);
    format = dataset->format().name;
    const std::vector<Level> levels = dataset->levels();
    const bool experiment = std::find(levels.begin(), levels.end(), Level::experiment) != levels.end();
    // The models of ovni see the events of all threads in the order of time.
    if (experiment || format == "ovni") {
      FATHOM_CHECK(first_alone(session, fmt::format("checking of {} data is", format)));
    }
    FATHOM_CHECK(dataset->check());
    if (std::find(levels.begin(), levels.end(), Level::profile) == levels.end()) return {};
    FATHOM_TRY(const ProfilePtr profile, dataset->profile());
    return read_everything(session, *profile);
  }

  // Whatever the format checks itself, in the end every stored value must be there.
  static Result<void> read_everything(Session& session, const Profile& profile) {
    const Definitions& defs = profile.defs();
    FATHOM_TRY(Share share, Share::of("checking metrics", defs.metrics.size(), {}));
    Progress progress("checking metrics", share.mine().size());
    Diagnostics& diagnostics = session.work()->diagnostics;
    const std::unordered_set<std::string> noted = metrics_noted(diagnostics);
    for (const std::size_t i : share.mine()) {
      progress.advance();
      const Metric& metric = defs.metrics[i];
      if (metric.derived() || noted.contains(metric.name)) continue;
      if (!metric.unusable.empty()) {
        FATHOM_CHECK(diagnostics.lost("profile.metric_unusable", Place::in(profile.name),
                                      fmt::format("metric '{}': {}", metric.name, metric.unusable)));
        continue;
      }
      const Selection all{
          .flavour = {}, .contexts = {}, .locations = all_locations(defs), .aggregate = true, .void_values = true};
      const auto read = [&] {
        const TeamScope alone(nullptr);  // every process reads metrics of its own
        return compute(profile, MetricId(i), all);
      };
      if (auto values = read(); !values.ok()) {
        Error error = std::move(values).error();
        if (error.kind() != ErrorKind::unusable) return error;
        FATHOM_CHECK(diagnostics.lost("profile.metric_unreadable", error.place(), error.message()));
      }
    }
    return share.join_diagnostics(Holder::first);
  }

  // A format that checks its values itself has said all there is to say about a metric: "metric 'NAME' ...".
  static std::unordered_set<std::string> metrics_noted(const Diagnostics& diagnostics) {
    constexpr std::string_view kBeginning = "metric '";
    std::unordered_set<std::string> names;
    for (const Diagnostic& one : diagnostics.all()) {
      if (one.severity == Severity::info || !one.text.starts_with(kBeginning)) continue;
      const std::string rest = one.text.substr(kBeginning.size());
      // A quote may be part of the name.
      for (std::size_t at = rest.find('\''); at != std::string::npos; at = rest.find('\'', at + 1)) {
        names.insert(rest.substr(0, at));
      }
    }
    return names;
  }

  void write_json(Session& session, const std::string& format, bool sound, const Result<void>& outcome) const {
    JsonWriter json(session.out());
    json.begin_object().member("path", std::string_view(path_));
    if (!format.empty()) json.member("format", std::string_view(format));
    json.member("sound", sound);
    json.key("diagnostics").begin_array();
    for (const Diagnostic& one : session.work()->diagnostics.all()) write_diagnostic(json, one);
    if (!outcome.ok()) {
      json.begin_object().member("id", "unreadable").member("severity", "error");
      const Place& place = outcome.error().place();
      json.member("file", std::string_view(place.file.empty() ? path_ : place.file));
      if (place.offset) json.member("offset", *place.offset);
      if (place.line) json.member("line", *place.line);
      json.member("count", 1).member("text", std::string_view(outcome.error().text())).end_object();
    }
    json.end_array().end_object();
    session.forget_diagnostics();
  }

  void write_text(Session& session, const std::string& format, bool sound, const Result<void>& outcome) const {
    const Terminal& terminal = session.terminal();
    std::uint64_t defects = 0;
    for (const Diagnostic& one : session.work()->diagnostics.all()) {
      const std::string place = one.place.text();
      const bool info = one.severity == Severity::info;
      if (!info) defects += one.count;
      session.out().write(fmt::format("{}: {}: {}{}\n", visible(place.empty() ? path_ : place),
                                      terminal.paint(to_string(one.severity), info ? Style::dim : Style::yellow),
                                      visible(one.text), one.count > 1 ? fmt::format(" ({} times)", one.count) : ""));
    }
    if (!outcome.ok()) {
      ++defects;
      session.out().write(visible(outcome.error().text()) + "\n");
    }
    if (sound) {
      session.out().write(
          fmt::format("{}: {} ({})\n", visible(path_), terminal.paint("no defects", Style::green), format));
    } else {
      session.out().write(
          fmt::format("{}: {}\n", visible(path_),
                      terminal.paint(fmt::format("{} defect{}", defects, defects == 1 ? "" : "s"), Style::red)));
    }
    session.forget_diagnostics();
  }

  std::string path_;
  ReadingOptions reading_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace fathom::cli
