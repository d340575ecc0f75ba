// Parallel loops. Bodies return Result<void>; the first error (lowest index seen) or a cancel ends the loop.
// How many threads there are and who may cancel is the execution of the thread that starts the loop.
#pragma once

#include <cstddef>
#include <functional>

#include "base/execution.hpp"
#include "base/result.hpp"
#include "base/text_buffer.hpp"

namespace fathom {

// Threads that loops started here may use (--threads).
inline unsigned thread_count() { return Execution::current().threads(); }

// body(begin, end) over blocks of at most `grain` indices covering [0, count).
// MT: body runs on several threads at once.
Result<void> parallel_blocks(std::size_t count, std::size_t grain,
                             const std::function<Result<void>(std::size_t, std::size_t)>& body);

// body(index) for every index of [0, count).
Result<void> parallel_for(std::size_t count, const std::function<Result<void>(std::size_t)>& body);

// Texts of [0, count) made in parallel and handed over in order; at most a few of them exist at a time. `emit` returns
// false when nobody reads any more, which ends the loop without an error.
// MT: make runs on several threads at once, emit on one at a time.
Result<void> parallel_texts(std::size_t count, const std::function<Result<void>(std::size_t, TextBuffer&)>& make,
                            const std::function<bool(std::string_view)>& emit);

}  // namespace fathom
