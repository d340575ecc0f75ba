#include "formats/extrap/writers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/experiment_dataset.hpp"
#include "io/output_file.hpp"

namespace fathom::extrap {
namespace {

// What these forms lose is said once; an experiment that they cannot hold at all is refused.
Result<ExperimentPtr> experiment_for(Dataset& dataset, std::string_view form) {
  FATHOM_TRY(ExperimentPtr experiment, dataset.experiment());
  const Place place = Place::in(dataset.path().string());
  if (experiment->measurement_count() == 0) return Error("there are no measurements to be written", place);
  if (const auto models = dataset.models()) {
    std::uint64_t count = 0;
    for (const ModelSet& set : **models) count += set.models.size();
    if (count > 0) {
      FATHOM_CHECK(
          dataset.work()->diagnostics.lost("experiment.models_left_out", place,
                                           fmt::format("{} models in {} sets are left out: {} holds measurements only",
                                                       count, (*models)->size(), form)));
    }
  }
  const auto reps = experiment->repetitions();
  bool only_statistics = false;
  bool parts = false;
  for (std::size_t i = 0; i < experiment->measurement_count(); ++i) {
    only_statistics |= experiment->values(i).empty() && (reps[i] > 1 || experiment->deviations()[i] > 0);
    parts |= !experiment->values(i).empty() && experiment->values_that_tell_all(i).empty();
  }
  if (parts) {
    FATHOM_CHECK(dataset.work()->diagnostics.lost(
        "experiment.only_statistics", place,
        fmt::format("the single values are parts of a measurement (of ranks, threads), not repetitions; the mean is "
                    "written to {} in their place",
                    form)));
  }
  if (only_statistics) {
    FATHOM_CHECK(dataset.work()->diagnostics.warn(
        "experiment.only_statistics", place,
        fmt::format("the values of repetitions are not known; the mean is written to {} in their place", form)));
  }
  return experiment;
}

std::string number(double value) { return json_number(value); }

// A measurement's values as nested lists, or its mean.
void append_values(std::string& out, const Experiment& e, std::size_t measurement) {
  const auto values = e.values_that_tell_all(measurement);
  const auto shape = e.shape(measurement);
  if (values.empty()) {
    out += "[" + number(e.means()[measurement]) + "]";
    return;
  }
  std::size_t next = 0;
  const auto plain = [&](std::size_t count) {
    out += '[';
    for (std::size_t i = 0; i < count && next < values.size(); ++i) {
      if (i > 0) out += ',';
      out += number(values[next++]);
    }
    out += ']';
  };
  if (shape.empty()) return plain(values.size());
  std::vector<std::uint32_t> open;  // items still to come, per open list
  bool after_item = false;
  for (const ShapeToken token : shape) {
    if (after_item) out += ',';
    after_item = true;
    if (!open.empty()) --open.back();
    if (token == kNumber) {
      out += number(values[std::min(next, values.size() - 1)]);
      ++next;
    } else if (token % 2 == 0) {
      plain(token / 2);
    } else {
      out += '[';
      open.push_back(token / 2);
      after_item = false;
    }
    while (!open.empty() && open.back() == 0) {
      out += ']';
      open.pop_back();
      after_item = true;
    }
  }
}

}  // namespace

Result<void> write_text(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const ExperimentPtr e, experiment_for(dataset, "text"));
  for (const std::string& p : e->parameters()) {
    if (p.empty() || p.find_first_of(" \t\n\r") != std::string::npos) {
      return Error::usage(fmt::format("the text format cannot hold the parameter name '{}'", p))
          .hint("write JSON or .extra-p instead");
    }
  }
  for (const auto& set : e->point_sets()) {
    if (set.size() != e->point_count()) {
      return Error::usage("the text format cannot leave points out, and this experiment lacks some")
          .hint("write JSON, JSON Lines or .extra-p instead");
    }
  }
  const auto respelled = [](const std::vector<Named>& names) {
    return std::find_if(names.begin(), names.end(), [](const Named& n) { return text_spelling(n.name) != n.name; });
  };
  for (const auto* names : {&e->metrics(), &e->callpaths()}) {
    const auto found = respelled(*names);
    if (found == names->end()) continue;
    FATHOM_CHECK(dataset.work()->diagnostics.warn(
        "experiment.white_space", Place::in(dataset.path().string()),
        fmt::format("'{}': the text format holds one blank where a name has more white space", found->name)));
  }
  bool nested = false;
  for (std::size_t i = 0; i < e->measurement_count() && !nested; ++i) {
    nested = !e->shape(i).empty() && !e->values_that_tell_all(i).empty();
  }
  if (nested) {
    FATHOM_CHECK(dataset.work()->diagnostics.warn(
        "experiment.flattened", Place::in(dataset.path().string()),
        "values are nested (repetition, rank, thread); the text format holds them as one list"));
  }
  FATHOM_TRY(OutputFile file, OutputFile::create(target));
  FATHOM_CHECK(write_experiment_text(*e, [&](std::string_view text) {
    file.write(text);
    return true;
  }));
  return file.commit();
}

Result<void> write_json(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const ExperimentPtr e, experiment_for(dataset, "JSON"));
  FATHOM_TRY(OutputFile file, OutputFile::create(target));
  std::string out = "{\"parameters\":[";
  for (std::size_t i = 0; i < e->parameters().size(); ++i) {
    out += (i > 0 ? "," : "") + json_quote(e->parameters()[i]);
  }
  out += "],\"measurements\":{";
  // An object per call path, so all its series stand together.
  std::vector<std::vector<std::uint32_t>> of_callpath(e->callpaths().size());
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < e->series().size(); ++i) {
    auto& list = of_callpath[e->series()[i].callpath];
    if (list.empty()) order.push_back(e->series()[i].callpath);
    list.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t c = 0; c < order.size(); ++c) {
    out += (c > 0 ? ",\n" : "\n") + json_quote(e->callpaths()[order[c]].name) + ":{";
    bool first_metric = true;
    for (const std::uint32_t index : of_callpath[order[c]]) {
      const Series& s = e->series()[index];
      out += (first_metric ? "" : ",\n ") + json_quote(e->metrics()[s.metric].name) + ":[";
      first_metric = false;
      const auto points = e->points_of(s);
      for (std::size_t k = 0; k < points.size(); ++k) {
        out += k > 0 ? ",{\"point\":[" : "{\"point\":[";
        const auto point = e->point(points[k]);
        for (std::size_t p = 0; p < point.size(); ++p) out += (p > 0 ? "," : "") + number(point[p]);
        out += "],\"values\":";
        append_values(out, *e, s.first + k);
        out += '}';
      }
      out += ']';
    }
    out += '}';
    if (out.size() > (1 << 16)) {
      file.write(out);
      out.clear();
    }
  }
  out += "}}\n";
  file.write(out);
  return file.commit();
}

Result<void> write_json_lines(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const ExperimentPtr e, experiment_for(dataset, "JSON Lines"));
  FATHOM_TRY(OutputFile file, OutputFile::create(target));
  std::string out;
  for (const Series& s : e->series()) {
    const std::string names = ",\"callpath\":" + json_quote(e->callpaths()[s.callpath].name) +
                              ",\"metric\":" + json_quote(e->metrics()[s.metric].name) + ",\"value\":";
    const auto points = e->points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) {
      out += "{\"params\":{";
      const auto point = e->point(points[k]);
      for (std::size_t p = 0; p < point.size() && p < e->parameters().size(); ++p) {
        out += (p > 0 ? "," : "") + json_quote(e->parameters()[p]) + ":" + number(point[p]);
      }
      out += "}" + names;
      append_values(out, *e, s.first + k);
      out += "}\n";
    }
    if (out.size() > (1 << 16)) {
      file.write(out);
      out.clear();
    }
  }
  file.write(out);
  return file.commit();
}

}  // namespace fathom::extrap
