// fathom info: which format, level and version; counts; attributes.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/shown_files.hpp"
#include "cli/commands.hpp"
#include "cli/reading_options.hpp"
#include "cli/session.hpp"
#include "formats/reading_options.hpp"
#include "formats/registry.hpp"
#include "profile/profile.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

// Longer lists take a line per element, and at most that many lines.
constexpr std::size_t kLongList = 80;
constexpr std::size_t kListed = 10;

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::no:
      return "no";
    case Confidence::maybe:
      return "maybe";
    case Confidence::likely:
      return "likely";
    case Confidence::certain:
      return "certain";
  }
  return "?";
}

std::string readable_value(const InfoValue& value) {
  struct Visitor {
    std::string operator()(std::nullptr_t) const { return "not known without a full pass (--count)"; }
    std::string operator()(std::uint64_t number) const { return grouped(number); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return exact_text(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& list) const {
      return fmt::format("{}", fmt::join(list, ", "));
    }
  };
  return std::visit(Visitor{}, value);
}

void write_value(JsonWriter& json, const InfoValue& value) {
  struct Visitor {
    JsonWriter& json;
    void operator()(std::nullptr_t) const { json.value(nullptr); }
    void operator()(std::uint64_t number) const { json.value(number); }
    void operator()(std::int64_t number) const { json.value(number); }
    void operator()(double number) const { json.value(number); }
    void operator()(const std::string& text) const { json.value(std::string_view(text)); }
    void operator()(const std::vector<std::string>& list) const {
      json.begin_array();
      for (const std::string& text : list) json.value(std::string_view(text));
      json.end_array();
    }
  };
  std::visit(Visitor{json}, value);
}

// "name=value" texts as an object; a name that comes several times has a list of values.
void write_attributes(JsonWriter& json, const std::vector<std::string>& list) {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> members;
  for (const std::string& text : list) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = std::string_view(text).substr(0, equals);
    auto at = std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.first == name; });
    if (at == members.end()) at = members.insert(at, {name, {}});
    at->second.push_back(std::string_view(text).substr(std::min(equals + 1, text.size())));
  }
  json.begin_object();
  for (const auto& [name, values] : members) {
    json.key(name);
    if (values.size() > 1) json.begin_array();
    for (const std::string_view value : values) json.value(value);
    if (values.size() > 1) json.end_array();
  }
  json.end_object();
}

class InfoCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a file or directory of any format")
        .choice("--clock", clock_, {"run", "raw"},
                "DUMPI: times with the clocks of several nodes brought together (run), or as stored (raw)")
        .flag("--count", count_, "make a full pass for numbers that are not known without one")
        .flag("--explain", explain_, "why the path is taken for this format, and which others came near")
        .flag("--all", all_, "also long lists, such as the members of an archive")
        .flag("--next", next_, "and what to try next")
        .value("--mirror", "DIR", &mirror_, "Cube: where the pages are that metrics refer to by @mirror@")
        .flag("--metrics", metrics_, "list the metrics of a profile: names, units, types, how they are stored");
    reading_.declare(options);
    options.example("fathom info profile.cubex", "what this file is and how large its three dimensions are")
        .example("fathom info --explain unknown.dat", "which formats recognise it, and by what");
  }

  Result<int> run(Session& session) override {
    if (clock_ == "raw") session.work()->options.set(kClock, clock_);
    if (!mirror_.empty() && mirror_.find("://") == std::string::npos && !std::filesystem::is_directory(mirror_)) {
      return Error::usage(fmt::format("--mirror: '{}' is no directory", mirror_));
    }
    FATHOM_CHECK(reading_.apply(*session.work()));
    FATHOM_TRY(const Source source, Source::at(path_, session.work()));
    std::vector<Recognition> recognised;
    if (explain_) recognised = recognise(source);
    if (explain_ && !session.json()) write_reasons(session, recognised);
    FATHOM_TRY(const DatasetPtr dataset, open_source(source, session.work(), session.options().from));
    reading_.tell_unused(session, *dataset);
    FATHOM_TRY(const std::vector<InfoEntry> entries, dataset->describe(count_));
    ProfilePtr profile;
    if (metrics_) {
      FATHOM_TRY(profile, dataset->profile());
    }
    if (session.json()) {
      write_json(session, *dataset, entries, recognised, profile);
    } else {
      write_text(session, *dataset, entries);
      if (profile) write_metrics(session, *profile);
      if (next_) write_next(session, *dataset);
    }
    return kDone;
  }

 private:
  void write_reasons(Session& session, const std::vector<Recognition>& recognised) const {
    if (!session.options().from.empty()) {
      session.out().write(fmt::format("taken as {} because of --format\n", session.options().from));
    }
    for (const Recognition& one : recognised) {
      session.out().write(fmt::format("{} ({}): {}\n", session.terminal().paint(one.format->name, Style::cyan),
                                      to_string(one.match.confidence), one.match.reason));
    }
    if (recognised.empty()) session.out().write("no format recognises it\n");
    session.out().write("\n");
  }

  void write_json(Session& session, const Dataset& dataset, const std::vector<InfoEntry>& entries,
                  const std::vector<Recognition>& recognised, const ProfilePtr& profile) const {
    JsonWriter json(session.out());
    json.begin_object();
    json.member("format", dataset.format().name).member("version", std::string_view(dataset.version()));
    json.key("levels").begin_array();
    for (const Level level : dataset.levels()) json.value(fathom::to_string(level));
    json.end_array();
    for (const InfoEntry& entry : entries) {
      json.key(entry.key);
      const auto* list = std::get_if<std::vector<std::string>>(&entry.value);
      if (list != nullptr && (entry.key == "attributes" || entry.key == "properties")) {
        write_attributes(json, *list);
      } else {
        write_value(json, entry.value);
      }
    }
    if (explain_) {
      json.key("recognition").begin_array();
      for (const Recognition& one : recognised) {
        json.begin_object().member("format", one.format->name);
        json.member("confidence", to_string(one.match.confidence));
        json.member("reason", std::string_view(one.match.reason)).end_object();
      }
      json.end_array();
    }
    if (profile) {
      json.key("metric_list").begin_array();
      for (const Metric& metric : profile->defs().metrics) {
        json.begin_object().member("name", std::string_view(metric.name));
        json.member("display_name", std::string_view(metric.display_name));
        json.member("unit", std::string_view(metric.unit)).member("type", std::string_view(metric.type.text()));
        json.member("stored", std::string_view(storage(metric)));
        if (metric.parent.valid()) {
          json.member("parent", std::string_view(profile->defs().metric(metric.parent).name));
        }
        if (metric.derived()) json.member("expression", std::string_view(metric.expression));
        if (const std::string page = url_of(profile->defs(), metric); !page.empty()) {
          json.member("url", std::string_view(page));
        }
        json.member("hidden", metric.hidden).member("description", std::string_view(metric.description)).end_object();
      }
      json.end_array();
    }
    session.write_diagnostics(json);
    json.end_object();
  }

  // The page about a metric: @mirror@ stands for one of the addresses that the file names, or for a local copy.
  [[nodiscard]] std::string url_of(const Definitions& defs, const Metric& metric) const {
    constexpr std::string_view kMirror = "@mirror@";
    std::string url = metric.url;
    const auto at = url.find(kMirror);
    if (at == std::string::npos) return url;
    std::string base = !mirror_.empty() ? mirror_ : defs.mirrors.empty() ? std::string() : defs.mirrors.front();
    if (base.empty()) return url;
    if (base.back() != '/') base += '/';
    return url.replace(at, kMirror.size(), base);
  }

  static std::string storage(const Metric& metric) {
    if (metric.derived()) return "derived";
    if (metric.switched_off) return "void";
    std::string out;
    for (const StoredScope& scope : metric.scopes) {
      if (!out.empty()) out += ", ";
      if (!scope.name.empty()) {
        out += scope.name;
      } else {
        out += scope.scope == Scope::inclusive ? "inclusive" : scope.scope == Scope::own ? "own" : "exclusive";
      }
    }
    return out.empty() ? "nothing" : out;
  }

  [[nodiscard]] static std::string with_url(const std::string& text, const std::string& url) {
    return url.empty() ? text : fmt::format("{} <{}>", text, url);
  }

  void write_metrics(Session& session, const Profile& profile) const {
    TextTable table;
    table.column("METRIC", Align::left, true).column("UNIT").column("TYPE").column("STORED");
    table.column("DESCRIPTION", Align::left, true);
    const Definitions& defs = profile.defs();
    for (const Metric& metric : defs.metrics) {
      std::size_t depth = 0;
      for (MetricId at = metric.parent; at.valid(); at = defs.metric(at).parent) ++depth;
      table.row(
          {{std::string(depth * 2, ' ') + metric.name, metric.hidden ? Style::dim : Style::cyan},
           metric.unit,
           {metric.type.text(), Style::dim},
           {storage(metric) + (metric.hidden ? ", hidden" : ""), Style::dim},
           with_url(metric.description.empty() ? metric.display_name : metric.description, url_of(defs, metric))});
    }
    session.out().write("\n" + table.text(session.terminal()));
  }

  // The two or three commands that most people want of data of this kind.
  void write_next(Session& session, const Dataset& dataset) const {
    struct Hint {
      Level level;
      std::string_view command;
      std::string_view shows;
    };
    static constexpr std::array<Hint, 9> kHints = {{
        {Level::profile, "top", "where the time goes"},
        {Level::profile, "tree --hot", "the path to the hot spot"},
        {Level::profile, "balance", "which ranks are late"},
        {Level::trace, "report", "what is wrong, and why"},
        {Level::trace, "stats", "calls, time and bytes"},
        {Level::trace, "events", "what happened when"},
        {Level::experiment, "model", "how it scales"},
        {Level::experiment, "table", "the measurements"},
        {Level::model, "model --stored", "the models in the file"},
    }};
    const auto levels = dataset.levels();
    TextTable table;
    table.column("").column("");
    for (const Hint& hint : kHints) {
      if (std::find(levels.begin(), levels.end(), hint.level) == levels.end()) continue;
      const std::size_t blank = hint.command.find(' ');
      std::string line = fmt::format("fathom {} {}", hint.command.substr(0, blank), path_);
      if (blank != std::string_view::npos) line += hint.command.substr(blank);
      table.row({{line, Style::cyan}, {std::string(hint.shows), Style::dim}});
    }
    if (table.rows() > 0) session.out().write("\nNext:\n" + table.text(session.terminal()));
  }

  // Spans and sizes with units, moments as dates.
  static std::pair<std::string, std::string> for_people(const InfoEntry& entry) {
    const auto number = std::visit(
        [](const auto& value) -> std::optional<double> {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) return static_cast<double>(value);
          return std::nullopt;
        },
        entry.value);
    if (!number) return {entry.key, readable_value(entry.value)};
    if (entry.key == "span_ns") return {"span", readable(*number, "ns")};
    if (entry.key == "first_ns" || entry.key == "last_ns") {
      return {entry.key == "first_ns" ? "begins at" : "ends at", fmt::format("{:.9f} s on its clock", *number / 1e9)};
    }
    if (entry.key == "bytes") return {"size", readable(*number, "bytes")};
    // Seconds since 1970; small numbers are clocks that count from somewhere else.
    constexpr double kYear2000 = 946684800;
    if (entry.key == "start_time" && *number >= kYear2000) {
      return {"start", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(*number)))};
    }
    return {entry.key, readable_value(entry.value)};
  }

  void write_text(Session& session, const Dataset& dataset, const std::vector<InfoEntry>& entries) const {
    TextTable table;
    table.column("").column("", Align::left, true);
    const auto line = [&](std::string key, std::string value) {
      table.row({{std::move(key), Style::dim}, {std::move(value), Style::plain}});
    };
    line("path", shown_file(dataset.path().string()));
    line("format", fmt::format("{} ({})", dataset.format().title, dataset.format().name));
    if (!dataset.version().empty()) line("version", dataset.version());
    std::vector<std::string_view> levels;
    for (const Level level : dataset.levels()) levels.push_back(fathom::to_string(level));
    line("levels", fmt::format("{}", fmt::join(levels, ", ")));
    for (const InfoEntry& entry : entries) {
      const auto* list = std::get_if<std::vector<std::string>>(&entry.value);
      const auto [key, whole] = for_people(entry);
      if (list == nullptr || whole.size() <= kLongList) {
        line(key, whole);
        continue;
      }
      // What an archive consists of says nothing about the data.
      if (entry.key == "members" && !all_) {
        line(key, fmt::format("{} (--all lists them)", grouped(list->size())));
        continue;
      }
      for (std::size_t i = 0; i < list->size() && (all_ || i < kListed); ++i) line(i == 0 ? key : "", (*list)[i]);
      if (list->size() > kListed && !all_) line("", fmt::format("… {} more (--all)", list->size() - kListed));
    }
    session.out().write(table.text(session.terminal()));
  }

  std::string clock_ = "run";
  std::string mirror_;
  std::string path_;
  ReadingOptions reading_;
  bool count_ = false;
  bool explain_ = false;
  bool metrics_ = false;
  bool all_ = false;
  bool next_ = false;
};

}  // namespace

std::unique_ptr<Command> make_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace fathom::cli
