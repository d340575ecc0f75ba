#include "formats/runs/run_points.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/runs/run_names.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"

namespace fathom::runs {
namespace {

namespace fs = std::filesystem;

std::string list_text(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& n : names) out += (out.size() > 1 ? ", '" : "'") + n + "'";
  return out + "]";
}

void drop_constant_parameters(RunList& list) {
  for (std::size_t p = list.parameters.size(); p-- > 0;) {
    const bool varies = std::any_of(list.points.begin(), list.points.end(),
                                    [&](const auto& values) { return values[p] != list.points.front()[p]; });
    if (varies) continue;
    list.parameters.erase(list.parameters.begin() + static_cast<std::ptrdiff_t>(p));
    for (auto& values : list.points) values.erase(values.begin() + static_cast<std::ptrdiff_t>(p));
  }
}

// Fields of a line of CSV; quotes as in RFC 4180, without line breaks inside.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

}  // namespace

Result<void> points_by_name(RunList& list, const fs::path& where, const Work& work) {
  std::vector<std::string> names;
  for (const Member& member : list.members) names.push_back(member.run);
  const FirstPart first = first_part_of(names);
  if (first == FirstPart::parameter) {
    work->diagnostics.info(
        "runs.no_prefix", Place::in(where.string()),
        fmt::format("names like '{}' are taken to begin with a parameter, not with a prefix", names.front()));
  }
  for (const Member& m : list.members) {
    auto point = parse_run_name(m.run, first);
    if (!point) return std::move(point).error().where(Place::in(m.path.parent_path().string()));
    if (list.points.empty()) {
      list.parameters = point->names;
      if (point->names.front() == "scorep-") {
        FATHOM_CHECK(work->diagnostics.warn("runs.default_names", Place::in(where.string()),
                                            "no parameter names were detected: these are Score-P's default names"));
      }
    } else if (point->names != list.parameters) {
      return Error(fmt::format("Parameters must be the same and in the same order: {} is not {}.",
                               list_text(list.parameters), list_text(point->names)),
                   Place::in(m.path.parent_path().string()))
          .hint(fmt::format("rename '{}', or move it elsewhere", m.run));
    }
    list.points.push_back(std::move(point->values));
  }
  drop_constant_parameters(list);
  return {};
}

Result<RunList> points_by_list(const fs::path& directory, const Work& work) {
  FATHOM_TRY(const Blob blob, open_file(directory / kListName, work));
  LineCursor lines(blob);
  RunList list;
  bool header = true;
  while (const auto line = lines.next()) {
    const std::string_view text = trim(*line);
    if (text.empty() || text.front() == '#') continue;
    auto fields = csv_fields(text);
    if (header) {
      header = false;
      if (fields.size() < 2 || !equal_ignoring_case(fields.front(), "path")) {
        return Error("expected the header 'path' and then the names of the parameters", lines.place());
      }
      list.parameters.assign(fields.begin() + 1, fields.end());
      continue;
    }
    if (fields.size() != list.parameters.size() + 1) {
      return Error(fmt::format("expected a path and {} values, found {}", list.parameters.size(), fields.size() - 1),
                   lines.place());
    }
    std::vector<double> point;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const auto value = parse_double(fields[i]);
      if (!value) {
        return Error(fmt::format("'{}' is no value of the parameter '{}'", fields[i], list.parameters[i - 1]),
                     lines.place());
      }
      point.push_back(*value);
    }
    const fs::path path = fields.front();
    list.members.push_back({path.is_absolute() ? path : directory / path, path.string()});
    list.points.push_back(std::move(point));
  }
  if (list.members.empty()) return Error("names no runs", blob.place());
  drop_constant_parameters(list);
  return list;
}

}  // namespace fathom::runs
