#include "base/pipeline.hpp"

#include <tbb/parallel_pipeline.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/cancel.hpp"
#include "base/self_profile.hpp"
#include "base/team.hpp"

namespace fathom {

Result<void> run_pipeline(std::size_t slots, const std::function<Result<bool>(std::size_t)>& make,
                          const std::function<Result<void>(std::size_t)>& work,
                          const std::function<Result<bool>(std::size_t)>& take) {
  std::mutex mutex;
  std::optional<Error> first;
  std::atomic<bool> stopped{false};
  const auto fail = [&](Error error) {
    const std::scoped_lock lock(mutex);
    if (!first) first = std::move(error);
  };
  std::size_t made = 0;
  bool finished = false;
  // Results leave in order and at most `slots` are on their way, so a slot is free again when its turn comes.
  const Execution& execution = Execution::current();
  const PhaseHandover phase;
  const auto making = [&](tbb::flow_control& control) -> std::size_t {
    const ExecutionScope scope(execution);
    const HandedPhase handed(phase);
    const TeamScope alone(nullptr);
    if (stopped || finished) {
      control.stop();
      return 0;
    }
    const std::size_t slot = made++ % slots;
    auto status = cancelled() ? Result<bool>(cancelled_error()) : make(slot);
    finished = !status.ok() || !*status;
    if (!status.ok()) fail(std::move(status).error());
    return slot;
  };
  const auto working = [&](std::size_t slot) {
    const ExecutionScope scope(execution);
    const HandedPhase handed(phase);
    const TeamScope alone(nullptr);
    if (stopped) return slot;
    if (auto status = work(slot); !status.ok()) {
      fail(std::move(status).error());
      stopped = true;
    }
    return slot;
  };
  const auto taking = [&](std::size_t slot) {
    const ExecutionScope scope(execution);
    const HandedPhase handed(phase);
    const TeamScope alone(nullptr);
    if (stopped) return;
    auto status = take(slot);
    if (!status.ok() || !*status) stopped = true;
    if (!status.ok()) fail(std::move(status).error());
  };
  using enum tbb::filter_mode;
  const auto steps = tbb::make_filter<void, std::size_t>(serial_in_order, making) &
                     tbb::make_filter<std::size_t, std::size_t>(parallel, working) &
                     tbb::make_filter<std::size_t, void>(serial_in_order, taking);
  execution.run([&] { tbb::parallel_pipeline(slots, steps); });
  if (first) return std::move(*first);
  return {};
}

}  // namespace fathom
