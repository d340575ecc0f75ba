#include "base/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/cancel.hpp"
#include "base/self_profile.hpp"
#include "base/team.hpp"

namespace fathom {

Result<void> parallel_blocks(std::size_t count, std::size_t grain,
                             const std::function<Result<void>(std::size_t, std::size_t)>& body) {
  if (count == 0) return {};
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t blocks = (count + grain - 1) / grain;
  std::mutex mutex;
  std::optional<Error> first;
  std::size_t first_block = blocks;
  tbb::task_group_context context;
  const Execution& execution = Execution::current();
  const PhaseHandover phase;
  const auto blocks_of = [&](const tbb::blocked_range<std::size_t>& range) {
    const ExecutionScope scope(execution);
    const HandedPhase handed(phase);
    const TeamScope alone(nullptr);
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
  };
  execution.run([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks), blocks_of, tbb::auto_partitioner(), context);
  });
  if (first) return std::move(*first);
  return {};
}

Result<void> parallel_for(std::size_t count, const std::function<Result<void>(std::size_t)>& body) {
  return parallel_blocks(count, 1, [&](std::size_t begin, std::size_t) { return body(begin); });
}

Result<void> parallel_texts(std::size_t count, const std::function<Result<void>(std::size_t, TextBuffer&)>& make,
                            const std::function<bool(std::string_view)>& emit) {
  struct Item {
    std::size_t index = 0;
    TextBuffer text;
    std::optional<Error> error;
  };
  const std::size_t tokens = 2 * std::size_t{thread_count()} + 1;
  std::vector<std::unique_ptr<Item>> free;
  std::mutex mutex;
  std::size_t next = 0;
  std::atomic<bool> stop = false;
  std::optional<Error> failed;
  const Execution& execution = Execution::current();
  const PhaseHandover phase;
  const auto steps = tbb::make_filter<void, Item*>(tbb::filter_mode::serial_in_order,
                                                   [&](tbb::flow_control& control) -> Item* {
                                                     if (next == count || stop) {
                                                       control.stop();
                                                       return nullptr;
                                                     }
                                                     const std::scoped_lock lock(mutex);
                                                     std::unique_ptr<Item> item;
                                                     if (free.empty()) {
                                                       item = std::make_unique<Item>();
                                                     } else {
                                                       item = std::move(free.back());
                                                       free.pop_back();
                                                     }
                                                     item->index = next++;
                                                     return item.release();
                                                   }) &
                     tbb::make_filter<Item*, Item*>(tbb::filter_mode::parallel,
                                                    [&](Item* item) {
                                                      const ExecutionScope scope(execution);
                                                      const HandedPhase handed(phase);
                                                      const TeamScope alone(nullptr);
                                                      item->text.clear();
                                                      auto status = cancelled() ? Result<void>(cancelled_error())
                                                                                : make(item->index, item->text);
                                                      if (!status) item->error = std::move(status).error();
                                                      return item;
                                                    }) &
                     tbb::make_filter<Item*, void>(tbb::filter_mode::serial_in_order, [&](Item* raw) {
                       const ExecutionScope scope(execution);
                       const HandedPhase handed(phase);
                       const TeamScope alone(nullptr);
                       std::unique_ptr<Item> item(raw);
                       if (!stop) {
                         if (item->error) {
                           failed = std::move(item->error);
                           stop = true;
                         } else if (!emit(item->text.view())) {
                           stop = true;
                         }
                       }
                       item->error.reset();
                       const std::scoped_lock lock(mutex);
                       free.push_back(std::move(item));
                     });
  execution.run([&] { tbb::parallel_pipeline(tokens, steps); });
  if (failed) return *std::move(failed);
  return {};
}

}  // namespace fathom
