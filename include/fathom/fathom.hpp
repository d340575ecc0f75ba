// The public C++ API of Fathom: open any dataset and work with its levels.
//
//   auto dataset = fathom::open("run.cubex");
//   if (!dataset) return fail(dataset.error().text());
//   auto profile = (*dataset)->profile();
//   auto cells = fathom::compute(**profile, metric, selection);
//
// Functions that can fail return fathom::Result<T>; nothing throws, nothing prints. What was noticed while reading and
// did not stop it is in dataset->work()->diagnostics.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "base/work.hpp"
#include "defs/definitions.hpp"
#include "experiment/experiment.hpp"
#include "formats/registry.hpp"
#include "model/model.hpp"
#include "profile/compute.hpp"
#include "trace/merge.hpp"
#include "trace/trace.hpp"

namespace fathom {

// Opens a file or directory as what it is recognised to be; `strict` makes every defect an error.
inline Result<DatasetPtr> open(const std::filesystem::path& path, bool strict = false) {
  return open_dataset(path, make_work(strict));
}

}  // namespace fathom
