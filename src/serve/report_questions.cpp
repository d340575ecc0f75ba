#include "serve/report_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "formats/format.hpp"
#include "profile/selection.hpp"
#include "profile/source_lines.hpp"
#include "profile/views.hpp"
#include "serve/model_answers.hpp"
#include "serve/report_timeline.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostMetrics = 8;
constexpr std::size_t kMostSpreads = 50;
constexpr std::size_t kMostFiles = 20;
constexpr std::size_t kMostDatasets = 8;

bool has(Dataset& dataset, Level level) {
  const auto levels = dataset.levels();
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

std::string encoded(std::string_view text) {
  // As encodeURIComponent() of the page has it.
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-_.!~*'()").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// The page's address of a question: its parameters sorted by name, empty ones left out.
std::string address_of(const Request& request) {
  std::string out = request.path;
  char mark = '?';
  for (const auto& [name, value] : request.query) {
    if (value.empty()) continue;
    out += fmt::format("{}{}={}", mark, name, encoded(value));
    mark = '&';
  }
  return out;
}

// Those that the page shows first, then others that have values.
std::vector<MetricId> report_metrics(const Profile& profile) {
  std::vector<MetricId> out;
  const auto add = [&](MetricId id) {
    if (id.valid() && out.size() < kMostMetrics && std::find(out.begin(), out.end(), id) == out.end() &&
        why_unavailable(profile, id).empty()) {
      out.push_back(id);
    }
  };
  const Definitions& defs = profile.defs();
  if (const auto likely = choose_or_guess_metrics(profile, {}); likely.ok()) add(likely->front());
  for (const std::string_view name : {"visits", "bytes_sent", "bytes_received", "messages_sent", "samples"}) {
    add(defs.find_metric(name));
  }
  for (const bool roots : {true, false}) {
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
      if (!defs.metrics[i].hidden && defs.metrics[i].parent.valid() != roots) add(MetricId{i});
    }
  }
  return out;
}

// Contexts whose values over locations are worth a picture: the heaviest ones.
Result<std::vector<std::size_t>> heavy_contexts(const Profile& profile, MetricId metric) {
  FATHOM_TRY(const TreeView view, top_down(profile, {metric, {}, {}}));
  std::vector<std::size_t> out(view.nodes.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  const std::size_t count = std::min(out.size(), kMostSpreads);
  const auto weight = [&](std::size_t node) {
    const double value = std::abs(view.inclusive.scalar(node, 0));
    return std::isnan(value) ? -1 : value;
  };
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), out.end(),
                    [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  out.resize(count);
  return out;
}

Result<void> ask_profile(Dataset& dataset, const std::string& number, const std::string& name,
                         const TakeQuestion& take) {
  const auto opened = dataset.profile();
  if (!opened) {
    // The question itself tells why.
    return take(report_question(number + "/metrics", {}, "profile of " + name));
  }
  const Profile& profile = **opened;
  FATHOM_CHECK(take(report_question(number + "/metrics", {}, "metrics of " + name)));
  FATHOM_CHECK(take(report_question(number + "/locations", {}, "locations of " + name)));
  const std::vector<MetricId> metrics = report_metrics(profile);
  if (metrics.empty()) return {};
  std::string names;
  Output columns;
  JsonWriter json(columns);
  json.begin_array();
  for (const MetricId id : metrics) {
    const std::string& metric = profile.defs().metric(id).name;
    names += (names.empty() ? "" : "\n") + metric;
    json.value(std::string_view(metric));
  }
  json.end_array();
  ReportQuestion listed = report_question(number + "/columns", {}, "metrics of " + name);
  listed.answer = Answer::json(columns.text());
  FATHOM_CHECK(take(listed));
  for (const auto& [view, limit] :
       {std::pair{"topdown", "5000"}, std::pair{"flat", "2000"}, std::pair{"bottomup", "2000"}}) {
    ReportQuestion tree = report_question(number + "/tree", {{"view", view}, {"metrics", names}, {"limit", limit}},
                                          fmt::format("call tree of {}", name));
    tree.address = fmt::format("{}/tree?view={}", number, view);  // the page picks the metrics
    FATHOM_CHECK(take(tree));
  }
  const auto spread = [&](MetricId metric, const std::string& context) {
    return take(report_question(number + "/spread",
                                {{"metric", profile.defs().metric(metric).name}, {"context", context}},
                                "distributions over locations of " + name));
  };
  for (const MetricId metric : metrics) FATHOM_CHECK(spread(metric, "-1"));
  FATHOM_TRY(const auto heavy, heavy_contexts(profile, metrics.front()));
  for (const MetricId metric : metrics) {
    for (const std::size_t context : heavy) FATHOM_CHECK(spread(metric, std::to_string(context)));
  }
  FATHOM_CHECK(take(report_question(number + "/topologies", {}, "topologies of " + name)));
  const std::string& likely = profile.defs().metric(metrics.front()).name;
  FATHOM_CHECK(take(report_question(number + "/sources", {{"metric", likely}}, "source files of " + name)));
  FATHOM_TRY(const auto files, source_lines(profile, {metrics.front(), {}, {}}));
  for (std::size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
    const auto place = std::count_if(files.begin(), files.end(), [&](const auto& f) { return f.file < files[i].file; });
    FATHOM_CHECK(take(report_question(number + "/source", {{"metric", likely}, {"file", std::to_string(place)}},
                                      "source texts of " + name)));
  }
  return {};
}

// Every single measurement, behind all else: without them the page shows the range of each point.
Result<void> ask_repetitions(Dataset& dataset, const std::string& number, const std::string& name,
                             const TakeQuestion& take) {
  const auto opened = dataset.experiment();
  if (!opened) return {};  // told by the question for its models
  const Experiment& e = **opened;
  bool repeated = false;
  for (const Series& series : e.series()) {
    for (std::size_t i = 0; i < e.points_of(series).size(); ++i) {
      repeated = repeated || e.values(series.first + i).size() > 1;
    }
  }
  const std::size_t models = repeated ? std::min(e.series().size(), kMostModels) : 0;
  for (std::size_t part = 0; part * kModelsOfAPart < models; ++part) {
    FATHOM_CHECK(take(report_question(number + "/repetitions", {{"part", std::to_string(part)}},
                                      "repetitions of measurements of " + name)));
  }
  return {};
}

}  // namespace

ReportQuestion report_question(std::string path, std::map<std::string, std::string, std::less<>> query,
                               std::string title) {
  ReportQuestion out;
  out.request.path = std::move(path);
  out.request.query = std::move(query);
  out.address = address_of(out.request);
  out.title = std::move(title);
  return out;
}

Result<void> each_report_question(Viewer& viewer, const TakeQuestion& take) {
  ReportQuestion session = report_question("session", {}, "the list of datasets");
  session.needed = true;
  FATHOM_CHECK(take(session));
  const std::size_t count = std::min(viewer.size(), kMostDatasets);
  const auto name_of = [&](std::size_t i) { return viewer.dataset(i).path().filename().string(); };
  for (std::size_t i = 0; i < count; ++i) {
    FATHOM_CHECK(take(report_question(fmt::format("{}/findings", i), {}, "findings of " + name_of(i))));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (has(viewer.dataset(i), Level::experiment)) {
      FATHOM_CHECK(take(report_question(fmt::format("{}/models", i), {}, "models of " + name_of(i))));
    }
  }
  if (count > 1) {
    for (const auto& [flavour, match] : {std::pair{"exclusive", "name"}, std::pair{"inclusive", "name"}}) {
      FATHOM_CHECK(take(report_question("compare", {{"a", "0"}, {"b", "1"}, {"flavour", flavour}, {"match", match}},
                                        "comparison of the first two datasets")));
    }
    FATHOM_CHECK(take(report_question("comparetree", {{"a", "0"}, {"b", "1"}}, "compared call trees")));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (has(viewer.dataset(i), Level::trace)) FATHOM_CHECK(ask_timeline(viewer, i, name_of(i), take));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Dataset& dataset = viewer.dataset(i);
    if (has(dataset, Level::profile) || has(dataset, Level::trace)) {
      FATHOM_CHECK(ask_profile(dataset, std::to_string(i), name_of(i), take));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!has(viewer.dataset(i), Level::experiment)) continue;
    FATHOM_CHECK(ask_repetitions(viewer.dataset(i), std::to_string(i), name_of(i), take));
  }
  return {};
}

}  // namespace fathom::serve
