#include "base/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "base/cancel.hpp"

namespace fathom {

namespace {
std::unique_ptr<tbb::global_control> g_control;
unsigned g_threads = 0;
}  // namespace

void set_thread_count(unsigned count) {
  g_control.reset();
  g_threads = count;
  if (count > 0) {
    g_control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
  }
}

unsigned thread_count() {
  return g_threads > 0 ? g_threads : static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()));
}

Result<void> parallel_blocks(std::size_t count, std::size_t grain,
                             const std::function<Result<void>(std::size_t, std::size_t)>& body) {
  if (count == 0) return {};
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t blocks = (count + grain - 1) / grain;
  std::mutex mutex;
  std::optional<Error> first;
  std::size_t first_block = blocks;
  tbb::task_group_context context;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, blocks),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t block = range.begin(); block != range.end(); ++block) {
          if (context.is_group_execution_cancelled()) return;
          const std::size_t begin = block * grain;
          auto status = cancelled() ? Result<void>(cancelled_error()) : body(begin, std::min(begin + grain, count));
          if (status.ok()) continue;
          const std::scoped_lock lock(mutex);
          if (block < first_block) {
            first_block = block;
            first = std::move(status).error();
          }
          context.cancel_group_execution();
          return;
        }
      },
      tbb::auto_partitioner(), context);
  if (first) return std::move(*first);
  return {};
}

Result<void> parallel_for(std::size_t count, const std::function<Result<void>(std::size_t)>& body) {
  return parallel_blocks(count, 1, [&](std::size_t begin, std::size_t) { return body(begin); });
}

}  // namespace fathom
