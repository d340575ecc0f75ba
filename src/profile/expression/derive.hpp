// `--derive 'ipc = instructions / cycles'`: new metrics on the fly, for profiles of any format.
//
//   definition := name '=' expression
//   expression := comparisons and 'and', 'or', 'not' over + - * / ^, unary minus, (...), |...|, numbers, metric names,
//                 functions. A metric name that is no plain word is quoted: 'CPUTIME (sec)' or "CPUTIME (sec)".
//   inclusive(m), exclusive(m): this flavour whatever is asked for; total(m): over the whole system;
//   count(m), lowest(m), highest(m), squares(m): over the locations of a cell whose value is not zero;
//   choose(condition, a, b). Conditions are 1 or 0.
// a/b is 0 where a is 0, NaN where only b is 0, as in CubePL, so that a stored definition keeps its meaning.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "profile/profile.hpp"

namespace fathom {

// Attribute of derived metrics that a file brings along for its viewer: commands that show all metrics leave them out,
// since they would stand among the stored values; they are listed, and shown when they are named.
inline constexpr std::string_view kShown = "shown";
inline constexpr std::string_view kWhenNamed = "when named";
bool only_when_named(const Metric& metric);

struct DerivedMetric {
  std::string name;
  std::string expression;
  Derivation derivation = Derivation::post;
  std::string unit;
  std::string parent;  // unique name of the metric it goes below; empty = a root
};

// "name = expression" taken apart; an error without either. The rest is as in the pattern.
Result<DerivedMetric> parse_definition(std::string_view text, DerivedMetric pattern = {});

// An id that no metric of a growing list has; looks at each of them once.
class FreeFileId {
 public:
  std::uint64_t in(const MetricList& metrics) {
    for (; seen_ < metrics.size(); ++seen_) next_ = std::max(next_, metrics[seen_].file_id + 1);
    return next_;
  }

 private:
  std::size_t seen_ = 0;
  std::uint64_t next_ = 0;
};

namespace expression {
// Compiles the expression; metric names are those of `defs`. Errors point at the character.
Result<std::shared_ptr<const Program>> compile(std::string_view text, const Definitions& defs);
}  // namespace expression

// A copy of a profile that gets metrics, one after the other: its definitions are copied once, however many those are.
class ExtendedProfile {
 public:
  explicit ExtendedProfile(const Profile& profile);

  // With what was added so far.
  [[nodiscard]] Definitions& defs() { return *defs_; }
  [[nodiscard]] Profile& profile() { return *profile_; }
  // Without a program. Names that are taken and parents that are not there are errors.
  Result<MetricId> add(const DerivedMetric& metric);
  // The same with the program of its expression.
  Result<void> derive(const DerivedMetric& metric);
  [[nodiscard]] ProfilePtr finish() &&;

 private:
  std::shared_ptr<Definitions> defs_;
  std::shared_ptr<Profile> profile_;
  FreeFileId free_id_;
};

// The profile with one metric more. Unknown metrics in the expression and names that are taken are errors.
Result<ProfilePtr> with_derived(const ProfilePtr& profile, const DerivedMetric& metric);
// The same with a program that some other front end compiled.
Result<ProfilePtr> with_program(const ProfilePtr& profile, const DerivedMetric& metric,
                                std::shared_ptr<const expression::Program> program);
// The same for "name = expression".
Result<ProfilePtr> with_derived(const ProfilePtr& profile, std::string_view definition);
// With all of these, each of which may use those before it; what they do not say is as in the pattern.
Result<ProfilePtr> with_derived(const ProfilePtr& profile, std::span<const std::string> definitions,
                                const DerivedMetric& pattern = {});

}  // namespace fathom
