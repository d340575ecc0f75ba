#include "formats/run_members.hpp"

#include "formats/runs/runs_format.hpp"

namespace fathom {

Result<DatasetPtr> open_run_members(const std::vector<std::filesystem::path>& members, const Work& work) {
  return runs::open_members(members, work);
}

}  // namespace fathom
