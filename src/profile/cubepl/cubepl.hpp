// Derived Cube metrics: their CubePL texts become programs of the profile.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/expression/derive.hpp"
#include "profile/expression/program.hpp"
#include "profile/profile.hpp"

namespace fathom::cubepl {

// The texts that make one metric.
struct Source {
  std::string value;
  std::vector<std::string> init;
  std::string plus;
  std::string minus;
  std::string aggregate;
};

// Compiles the derived metrics of a profile that is being made and adds the metrics that their texts define. A metric
// whose text cannot be compiled becomes unusable, with a diagnostic that names the character.
Result<void> add_programs(Definitions& defs, Profile& profile, const std::map<MetricId, Source>& sources);

// --cubepl 'name = text' and `derive --cubepl`: the profile with one more metric, and those that its text defines.
Result<ProfilePtr> with_cubepl(const ProfilePtr& profile, const DerivedMetric& metric);
// With all of these, each of which may use those before it; what they do not say is as in the pattern.
Result<ProfilePtr> with_cubepl(const ProfilePtr& profile, std::span<const std::string> definitions,
                               const DerivedMetric& pattern = {});

// A program of any front end as CubePL text, for writing it into a Cube file; an error where CubePL has no words for
// it.
Result<std::string> to_text(const expression::Tree& tree);

}  // namespace fathom::cubepl
