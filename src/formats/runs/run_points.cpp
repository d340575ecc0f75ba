#include "formats/runs/run_points.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/registry.hpp"
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

// What programs call the parameters of a run; Caliper and Adiak write them into every profile.
constexpr std::string_view kParameterAttributes[] = {"jobsize",         "mpi.world.size", "problem_size",
                                                     "problem size",    "iterations",     "num_threads",
                                                     "omp.num_threads", "threads",        "size"};

// Those of one dataset, by their place in the list above.
Result<std::vector<std::optional<double>>> parameters_of(const fs::path& path, const Work& work) {
  const Work own = make_work(false, work->budget.limit());
  own->options = work->options;
  FATHOM_TRY(const DatasetPtr dataset, open_dataset(path, own));
  FATHOM_TRY(const std::vector<InfoEntry> entries, dataset->describe(false));
  std::vector<std::optional<double>> out(std::size(kParameterAttributes));
  for (const InfoEntry& entry : entries) {
    const auto* list = std::get_if<std::vector<std::string>>(&entry.value);
    if (entry.key != "attributes" || list == nullptr) continue;
    for (const std::string_view attribute : *list) {
      const std::size_t at = std::min(attribute.find('='), attribute.size() - 1);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (attribute.substr(0, at) == kParameterAttributes[i]) out[i] = parse_double(trim(attribute.substr(at + 1)));
      }
    }
  }
  return out;
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

// A word that numbers runs rather than naming what changes between them, or ends in a separator.
bool says_nothing(std::string_view name) {
  if (name.ends_with('_') || name.ends_with('-') || name.ends_with(' ')) return true;
  constexpr std::string_view kWords[] = {"run", "rep", "job", "test", "trial", "exp", "experiment", "profile", "trace"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return equal_ignoring_case(word, name); });
}

// Of two programs, or of one built in two ways: their values would be taken for repetitions.
Result<void> tell_of_other_names(const std::vector<std::string>& names, FirstPart first, const fs::path& where,
                                 const Work& work) {
  const std::string* known = &names.front();  // with a prefix, where there is one
  NameFrame frame = frame_of(*known, first);
  for (const std::string& name : names) {
    NameFrame here = frame_of(name, first);
    const bool other_prefix = !here.prefix.empty() && !frame.prefix.empty() && here.prefix != frame.prefix;
    if (other_prefix || here.behind != frame.behind) {
      return work->diagnostics.warn(
          "runs.other_names", Place::in(where.string()),
          fmt::format("the names '{}' and '{}' differ in more than parameters and the repetition; that is not looked "
                      "at, runs with the same parameters count as repetitions",
                      *known, name));
    }
    if (!frame.prefix.empty()) continue;
    known = &name;
    frame = std::move(here);
  }
  return {};
}

}  // namespace

Result<void> points_by_name(RunList& list, const fs::path& where, const Work& work) {
  std::vector<std::string> names;
  for (const Member& member : list.members) {
    names.push_back(member.run);
    std::replace(names.back().begin(), names.back().end(), '/', '.');
  }
  const FirstPart first = first_part_of(names);
  if (first == FirstPart::parameter) {
    work->diagnostics.info(
        "runs.no_prefix", Place::in(where.string()),
        fmt::format("names like '{}' are taken to begin with a parameter, not with a prefix", names.front()));
  }
  for (std::size_t i = 0; i < list.members.size(); ++i) {
    const Member& m = list.members[i];
    auto point = parse_run_name(names[i], first);
    if (!point) return std::move(point).error().where(Place::in(m.path.parent_path().string()));
    if (list.points.empty()) {
      list.parameters = point->names;
      if (point->names.front() == "scorep-") {
        FATHOM_CHECK(work->diagnostics.warn("runs.default_names", Place::in(where.string()),
                                            "no parameter names were detected: these are Score-P's default names"));
      } else if (const auto odd = std::find_if(point->names.begin(), point->names.end(), says_nothing);
                 odd != point->names.end()) {
        FATHOM_CHECK(work->diagnostics.warn(
            "runs.unlikely_parameter", Place::in(where.string()),
            fmt::format("'{}' is read as the parameter '{}'; if that only numbers the runs, name them like "
                        "app.p8.n100.r1 (parameters and repetition), or list them with their parameters in {}",
                        m.run, *odd, kListName)));
      }
    } else if (point->names != list.parameters) {
      return Error(fmt::format("Parameters must be the same and in the same order: {} is not {}.",
                               list_text(list.parameters), list_text(point->names)),
                   Place::in(m.path.parent_path().string()))
          .hint(fmt::format("rename '{}', or move it elsewhere", m.run));
    }
    list.points.push_back(std::move(point->values));
  }
  FATHOM_CHECK(tell_of_other_names(names, first, where, work));
  drop_constant_parameters(list);
  return {};
}

bool names_its_point(const fs::path& path, const Work& work) {
  const auto found = parameters_of(path, work);
  return found.ok() && std::any_of(found->begin(), found->end(), [](const auto& value) { return value.has_value(); });
}

Result<bool> points_by_attributes(RunList& list, const Work& work) {
  std::vector<std::vector<std::optional<double>>> values(list.members.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A run that cannot be read is told when it is collected.
    auto found = parameters_of(list.members[i].path, work);
    if (!found.ok()) return false;
    values[i] = std::move(*found);
  }
  list.parameters.clear();
  list.points.assign(list.members.size(), {});
  std::vector<std::size_t> taken;
  for (std::size_t p = 0; p < std::size(kParameterAttributes); ++p) {
    const auto known = [&](const auto& run) { return run[p].has_value(); };
    if (!std::all_of(values.begin(), values.end(), known)) continue;
    // Two names for the same thing are one parameter.
    const bool again = std::any_of(taken.begin(), taken.end(), [&](std::size_t other) {
      return std::all_of(values.begin(), values.end(), [&](const auto& run) { return run[p] == run[other]; });
    });
    if (again) continue;
    taken.push_back(p);
    list.parameters.emplace_back(kParameterAttributes[p]);
    for (std::size_t i = 0; i < values.size(); ++i) list.points[i].push_back(*values[i][p]);
  }
  drop_constant_parameters(list);
  return !list.parameters.empty();
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
