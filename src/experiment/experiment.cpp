#include "experiment/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {

std::string_view to_string(Scaling scaling) {
  switch (scaling) {
    case Scaling::none:
      return "";
    case Scaling::weak:
      return "weak";
    case Scaling::weak_threaded:
      return "weak_threaded";
    case Scaling::strong:
      return "strong";
  }
  return "";
}

std::string_view to_string(Measure measure) {
  switch (measure) {
    case Measure::mean:
      return "mean";
    case Measure::median:
      return "median";
    case Measure::minimum:
      return "minimum";
    case Measure::maximum:
      return "maximum";
  }
  return "";
}

const std::string* find_tag(const Tags& tags, std::string_view key) {
  for (const auto& [k, value] : tags) {
    if (k == key) return &value;
  }
  return nullptr;
}

std::int64_t Experiment::find_series(std::uint32_t callpath, std::uint32_t metric) const {
  const std::uint64_t pair = std::uint64_t{callpath} << 32 | metric;
  const auto found = std::lower_bound(by_pair_.begin(), by_pair_.end(), std::pair{pair, std::uint32_t{0}});
  return found == by_pair_.end() || found->first != pair ? -1 : static_cast<std::int64_t>(found->second);
}

std::span<const double> Experiment::measure(Measure measure) const {
  switch (measure) {
    case Measure::mean:
      return mean_;
    case Measure::median:
      return median_;
    case Measure::minimum:
      return minimum_;
    case Measure::maximum:
      return maximum_;
  }
  return mean_;
}

namespace {

// Tokens of the list that starts at `at`, itself included, and how many numbers it holds. Tokens were written by us.
struct ListExtent {
  std::size_t tokens = 0;
  std::size_t numbers = 0;
};
ListExtent extent(std::span<const ShapeToken> shape, std::size_t at) {
  ListExtent result;
  std::uint64_t open = 1;
  while (open > 0 && at + result.tokens < shape.size()) {
    const ShapeToken token = shape[at + result.tokens++];
    --open;
    if (token == kNumber) {
      ++result.numbers;
    } else if (token % 2 == 0) {
      result.numbers += token / 2;
    } else {
      open += token / 2;
    }
  }
  return result;
}

}  // namespace

std::span<const ShapeToken> Experiment::shape(std::size_t measurement) const {
  const auto found =
      std::lower_bound(shape_of_.begin(), shape_of_.end(), std::pair<std::uint64_t, std::uint64_t>{measurement, 0});
  if (found == shape_of_.end() || found->first != measurement) return {};
  const std::span<const ShapeToken> rest = std::span(shapes_).subspan(found->second);
  return rest.first(extent(rest, 0).tokens);
}

std::span<const double> Experiment::values_that_tell_all(std::size_t measurement) const {
  const std::span<const double> all = values(measurement);
  double sum = 0;
  std::size_t count = 0;
  for (const double value : all) {
    if (std::isnan(value)) continue;  // ragged lists are filled up with these
    sum += value;
    ++count;
  }
  if (count == 0) return all;
  const double mean = sum / static_cast<double>(count);
  constexpr double kRounding = 1e-9;  // of sums in another order
  const bool same = !(std::abs(mean - mean_[measurement]) > kRounding * std::abs(mean));
  return same ? all : std::span<const double>();
}

std::vector<double> Experiment::repetition_means(std::size_t measurement) const {
  const auto all = values(measurement);
  const auto nesting = shape(measurement);
  if (nesting.size() <= 1) return {all.begin(), all.end()};
  std::vector<double> means;
  std::size_t value = 0;
  for (std::size_t at = 1; at < nesting.size();) {
    const ListExtent item = extent(nesting, at);
    double sum = 0;
    for (std::size_t i = 0; i < item.numbers; ++i) sum += all[value + i];
    if (item.numbers > 0) means.push_back(sum / static_cast<double>(item.numbers));
    value += item.numbers;
    at += item.tokens;
  }
  return means;
}

std::string python_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // fmt gives the shortest digits that read back; Python's layout of them is its own.
  const std::string shortest = fmt::format("{}", value);
  std::string mantissa;
  int exponent = 0;
  bool negative = false;
  {
    std::string_view text = shortest;
    if (text.starts_with('-')) {
      negative = true;
      text.remove_prefix(1);
    }
    int shift = 0;
    if (const auto e = text.find('e'); e != std::string_view::npos) {
      shift = std::stoi(std::string(text.substr(e + 1)));
      text = text.substr(0, e);
    }
    const auto dot = text.find('.');
    const std::string whole(text.substr(0, dot));
    mantissa = whole + (dot == std::string_view::npos ? "" : std::string(text.substr(dot + 1)));
    exponent = static_cast<int>(whole.size()) - 1 + shift;
    const auto lead = mantissa.find_first_not_of('0');
    if (lead == std::string::npos) return negative ? "-0.0" : "0.0";
    exponent -= static_cast<int>(lead);
    mantissa.erase(0, lead);
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
  }
  const int count = static_cast<int>(mantissa.size());
  std::string out = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    out += mantissa[0];
    if (count > 1) out += "." + mantissa.substr(1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + mantissa;
  if (count <= exponent + 1) {
    return out + mantissa + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  }
  const auto point = static_cast<std::size_t>(exponent) + 1;
  return out + mantissa.substr(0, point) + "." + mantissa.substr(point);
}

std::string point_text(std::span<const double> coordinates) {
  std::string out = "(";
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    if (i > 0) out += ", ";
    out += python_number(coordinates[i]);
  }
  return out + (coordinates.size() == 1 ? ",)" : ")");
}

Result<void> validate(const Experiment& experiment, bool allow_incomplete) {
  const Place place = Place::in(experiment.name());
  const auto invalid = [&](std::string what) { return Error(std::move(what), place); };
  if (experiment.parameters().empty()) {
    return invalid("Parameters are missing.")
        .hint("an experiment needs at least one parameter, e.g. the process count");
  }
  if (experiment.point_count() == 0) {
    return invalid("Coordinates are missing.")
        .hint(
            "no measurement point is given; where all call paths were left out, --allow-incomplete keeps those that "
            "do not occur everywhere");
  }
  if (experiment.metrics().empty()) return invalid("Metrics are missing.").hint("no metric has data");
  if (experiment.callpaths().empty()) {
    return invalid("Callpaths are missing.").hint("name the code that was measured before its data");
  }
  if (experiment.call_tree().nodes[0].children.empty()) return invalid("Calltree is missing.");
  const std::size_t count = experiment.parameters().size();
  for (std::size_t i = 0; i < experiment.point_count(); ++i) {
    if (experiment.point(i).size() == count) continue;
    return invalid(fmt::format("The number of coordinate units of {} does not match the number of parameters ({}).",
                               point_text(experiment.point(i)), count))
        .hint("every point needs one number per parameter");
  }
  if (allow_incomplete) return {};
  for (const Series& series : experiment.series()) {
    const auto points = experiment.points_of(series);
    if (points.size() == experiment.point_count()) continue;
    const Named& callpath = experiment.callpaths()[series.callpath];
    const Named& metric = experiment.metrics()[series.metric];
    if (find_tag(callpath.tags, "validation__ignore__num_measurements") != nullptr ||
        find_tag(metric.tags, "validation__ignore__num_measurements") != nullptr) {
      continue;
    }
    std::vector<bool> seen(experiment.point_count(), false);
    for (const std::uint32_t p : points) seen[p] = true;
    const auto missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
    auto error = invalid(
        fmt::format("The number of measurements ({}) for (Callpath({}), Metric({})) does not match the number of "
                    "coordinates ({}).",
                    points.size(), callpath.name, metric.name, experiment.point_count()));
    if (static_cast<std::size_t>(missing) < experiment.point_count()) {
      return std::move(error).hint(
          fmt::format("the point {} has no value; add it, or give --allow-incomplete to model what is there",
                      point_text(experiment.point(static_cast<std::size_t>(missing)))));
    }
    return std::move(error).hint("a point is given more than once; put its values into one list of repetitions");
  }
  return {};
}

}  // namespace fathom
