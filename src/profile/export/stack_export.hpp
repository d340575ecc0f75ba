// What formats of stacks with whole numbers can take of a profile: which metrics, in which unit, and their values per
// context. What they cannot take is reported, with how much it is.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/option.hpp"
#include "profile/profile.hpp"

namespace fathom {

struct ExportedMetric {
  MetricId id;
  std::string name;
  std::string unit;  // of times "nanoseconds", of whole ones also "seconds" and so on; otherwise as the profile has it
  double scale = 1;  // what a double is multiplied by before it is rounded
};

// Declared by formats of stacks, which hand the names over.
inline constexpr Option<std::vector<std::string>> kExportMetric{
    "metric", "NAME", "this metric; may be repeated where the format holds several"};

struct ExportOptions {
  std::string_view format = {};           // for messages
  std::vector<std::string> metrics = {};  // only these; patterns; empty = all
  bool one_metric = false;                // the format has room for one: what is shown first, and can be written
  bool sum_locations = false;             // the format knows no locations
  // What the format says of a frame: stacks of equal frames are one. Nothing where it knows functions, not stacks.
  std::function<std::string(const Definitions&, ContextId)> frame = {};
};

// One function on a stack and the line it was left at towards the leaf; -1 = not known.
struct StackFrame {
  ContextId function;
  std::int64_t line = -1;
};
// Leaf first. Loops, lines and instructions are no frames: they give the line of the function they lie in.
void stack_of(const ContextTree& contexts, ContextId context, std::vector<StackFrame>& frames);

class StackExport {
 public:
  // Chooses metrics and reports those that are left out. An error when a name of options.metrics fits none.
  static Result<StackExport> plan(const Profile& profile, const ExportOptions& options);

  [[nodiscard]] std::span<const ExportedMetric> metrics() const { return metrics_; }

  // Every context and location with a value of its own that is not zero, by rising location, then context; one value
  // per metric. With sum_locations the location is invalid. What was rounded or does not fit is reported at the end.
  using Visit = std::function<Result<void>(ContextId context, LocationId location, std::span<const std::int64_t>)>;
  Result<void> visit(const Visit& visit) const;

 private:
  StackExport(const Profile& profile, const ExportOptions& options) : profile_(profile), options_(options) {}
  Result<void> choose();
  void report_contexts(std::vector<bool> written) const;
  [[nodiscard]] std::uint64_t joined_stacks(const std::vector<bool>& written) const;
  void report_locations(const std::vector<bool>& used) const;
  void note(std::string_view id, std::uint64_t count, std::string_view text) const;
  // Nothing = left out, for this reason.
  Result<std::string> judge(MetricId id);
  [[nodiscard]] Result<bool> all_whole(MetricId id) const;
  [[nodiscard]] Result<std::uint64_t> stored_values(MetricId id) const;

  const Profile& profile_;
  ExportOptions options_;
  std::vector<ExportedMetric> metrics_;
};

// Name of a context on a stack; "<unknown>" where it has none.
std::string frame_name(const Definitions& defs, ContextId context);

// Seconds in one of a unit of time as formats spell them ("sec", "us", "milliseconds"); 0 = it is none.
double seconds_of_unit(std::string_view unit);

}  // namespace fathom
