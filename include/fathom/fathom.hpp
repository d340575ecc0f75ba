// The public C++ API of Fathom: open any dataset and work with its levels and tables.
//
//   auto dataset = fathom::open("run.cubex", {.threads = 4});
//   if (!dataset) return fail(dataset.error().text());
//   auto profile = dataset->profile();
//   auto totals = profile->totals(*profile->find_metric("time"), fathom::api::Flavour::exclusive);
//
// Only the headers of this folder belong to it; fathom.h is the same for C and other languages. Native records of one
// format: dumpi.hpp, ovni.hpp, hpctoolkit.hpp.
#pragma once

#include <fathom/export.h>

#include <fathom/dataset.hpp>
#include <fathom/error.hpp>
#include <fathom/model.hpp>
#include <fathom/options.hpp>
#include <fathom/profile.hpp>
#include <fathom/table.hpp>
#include <fathom/trace.hpp>
