// CubePL texts: compiled and evaluated on a profile of two contexts and two locations.
#include <cstdint>
#include <string>
#include <string_view>

#include "profile/compute.hpp"
#include "profile/cubepl/cubepl.hpp"

namespace {

class NoValues : public fathom::ValueSource {
 public:
  [[nodiscard]] fathom::Axis cheap_axis() const override { return fathom::Axis::context; }
  fathom::Result<void> scan(const fathom::Box&, const fathom::RunVisitor&) const override { return {}; }
};

fathom::ProfilePtr sample() {
  using namespace fathom;
  auto defs = std::make_shared<Definitions>();
  Metric time;
  time.name = "time";
  time.scopes = {{Scope::exclusive, {}}};
  defs->metrics.push_back(time);
  Region region;
  region.name = "main";
  defs->regions.push_back(region);
  ContextTreeBuilder builder;
  const auto root = builder.add(ContextTreeBuilder::kRoot, RegionId(0), 0);
  builder.add(root, RegionId(0), 1);
  defs->contexts = std::move(builder).build();
  for (std::uint64_t i = 0; i < 2; ++i) {
    SystemNode location;
    location.kind = SystemKind::location;
    location.file_id = i;
    defs->system.add_location(location);
  }
  auto profile = std::make_shared<Profile>();
  profile->definitions = std::move(defs);
  profile->values = std::make_shared<NoValues>();
  profile->work = make_work();
  // Few steps are enough to go everywhere, and endless loops must not eat the time.
  profile->work->options.set(fathom::expression::kMaxSteps, 20000);
  return profile;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fathom::ProfilePtr kProfile = sample();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto derivation = size % 2 == 0 ? fathom::Derivation::post : fathom::Derivation::pre_exclusive;
  const auto profile = fathom::cubepl::with_cubepl(kProfile, {"x", text, derivation, "", ""});
  if (!profile.ok()) return 0;
  (void)fathom::compute(**profile, (*profile)->defs().find_metric("x"),
                        {{fathom::Flavour::Kind::inclusive, {}}, {}, {0, 2}, true});
  return 0;
}
