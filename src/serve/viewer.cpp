#include "serve/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "serve/model_answers.hpp"
#include "serve/profile_answers.hpp"
#include "serve/timeline_answers.hpp"

namespace fathom::serve {

Shown::Shown(DatasetPtr opened) : dataset(std::move(opened)) {
  const auto& path = dataset->path();
  name = (path.has_filename() ? path : path.parent_path()).filename().string();
}
Shown::~Shown() = default;

Viewer::Viewer(std::vector<DatasetPtr> datasets) {
  for (DatasetPtr& dataset : datasets) shown_.push_back(std::make_unique<Shown>(std::move(dataset)));
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
    void operator()(const std::string& text) const { json.value(std::string_view(text)); }
    void operator()(const std::vector<std::string>& list) const {
      json.begin_array();
      for (const std::string& text : list) json.value(std::string_view(text));
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

void write_dataset(JsonWriter& json, Shown& shown) {
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
    json.member("text", std::string_view(d.text)).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Answer Viewer::session() {
  Output out;
  JsonWriter json(out);
  json.begin_object().member("fathom", FATHOM_VERSION).key("datasets").begin_array();
  for (const auto& shown : shown_) write_dataset(json, *shown);
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> Viewer::about(Shown& shown, std::string_view what, const Request& request) {
  const std::lock_guard lock(mutex_);
  if (what == "models") {
    if (shown.models == nullptr) {
      FATHOM_TRY(ExperimentPtr experiment, shown.dataset->experiment());
      shown.models = std::make_unique<ModelAnswers>(std::move(experiment), shown.dataset->work());
    }
    return shown.models->models(request);
  }
  using Question = Result<Answer> (ProfileAnswers::*)(const Request&);
  static const std::map<std::string_view, Question> kQuestions = {{"tree", &ProfileAnswers::tree},
                                                                  {"hot", &ProfileAnswers::hot_path},
                                                                  {"search", &ProfileAnswers::search},
                                                                  {"flame", &ProfileAnswers::flame},
                                                                  {"spread", &ProfileAnswers::spread}};
  const auto question = kQuestions.find(what);
  if (question == kQuestions.end() && what != "metrics" && what != "locations") return Answer::nothing_there();
  if (shown.profile == nullptr) {
    FATHOM_TRY(ProfilePtr profile, shown.dataset->profile());
    shown.profile = std::make_unique<ProfileAnswers>(std::move(profile));
  }
  if (what == "metrics") return shown.profile->metrics();
  if (what == "locations") return shown.profile->locations();
  return (*shown.profile.*question->second)(request);
}

// The timeline looks after its own threads: tiles are made side by side.
Result<Answer> Viewer::about_trace(Shown& shown, std::string_view what, const Request& request) {
  {
    const std::lock_guard lock(mutex_);
    if (shown.timeline == nullptr) {
      FATHOM_TRY(auto trace, shown.dataset->trace());
      shown.timeline = std::make_unique<TimelineAnswers>(std::move(trace), shown.dataset->work());
    }
  }
  if (what == "timeline") return shown.timeline->timeline(request);
  return what == "tile" ? shown.timeline->tile(request) : shown.timeline->at(request);
}

Answer Viewer::answer(const Request& request) {
  if (request.path == "session") {
    const std::lock_guard lock(mutex_);
    return session();
  }
  const std::string_view path = request.path;
  const auto slash = path.find('/');
  const auto number = parse_integer<std::size_t>(path.substr(0, slash));
  if (slash == std::string_view::npos || !number || *number >= shown_.size()) return Answer::nothing_there();
  const std::string_view what = path.substr(slash + 1);
  auto answer = what == "timeline" || what == "tile" || what == "at" ? about_trace(*shown_[*number], what, request)
                                                                     : about(*shown_[*number], what, request);
  if (answer.ok()) return std::move(*answer);
  return Answer::failed(answer.error().kind() == ErrorKind::usage ? 400 : 500, answer.error());
}

}  // namespace fathom::serve
