// Work in three steps that overlap: batches are made in order, worked on in parallel, and taken in order.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.hpp"

namespace fathom {

// `slots` buffers go round; the caller owns what slot i holds and all three functions are told which one to use.
//   make(slot): fills it; false when this is the last one.     One call at a time, in order.
//   work(slot): anything that needs no order.                  MT: several slots at once.
//   take(slot): uses the result; false stops everything early. One call at a time, in the order of make.
// The first error ends the run and is returned; what was made before an error of make still goes through. Results do
// not depend on the number of threads.
Result<void> run_pipeline(std::size_t slots, const std::function<Result<bool>(std::size_t)>& make,
                          const std::function<Result<void>(std::size_t)>& work,
                          const std::function<Result<bool>(std::size_t)>& take);

}  // namespace fathom
