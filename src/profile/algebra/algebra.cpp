#include "profile/algebra/algebra.hpp"

#include "profile/algebra/mapping.hpp"
#include "profile/algebra/unite.hpp"

namespace fathom::algebra {

namespace {

std::vector<Part> parts_of(const Inputs& inputs, std::vector<Mapping> mappings) {
  std::vector<Part> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) out.push_back({inputs[i], std::move(mappings[i])});
  return out;
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

Result<void> check_inputs(const Inputs& inputs) {
  if (inputs.empty()) return Error::usage("no profiles to work on");
  return success();
}

}  // namespace

Result<ProfilePtr> diff(const ProfilePtr& a, const ProfilePtr& b, const Options& options) {
  const Inputs inputs{a, b};
  FATHOM_TRY(United united, unite(inputs, options.system));
  for (Metric& metric : united.definitions.metrics) metric.type = signed_type(metric.type);
  return combine(std::move(united.definitions), parts_of(inputs, std::move(united.mappings)), Rule::difference);
}

Result<ProfilePtr> merge(const Inputs& inputs, const Options& options) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, options.system));
  return combine(std::move(united.definitions), parts_of(inputs, std::move(united.mappings)), Rule::last);
}

Result<ProfilePtr> mean(const Inputs& inputs, const Options& options) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, options.system));
  for (Metric& metric : united.definitions.metrics) {
    if (metric.type.is_integer()) metric.type = {ValueKind::f64, 0};
  }
  return combine(std::move(united.definitions), parts_of(inputs, std::move(united.mappings)), Rule::mean);
}

Result<ProfilePtr> join_locations(const Inputs& inputs) {
  FATHOM_CHECK(check_inputs(inputs));
  FATHOM_TRY(United united, unite(inputs, SystemMatch::strict, true));
  return combine(std::move(united.definitions), parts_of(inputs, std::move(united.mappings)), Rule::last);
}

}  // namespace fathom::algebra
