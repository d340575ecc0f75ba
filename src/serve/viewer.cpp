#include "serve/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/stop.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "serve/compare_answers.hpp"
#include "serve/findings_answers.hpp"
#include "serve/model_answers.hpp"
#include "serve/profile_answers.hpp"
#include "serve/reshaped_profile.hpp"
#include "serve/source_answers.hpp"
#include "serve/sql_answers.hpp"
#include "serve/system_answers.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {
constexpr std::size_t kKeptProfiles = 6;
}

Shown::Shown(DatasetPtr opened, const std::vector<std::filesystem::path>& source_roots)
    : dataset(std::move(opened)), watch(dataset->path()) {
  const auto& path = dataset->path();
  name = (path.has_filename() ? path : path.parent_path()).filename().string();
  sources = std::make_unique<SourceFiles>(path, source_roots);
}
Shown::~Shown() = default;

Viewer::Viewer(std::vector<DatasetPtr> datasets, ViewerOptions options)
    : options_(std::move(options)), mutex_(std::make_shared<std::mutex>()) {
  std::vector<std::shared_ptr<Dataset>> all;
  for (DatasetPtr& dataset : datasets) {
    shown_.push_back(std::make_unique<Shown>(std::move(dataset), options_.source_roots));
    all.push_back(shown_.back()->dataset);
  }
  sql_ = std::make_unique<SqlAnswers>(std::move(all), mutex_);
}
Viewer::~Viewer() = default;

namespace {

void write_info(JsonWriter& json, const InfoValue& value) {
  struct Visitor {
    JsonWriter& json;
    void operator()(std::nullptr_t) const { json.value(nullptr); }
    void operator()(std::uint64_t number) const { json.value(std::string_view(std::to_string(number))); }
    void operator()(std::int64_t number) const { json.value(std::string_view(std::to_string(number))); }
    void operator()(double number) const { json.value(number); }
    void operator()(const std::string& text) const { write_text(json, text); }
    void operator()(const std::vector<std::string>& list) const {
      json.begin_array();
      for (const std::string& text : list) write_text(json, text);
      json.end_array();
    }
  };
  std::visit(Visitor{json}, value);
}

bool has(const Dataset& dataset, Level level) {
  const auto levels = dataset.levels();
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

// A trace has a profile, too: it is reduced to one.
bool has_profile(const Dataset& dataset) { return has(dataset, Level::profile) || has(dataset, Level::trace); }

void write_dataset(JsonWriter& json, Shown& shown, std::string_view why_no_comparison) {
  Dataset& dataset = *shown.dataset;
  json.begin_object();
  json.member("name", std::string_view(shown.name)).member("path", std::string_view(dataset.path().string()));
  json.member("format", dataset.format().name).member("title", dataset.format().title);
  json.member("version", std::string_view(dataset.version()));
  json.key("levels").begin_array();
  for (const Level level : dataset.levels()) json.value(to_string(level));
  json.end_array();
  // What the page offers; the reason stands where something is not there.
  json.key("views").begin_object();
  json.member("profile", has_profile(dataset) ? "" : "this dataset holds no profile and no trace to make one from");
  json.member("timeline", has(dataset, Level::trace) ? "" : "this dataset holds no trace");
  json.member("scaling",
              has(dataset, Level::experiment) ? "" : "one run alone has no scaling: open a directory of runs");
  json.member("findings", "").member("sql", "").member("compare", why_no_comparison);
  json.end_object();
  json.key("info").begin_array();
  if (const auto entries = dataset.describe(false); entries.ok()) {
    for (const InfoEntry& entry : *entries) {
      json.begin_array().value(std::string_view(entry.key));
      write_info(json, entry.value);
      json.end_array();
    }
  }
  json.end_array();
  json.key("diagnostics").begin_array();
  for (const Diagnostic& d : dataset.work()->diagnostics.all()) {
    json.begin_object().member("id", std::string_view(d.id)).member("severity", to_string(d.severity));
    json.member("place", std::string_view(d.place.text())).member("count", d.count);
    json.key("text");
    write_text(json, d.text);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Answer Viewer::session(const Request& request) {
  Output out;
  JsonWriter json(out);
  json.begin_object().member("fathom", FATHOM_VERSION);
  if (!request.get("folder").empty()) {
    // Where relative paths of the datasets begin: for a session that is saved.
    std::error_code unknown;
    json.member("folder", std::string_view(std::filesystem::current_path(unknown).string()));
  }
  json.key("datasets").begin_array();
  const auto comparable = std::count_if(shown_.begin(), shown_.end(), [](const auto& shown) {
    return has_profile(*shown->dataset) || has(*shown->dataset, Level::experiment);
  });
  for (const auto& shown : shown_) {
    write_dataset(json, *shown, comparable > 1 ? "" : "there is one dataset only: fathom view BEFORE AFTER");
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> Viewer::about(Shown& shown, std::string_view what, const Request& request) {
  const std::lock_guard lock(*mutex_);
  if (what == "models" || what == "advice" || what == "repetitions") {
    if (shown.models == nullptr) {
      FATHOM_TRY(ExperimentPtr experiment, shown.dataset->experiment());
      shown.models = std::make_unique<ModelAnswers>(std::move(experiment), shown.dataset->work());
    }
    return what == "models"   ? shown.models->models(request)
           : what == "advice" ? shown.models->advice(request)
                              : shown.models->repetitions(request);
  }
  using Question = Result<Answer> (*)(ProfileAnswers&, Shown&, const Request&);
  static const std::map<std::string_view, Question> kQuestions = {
      {"metrics", [](auto& p, auto&, auto&) { return p.metrics(); }},
      {"tree", [](auto& p, auto&, auto& r) { return p.tree(r); }},
      {"hot", [](auto& p, auto&, auto& r) { return p.hot_path(r); }},
      {"search", [](auto& p, auto&, auto& r) { return p.search(r); }},
      {"flame", [](auto& p, auto&, auto& r) { return p.flame(r); }},
      {"spread", [](auto& p, auto&, auto& r) { return p.spread(r); }},
      {"locations", [](auto& p, auto&, auto&) { return location_columns(p.profile().defs()); }},
      {"topologies", [](auto& p, auto&, auto&) { return topologies(p.profile().defs()); }},
      {"sources", [](auto& p, auto& s, auto& r) { return source_list(p.profile(), *s.sources, r); }},
      {"source", [](auto& p, auto& s, auto& r) { return source_text(p.profile(), *s.sources, r); }}};
  const auto question = kQuestions.find(what);
  if (question == kQuestions.end()) return Answer::nothing_there();
  FATHOM_TRY(ProfileAnswers * profile, profile_for(shown, request));
  return question->second(*profile, shown, request);
}

// The analysis of a large trace takes its time: others are answered meanwhile.
Result<Answer> Viewer::about_findings(Shown& shown) {
  {
    const std::lock_guard lock(*mutex_);
    if (shown.findings == nullptr) {
      FATHOM_TRY(ReportInput input, report_input(*shown.dataset));
      shown.findings = std::make_unique<FindingsAnswers>(std::move(input));
    }
  }
  return shown.findings->findings();
}

Result<Answer> Viewer::about_two(const Request& request, bool tree) {
  FATHOM_TRY(const std::int64_t a, request.integer("a", 0));
  FATHOM_TRY(const std::int64_t b, request.integer("b", 1));
  const auto count = static_cast<std::int64_t>(shown_.size());
  if (a < 0 || b < 0 || a >= count || b >= count) return Error::usage("there is no such dataset");
  const std::lock_guard lock(*mutex_);
  Shown& before = *shown_[static_cast<std::size_t>(a)];
  Shown& after = *shown_[static_cast<std::size_t>(b)];
  if (!has_profile(*before.dataset) && !has_profile(*after.dataset)) {
    FATHOM_TRY(const ExperimentPtr first, before.dataset->experiment());
    FATHOM_TRY(const ExperimentPtr second, after.dataset->experiment());
    return compare(*first, *second, request);
  }
  FATHOM_TRY(ProfilePtr first, before.dataset->profile());
  FATHOM_TRY(ProfilePtr second, after.dataset->profile());
  FATHOM_TRY(first, reshaped(std::move(first), request));
  FATHOM_TRY(second, reshaped(std::move(second), request));
  return tree ? compare_tree(first, second, request) : compare(first, second, request);
}

// Of the whole, or of a window of a trace, with metrics derived and contexts hidden; the last used ones are kept.
Result<ProfileAnswers*> Viewer::profile_for(Shown& shown, const Request& request) {
  const std::string window(request.get("window"));
  const std::string key = window + '\n' + shape_of(request);
  auto& kept = shown.profiles;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& one) { return one.first == key; });
  if (found != kept.end()) {
    std::rotate(kept.begin(), found, std::next(found));
    return kept.front().second.get();
  }
  ProfilePtr profile;
  if (window.empty()) {
    FATHOM_TRY(profile, shown.dataset->profile());
  } else {
    FATHOM_TRY(TraceAnswers * trace, trace_of(shown));
    FATHOM_TRY(profile, trace->profile_of(window));
  }
  FATHOM_TRY(profile, reshaped(std::move(profile), request));
  if (kept.size() >= kKeptProfiles) kept.pop_back();
  kept.insert(kept.begin(), {key, std::make_unique<ProfileAnswers>(std::move(profile))});
  return kept.front().second.get();
}

// The trace looks after its own threads: tiles are made side by side.
Result<Answer> Viewer::about_trace(Shown& shown, std::string_view what, const Request& request) {
  TraceAnswers* trace = nullptr;
  {
    const std::lock_guard lock(*mutex_);
    FATHOM_TRY(trace, trace_of(shown));
  }
  return trace->answer(what, request);
}

Result<TraceAnswers*> Viewer::trace_of(Shown& shown) {
  if (shown.trace == nullptr) {
    FATHOM_TRY(auto trace, shown.dataset->trace());
    // Statistics are the dataset's own: one question at a time.
    const auto statistics = [this, &shown](const StatisticsOptions& options) {
      const std::lock_guard one(*mutex_);
      return shown.dataset->statistics(options);
    };
    shown.trace = std::make_unique<TraceAnswers>(std::move(trace), shown.dataset->work(), shown.dataset->path(),
                                                 options_.index, statistics);
  }
  return shown.trace.get();
}

Result<TraceAnswers*> Viewer::trace_answers(std::size_t number) {
  const std::lock_guard lock(*mutex_);
  return trace_of(*shown_[number]);
}

Answer Viewer::answer(const Request& request) {
  Answer made = answered(request);
  // What came of a file that is not what it was any more is worth nothing, whatever it looks like.
  if (const auto lost = lost_input_of(request.path)) return Answer::failed(500, *lost);
  return made;
}

std::optional<Error> Viewer::lost_input_of(std::string_view path) {
  if (path == "session") return std::nullopt;  // what the page shows it in
  if (auto lost = stop_reason()) return lost;
  const auto slash = path.find('/');
  const auto number =
      slash == std::string_view::npos ? std::nullopt : parse_integer<std::size_t>(path.substr(0, slash));
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (number && i != *number) continue;
    if (auto lost = shown_[i]->watch.lost(&shown_[i]->dataset->work()->diagnostics)) return lost;
  }
  return std::nullopt;
}

Answer Viewer::answered(const Request& request) {
  const std::string_view path = request.path;
  if (path == "session") {
    const std::lock_guard lock(*mutex_);
    return session(request);
  }
  const auto finish = [](Result<Answer> answer) {
    if (answer.ok()) return std::move(*answer);
    return Answer::failed(answer.error().kind() == ErrorKind::usage ? 400 : 500, answer.error());
  };
  if (path == "compare" || path == "comparetree") return finish(about_two(request, path == "comparetree"));
  if (path == "tables") return finish(sql_->tables());
  if (path == "sql") return finish(sql_->query(request));
  const auto slash = path.find('/');
  const auto number = parse_integer<std::size_t>(path.substr(0, slash));
  if (slash == std::string_view::npos || !number || *number >= shown_.size()) return Answer::nothing_there();
  const std::string_view what = path.substr(slash + 1);
  Shown& shown = *shown_[*number];
  if (TraceAnswers::knows(what)) return finish(about_trace(shown, what, request));
  if (what == "findings") return finish(about_findings(shown));
  return finish(about(shown, what, request));
}

}  // namespace fathom::serve
