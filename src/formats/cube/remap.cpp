#include "formats/cube/remap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/cube/cube_dataset.hpp"
#include "formats/cube/to_profile.hpp"
#include "profile/algebra/mapping.hpp"
#include "profile/cubepl/type_names.hpp"

namespace fathom::cube {

namespace {

constexpr const char* kSpecName = "remapping.spec";

// A metric that is stored, or was to be: the input says how, the spec what it is called.
Metric stored_metric(Metric declared, const AnchorMetric& spec, const Metric* input) {
  if (input == nullptr) {
    declared.type = cubepl::parse_dtype(spec.dtype).value_or(ValueType{ValueKind::f64, 0});
    return declared;
  }
  declared.type = input->type;
  declared.scopes = input->scopes;
  declared.derivation = input->derivation;
  declared.expression = input->expression;
  declared.unusable = input->unusable;
  declared.switched_off = declared.switched_off || input->switched_off;
  return declared;
}

}  // namespace

Result<ProfilePtr> remap(const ProfilePtr& profile, const Blob& spec) {
  FATHOM_TRY(const Anchor anchor, read_metrics_spec(spec, profile->work));
  const Definitions& input = profile->defs();
  Definitions defs = input;
  defs.metrics.clear();
  algebra::Mapping mapping = algebra::Mapping::identity(input);
  std::fill(mapping.metrics.begin(), mapping.metrics.end(), MetricId());
  std::map<MetricId, cubepl::Source> sources;
  for (const AnchorMetric& metric : anchor.metrics) {
    const MetricId id(defs.metrics.size());
    Metric declared = describe(metric);
    if (defs.find_metric(declared.name).valid()) {
      return Error(fmt::format("metric '{}' is declared twice", declared.name), Place::in(spec.name()));
    }
    if (declared.derived()) {
      declared.type = {ValueKind::f64, 0};
      sources.emplace(id, cubepl_source(metric));
    } else {
      const MetricId from = input.find_metric(declared.name);
      declared = stored_metric(std::move(declared), metric, from.valid() ? &input.metric(from) : nullptr);
      if (from.valid()) mapping.metrics[from.index()] = id;
    }
    if (declared.parent.valid() && defs.metric(declared.parent).switched_off) declared.switched_off = true;
    defs.metrics.push_back(std::move(declared));
  }
  for (std::size_t i = 0; i < input.metrics.size(); ++i) {
    if (defs.find_metric(input.metrics[i].name).valid()) continue;
    Metric rest = input.metrics[i];
    if (rest.parent.valid()) rest.parent = defs.find_metric(input.metric(rest.parent).name);
    rest.file_id = defs.metrics.size();
    mapping.metrics[i] = MetricId(defs.metrics.size());
    defs.metrics.push_back(std::move(rest));
  }
  for (const std::string& mirror : anchor.mirrors) {
    if (std::find(defs.mirrors.begin(), defs.mirrors.end(), mirror) == defs.mirrors.end()) {
      defs.mirrors.push_back(mirror);
    }
  }
  const ProfilePtr combined = algebra::combine(defs, {{profile, std::move(mapping)}}, algebra::Rule::last);
  auto out = std::make_shared<Profile>(*combined);
  FATHOM_CHECK(cubepl::add_programs(defs, *out, sources));
  out->definitions = std::make_shared<const Definitions>(std::move(defs));
  return ProfilePtr(std::move(out));
}

Result<Blob> stored_spec(const Dataset& dataset) {
  if (const auto* cube = dynamic_cast<const CubeDataset*>(&dataset)) {
    for (const TarMember* member : cube->file().extra_members()) {
      if (member->name == kSpecName) return member->content;
    }
  }
  return Error::usage(fmt::format("'{}' holds no {}", dataset.path().string(), kSpecName))
      .hint("--spec FILE names one; Score-P installs remapping.spec");
}

}  // namespace fathom::cube
