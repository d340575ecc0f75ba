#include "profile/algebra/algebra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.hpp"
#include "profile/algebra/mapping.hpp"
#include "profile/algebra/unite.hpp"
#include "profile/expression/program.hpp"

namespace fathom::algebra {

namespace {

bool name_call_paths(const Profile& profile) {
  return std::any_of(profile.programs.begin(), profile.programs.end(),
                     [](const auto& entry) { return names_call_paths(*entry.second); });
}

// Expressions name call paths by the ids of their file. Where those of several inputs do, the first one's ids stay.
Result<void> report_other_ids(const Profile& input, const Mapping& mapping, const Profile& result,
                              std::set<MetricId>& known) {
  std::string names;
  for (const auto& [metric, program] : input.programs) {
    const MetricId to = mapping.metrics[metric.index()];
    if (!known.insert(to).second || !result.defs().metric(to).derived() || !names_call_paths(*program)) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", result.defs().metric(to).name);
  }
  const ContextTree& from = input.defs().contexts;
  bool same = true;
  for (std::size_t i = 0; i < mapping.contexts.size() && same; ++i) {
    same = from[ContextId(i)].file_id == result.defs().contexts[mapping.contexts[i]].file_id;
  }
  if (names.empty() || same) return success();
  return input.work->diagnostics.lost(
      "profile.other_callpath_ids", Place::in(input.name),
      fmt::format("the expressions of {} name call paths by ids that mean others in the result", names));
}

std::vector<Part> parts_of(const Inputs& inputs, std::vector<Mapping> mappings) {
  std::vector<Part> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) out.push_back({inputs[i], std::move(mappings[i])});
  return out;
}

Result<ProfilePtr> combined(const Inputs& inputs, United united, Rule rule) {
  std::vector<Mapping> mappings(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    mappings[k].metrics = united.mappings[k].metrics;
    if (name_call_paths(*inputs[k])) mappings[k].contexts = united.mappings[k].contexts;
  }
  ProfilePtr result = combine(std::move(united.definitions), parts_of(inputs, std::move(united.mappings)), rule);
  std::set<MetricId> known;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    FATHOM_CHECK(report_other_ids(*inputs[k], mappings[k], *result, known));
  }
  return result;
}

// A mean of two runs, one of which did not measure it, is half of what the other measured.
Result<void> report_missing(const Inputs& inputs, const United& united) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& known = united.mappings[k].metrics;
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < united.definitions.metrics.size(); ++i) {
      const Metric& metric = united.definitions.metrics[i];
      const bool counts = !metric.derived() && !metric.scopes.empty() && !metric.switched_off;
      if (counts && std::find(known.begin(), known.end(), MetricId(i)) == known.end()) missing.push_back(metric.name);
    }
    if (missing.empty()) continue;
    FATHOM_CHECK(inputs[k]->work->diagnostics.add(
        "profile.metric_missing", Severity::warning, Place::in(inputs[k]->name),
        fmt::format("metrics are not there and count as 0 in the mean: {}", some_of(missing)), missing.size()));
  }
  return success();
}

ValueType signed_type(ValueType type) {
  switch (type.kind) {
    case ValueKind::u8:
      return {ValueKind::i8, 0};
    case ValueKind::u16:
      return {ValueKind::i16, 0};
    case ValueKind::u32:
      return {ValueKind::i32, 0};
    case ValueKind::u64:
      return {ValueKind::i64, 0};
    case ValueKind::min_f64:
    case ValueKind::max_f64:
      return {ValueKind::f64, 0};
    default:
      return type;
  }
}

// How often something was seen cannot be less than never, and a histogram holds no more than that.
bool has_difference(ValueType type) { return type.kind != ValueKind::atomic && type.kind != ValueKind::histogram; }

Result<void> check_inputs(const Inputs& inputs) {
  if (inputs.empty()) return Error::usage("no profiles to work on");
  return success();
}

}  // namespace

Result<ProfilePtr> diff(const ProfilePtr& a, const ProfilePtr& b, const Options& options) {
  const Inputs inputs{a, b};
  FATHOM_TRY(United united, unite(inputs, options.system));
  std::vector<std::string> without;
  for (Metric& metric : united.definitions.metrics) {
    metric.type = signed_type(metric.type);
    if (has_difference(metric.type) || metric.scopes.empty()) continue;
    metric.scopes.clear();
    without.push_back(fmt::format("{} ({})", metric.name, metric.type.text()));
  }
  if (!without.empty()) {
    FATHOM_CHECK(a->work->diagnostics.add(
        "profile.no_difference", Severity::data_loss, Place::in(a->name),
        fmt::format("metrics are left without values, as theirs have no difference: {}", fmt::join(without, ", ")),
        without.size()));
  }
  return combined(inputs, std::move(united), Rule::difference);
}

Result<ProfilePtr> merge(const Inputs& inputs, const Options& options) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, options.system));
  return combined(inputs, std::move(united), Rule::last);
}

Result<ProfilePtr> mean(const Inputs& inputs, const Options& options) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, options.system));
  FATHOM_CHECK(report_missing(inputs, united));
  for (Metric& metric : united.definitions.metrics) {
    if (metric.type.is_integer()) metric.type = {ValueKind::f64, 0};
  }
  return combined(inputs, std::move(united), Rule::mean);
}

Result<ProfilePtr> join_locations(const Inputs& inputs) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, SystemMatch::strict, true));
  return combined(inputs, std::move(united), Rule::last);
}

}  // namespace fathom::algebra
