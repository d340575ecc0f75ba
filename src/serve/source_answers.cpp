#include "serve/source_answers.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"
#include "profile/selection.hpp"
#include "profile/source_lines.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostFiles = 2000;
constexpr std::size_t kMostLines = 50000;
constexpr std::size_t kMostText = 4U << 20;

struct Asked {
  MetricId metric;
  std::vector<SourceLines> files;
  // Numbers must not depend on the metric: they follow the names.
  std::vector<std::size_t> number;
};

Result<Asked> asked(const Profile& profile, const Request& request) {
  Asked out;
  if (const std::string_view name = request.get("metric"); !name.empty()) {
    out.metric = profile.defs().find_metric(name);
    if (!out.metric.valid()) return Error::usage("there is no such metric");
  } else {
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(profile, {}));
    out.metric = metrics.front();
  }
  FATHOM_TRY(out.files, source_lines(profile, {out.metric, {}, {}}));
  std::vector<std::size_t> by_name(out.files.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
  std::sort(by_name.begin(), by_name.end(), [&](auto a, auto b) { return out.files[a].file < out.files[b].file; });
  out.number.resize(by_name.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) out.number[by_name[i]] = i;
  return out;
}

}  // namespace

Result<Answer> source_list(const Profile& profile, const SourceFiles& files, const Request& request) {
  FATHOM_TRY(const Asked a, asked(profile, request));
  FATHOM_TRY(const Value total, metric_total(profile, a.metric, {}));
  const Metric& metric = profile.defs().metric(a.metric);
  Output out;
  JsonWriter json(out);
  json.begin_object().member("metric", std::string_view(metric.name)).member("unit", std::string_view(metric.unit));
  json.member("total", total.scalar()).member("all", a.files.size()).key("files").begin_array();
  for (std::size_t i = 0; i < std::min(a.files.size(), kMostFiles); ++i) {
    const SourceLines& file = a.files[i];
    json.begin_object().member("number", a.number[i]).key("name");
    write_text(json, file.file);
    json.member("own", file.total).member("inclusive", file.inclusive).member("lines", file.lines.size());
    json.member("text", files.find(file.file).has_value()).end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> source_text(const Profile& profile, const SourceFiles& files, const Request& request) {
  FATHOM_TRY(const Asked a, asked(profile, request));
  FATHOM_TRY(const std::int64_t number, request.integer("file", 0));
  const auto found = std::find(a.number.begin(), a.number.end(), static_cast<std::size_t>(number));
  if (number < 0 || found == a.number.end()) return Error::usage("there is no such file");
  const SourceLines& file = a.files[static_cast<std::size_t>(found - a.number.begin())];
  const Metric& metric = profile.defs().metric(a.metric);
  Output out;
  JsonWriter json(out);
  json.begin_object().key("name");
  write_text(json, file.file);
  json.member("metric", std::string_view(metric.name)).member("unit", std::string_view(metric.unit));
  json.member("own", file.total).member("inclusive", file.inclusive);
  json.key("line").begin_array();
  for (const auto& [line, value] : file.lines) json.value(line);
  json.end_array().key("line_own").begin_array();
  for (const auto& [line, value] : file.lines) json.value(value.own);
  json.end_array().key("line_inclusive").begin_array();
  for (const auto& [line, value] : file.lines) json.value(value.inclusive);
  json.end_array().key("text");
  const auto path = files.find(file.file);
  if (!path) {
    json.value(nullptr).end_object();
    return Answer::json(out.text());
  }
  FATHOM_TRY(Blob blob, map_file(*path));
  LineCursor text(std::move(blob));
  json.begin_array();
  std::size_t bytes = 0;
  bool cut = false;
  while (const auto line = text.next()) {
    bytes += line->size();
    cut = text.number() > kMostLines || bytes > kMostText;
    if (cut) break;
    write_text(json, *line);
  }
  json.end_array().member("cut", cut).end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
