// What a GPU did at the same time: activities laid over each other.
#pragma once

#include <algorithm>
#include <span>

#include "formats/nsight/native.hpp"

namespace fathom::nsight {

struct Activity : Interval {
  enum class Type : std::uint8_t { kernel, copy, memset } type = Type::kernel;
  Correlation correlation = 0;
  std::string_view name;     // into the report
  std::int64_t threads = 0;  // of a kernel
};

std::vector<Activity> activities_of(const Report& report);

// Time during which the same activities run.
struct Span : Interval {
  std::int64_t threads = 0;  // that they want together
};

// The spans during which at least `least` activities run, one after the other, never overlapping.
class Spans {
 public:
  explicit Spans(std::span<const Activity* const> activities, std::int64_t least = 1);

  // How much of `at` lies in spans.
  [[nodiscard]] std::int64_t covered(Interval at) const;
  // The same without spans that begin before `at` and end after it.
  [[nodiscard]] std::int64_t covered_by_parts(Interval at) const;
  // The part of a kernel's time that goes to others: of each span inside, the share of the threads that are not its
  // own, in whole nanoseconds.
  [[nodiscard]] std::int64_t lost_to_others(Interval kernel, std::int64_t threads) const;

 private:
  [[nodiscard]] std::size_t first_ending_after(std::int64_t time) const;
  std::vector<Span> spans_;
  std::vector<std::int64_t> before_;  // summed lengths of the spans before each
};

// Finds activities by time.
class ActivityIndex {
 public:
  explicit ActivityIndex(std::vector<const Activity*> activities);
  // Calls f(activity, common time) for all that share time with `at`, in order of their starts.
  template <class F>
  void overlapping(Interval at, const F& f) const {
    for (std::size_t i = first_reaching(at.start); i < by_start_.size() && by_start_[i]->start < at.end; ++i) {
      const std::int64_t common = std::min(by_start_[i]->end, at.end) - std::max(by_start_[i]->start, at.start);
      if (common > 0) f(*by_start_[i], common);
    }
  }

 private:
  [[nodiscard]] std::size_t first_reaching(std::int64_t time) const;
  std::vector<const Activity*> by_start_;
  std::vector<std::int64_t> latest_end_;  // of all up to this one
};

}  // namespace fathom::nsight
