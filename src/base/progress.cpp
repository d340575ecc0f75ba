#include "base/progress.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"

namespace fathom {

namespace {
// What is over before that needs no bar. Tests, and those who want to see every step, set another time in milliseconds.
std::int64_t first_report_ms() {
  constexpr std::int64_t kUsual = 500;
  const char* wanted = std::getenv("FATHOM_PROGRESS_AFTER");
  return wanted == nullptr ? kUsual : parse_integer<std::int64_t>(wanted).value_or(kUsual);
}
constexpr std::int64_t kBetweenReportsMs = 100;

std::int64_t since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}
}  // namespace

Progress::Progress(std::string label, std::uint64_t total)
    : label_(std::move(label)),
      total_(std::max<std::uint64_t>(total, 1)),
      next_report_ms_(first_report_ms()),
      start_(std::chrono::steady_clock::now()),
      sink_(Execution::current().progress()) {}

Progress::~Progress() {
  if (reported_) report(std::min(done_.load(), total_), since(start_), true);
}

void Progress::advance(std::uint64_t steps) {
  const std::uint64_t done = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
  if (!sink_) return;
  const std::int64_t now = since(start_);
  std::int64_t due = next_report_ms_.load(std::memory_order_relaxed);
  if (now < due || !next_report_ms_.compare_exchange_strong(due, now + kBetweenReportsMs)) return;
  report(std::min(done, total_), now, false);
}

void Progress::report(std::uint64_t done, std::int64_t elapsed_ms, bool finished) {
  const std::scoped_lock lock(reporting_);
  reported_ = true;
  sink_({label_, done, total_, elapsed_ms, finished});
}

}  // namespace fathom
