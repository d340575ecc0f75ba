#include "io/shared_output.hpp"

#include "base/pack.hpp"

namespace fathom {

Result<SharedOutput> SharedOutput::make(const std::function<Result<OutputSet>()>& make) {
  FATHOM_CHECK(team().assemble("output"));
  SharedOutput out;
  std::string path;
  if (team().first()) {
    FATHOM_TRY(OutputSet set, [&] {
      const TeamScope alone(nullptr);
      return make();
    }());
    path = std::filesystem::absolute(set.path()).string();
    out.path_ = set.path();
    out.set_.emplace(std::move(set));
  }
  FATHOM_TRY(const Parcel told, team().broadcast(packed(path)));
  FATHOM_TRY(path, unpacked<std::string>(told));
  if (!team().first()) out.path_ = path;
  return out;
}

Result<void> SharedOutput::all_written() {
  FATHOM_TRY(const auto everybody, team().sum({1}));
  (void)everybody;
  return first_goes_on();
}

}  // namespace fathom
