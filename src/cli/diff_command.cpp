// fathom diff: what changed from A to B, be they profiles, traces or experiments.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/team.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/diff_output.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/reading_options.hpp"
#include "experiment/diff.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/diff/diff.hpp"

namespace fathom::cli {

namespace {

bool has_level(const std::vector<Level>& levels, Level level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

class DiffCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("A", a_, "the profile, trace or experiment before")
        .positional("B", b_, "the profile, trace or experiment after");
    options.values("--also-before", "PATH", also_before_, "a repetition of A; may be repeated")
        .values("--also-after", "PATH", also_after_, "a repetition of B; may be repeated");
    arguments_.declare_metrics(options, "compare this metric (default: time); patterns; may be repeated");
    options
        .choice(
            "--match", match_, {"name", "path", "line", "file"},
            "what makes a row the same on both sides: name of the region (default; moved code is the same), all names "
            "from the root down, file and line (renamed code is the same); file: rows are files")
        .choice("--by", by_, {"region", "context", "file"}, "the same as --match name, path, file")
        .flag("--inclusive", inclusive_, "compare inclusive values")
        .value("-n,--number", "N", &number_, "how many rows (default: 20; 0 = all)")
        .value("--fail-above", "%", &fail_above_,
               "exit status 1 when a total, or a row with at least --min of it, grew by more than this")
        .value("--min", "%", &minimum_, "share of the total from which on a row counts for --fail-above (default: 1)")
        .flag("--markdown", markdown_, "a Markdown table on stdout, for pull requests")
        .value("--junit", "FILE", &junit_, "also write a JUnit report: one test per row that counts");
    output_.declare_target(options, "also write the profile B - A, the changes that the table shows");
    options.choice("--system", system_, {"strict", "reduce", "collapse"},
                   "how the system trees are united for -o (default: strict)");
    arguments_.declare_derive(options);
    arguments_.declare_names(options);
    output_.declare_format(options);
    reading_.declare(options);
    options
        .about(
            "Changes are B - A: growth is +. Traces are reduced to profiles first; of experiments the call paths are "
            "compared at every point. With repetitions on either side a change is significant when it is beyond their "
            "scatter (Welch's t-test, 5 %), and --fail-above looks at significant changes only.")
        .example("fathom diff before.cubex after.cubex", "which functions became slower or faster")
        .example("fathom diff base.cubex new.cubex --fail-above 5%", "in CI: fail when something grew by over 5 %")
        .example("fathom diff before.meta after.meta -m time -m visits", "two MPI traces")
        .example("fathom diff a1.cubex b1.cubex --also-before a2.cubex --also-after b2.cubex",
                 "two runs of each, to tell changes from noise")
        .example("fathom diff a.cubex b.cubex -o delta.cubex", "what changed, as a profile");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const auto limit, percent_of(fail_above_));
    FATHOM_CHECK(reading_.apply(*session.work()));
    FATHOM_TRY(DatasetPtr opened_a, session.open(a_));
    FATHOM_TRY(DatasetPtr opened_b, session.open(b_));
    for (const DatasetPtr* opened : {&opened_a, &opened_b}) reading_.tell_unused(session, **opened);
    Dataset& a = session.keep(std::move(opened_a));
    Dataset& b = session.keep(std::move(opened_b));
    const bool profiles =
        has_level(a.offered_levels(), Level::profile) && has_level(b.offered_levels(), Level::profile);
    const bool experiments =
        has_level(a.levels(), Level::experiment) && has_level(b.levels(), Level::experiment) && !profiles;
    std::vector<MetricChanges> changes;
    if (experiments) {
      FATHOM_CHECK(first_alone(session, "comparing experiments is"));
      FATHOM_TRY(changes, compare_experiments(a, b));
    } else {
      FATHOM_TRY(changes, compare_profiles(session, a, b));
    }
    const DiffLook look{.before = a_,
                        .after = b_,
                        .match = experiments ? "path" : match(),
                        .flavour = experiments  ? ""
                                   : inclusive_ ? "inclusive"
                                                : "exclusive",
                        .fail_above = limit,
                        .least_share = minimum_ / 100,
                        .number = number_,
                        .full_names = arguments_.full_names};
    const DiffReport report(changes, look);
    if (junit_) {
      FATHOM_CHECK(spare_inputs(*junit_));
      FATHOM_CHECK(report.write_junit(*junit_));
    }
    // What is written there is not to have the table behind it.
    const bool taken = is_standard_output(output_.target) || (junit_ && is_standard_output(*junit_));
    if (taken) return report.failed() ? kRefused : kDone;
    if (session.json()) {
      report.write_json(session);
    } else if (session.csv()) {
      report.write_csv(session);
    } else if (markdown_) {
      report.write_markdown(session);
    } else {
      report.write_text(session);
    }
    return report.failed() ? kRefused : kDone;
  }

 private:
  [[nodiscard]] std::string match() const {
    if (!match_.empty()) return match_;
    return by_ == "context" ? "path" : by_ == "file" ? "file" : "name";
  }

  // "5" or "5%".
  static Result<std::optional<double>> percent_of(const std::optional<std::string>& text) {
    if (!text) return std::optional<double>();
    std::string_view number = trim(*text);
    if (number.ends_with('%')) number.remove_suffix(1);
    const auto value = parse_double(trim(number));
    if (!value || !std::isfinite(*value)) {
      return Error::usage(fmt::format("--fail-above: '{}' is no percentage", *text)).hint("--fail-above 5%, say");
    }
    return std::optional(*value / 100);
  }

  Result<std::vector<ProfilePtr>> repetitions(Session& session, Dataset& first, const std::vector<std::string>& also) {
    std::vector<ProfilePtr> out;
    FATHOM_TRY(ProfilePtr profile, first.profile());
    FATHOM_TRY(profile, arguments_.with_derived_metrics(std::move(profile)));
    out.push_back(std::move(profile));
    for (const std::string& path : also) {
      FATHOM_TRY(ProfilePtr one, session.open_profile(path));
      FATHOM_TRY(one, arguments_.with_derived_metrics(std::move(one)));
      out.push_back(std::move(one));
    }
    return out;
  }

  // Of `a`: those that are named, or else what a user would look at first, and both have.
  [[nodiscard]] Result<std::vector<MetricId>> compared_metrics(const Profile& a, const Profile& b) const {
    FATHOM_TRY(std::vector<MetricId> metrics, choose_or_guess_metrics(a, arguments_.metrics));
    const auto in_b = [&](MetricId id) { return b.defs().find_metric(a.defs().metric(id).name).valid(); };
    if (!arguments_.metrics.empty() || in_b(metrics.front())) return metrics;
    for (std::size_t i = 0; i < a.defs().metrics.size(); ++i) {
      const Metric& metric = a.defs().metrics[i];
      if (!metric.hidden && !metric.switched_off && in_b(MetricId(i))) return std::vector<MetricId>{MetricId(i)};
    }
    return metrics;
  }

  Result<std::vector<MetricChanges>> compare_profiles(Session& session, Dataset& first, Dataset& second) {
    if (!also_before_.empty() || !also_after_.empty()) {
      FATHOM_CHECK(first_alone(session, "comparing repetitions is"));
    }
    auto reduced = repetitions(session, first, also_before_);
    // A process that has done its part of one trace does its part of the other.
    if (!reduced && !is_elsewhere(reduced.error())) return std::move(reduced).error();
    FATHOM_TRY(const auto after, repetitions(session, second, also_after_));
    if (!reduced) return std::move(reduced).error();
    if (!reads_values_in_parts(first) || !reads_values_in_parts(second)) {
      FATHOM_CHECK(first_alone(session, "comparing these profiles is"));
    }
    const std::vector<ProfilePtr> before = *std::move(reduced);
    const Profile& a = *before.front();
    const Profile& b = *after.front();
    FATHOM_TRY(const std::vector<MetricId> metrics, compared_metrics(a, b));
    DiffOptions options;
    options.inclusive = inclusive_;
    const std::string by = match();
    options.match = by == "path"   ? MatchBy::path
                    : by == "line" ? MatchBy::line
                    : by == "file" ? MatchBy::file
                                   : MatchBy::name;
    std::vector<MetricChanges> changes;
    std::vector<std::string> missing;
    for (const MetricId metric : metrics) {
      const std::string& name = a.defs().metric(metric).name;
      // Of several metrics those count that both have.
      if (metrics.size() > 1 && !b.defs().find_metric(name).valid()) {
        missing.push_back(name);
        continue;
      }
      FATHOM_TRY(MetricChanges change, diff(before, after, name, options));
      changes.push_back(std::move(change));
    }
    if (changes.empty()) {
      return Error::usage(fmt::format("{} has none of the metrics to compare: {}", b.name, some_of(missing)));
    }
    if (!missing.empty()) {
      FATHOM_CHECK(session.work()->diagnostics.add(
          "profile.metric_missing", Severity::warning, Place::in(b.name),
          fmt::format("metrics are not compared, as they are not there: {}", some_of(missing)), missing.size()));
    }
    FATHOM_CHECK(output_.target.empty() ? first_goes_on() : first_alone(session, "writing a difference is"));
    if (!output_.target.empty()) FATHOM_CHECK(write_profile(session, before.front(), after.front(), &first.format()));
    return changes;
  }

  Result<std::vector<MetricChanges>> compare_experiments(Dataset& first, Dataset& second) const {
    if (!output_.target.empty()) return Error::usage("the difference of two experiments cannot be written");
    if (!also_before_.empty() || !also_after_.empty()) {
      return Error::usage("an experiment holds its repetitions: --also-before and --also-after are for profiles");
    }
    FATHOM_TRY(const auto a, first.experiment());
    FATHOM_TRY(const auto b, second.experiment());
    std::vector<std::string> names;
    for (const Named& metric : a->metrics()) names.push_back(metric.name);
    std::vector<std::string> wanted = arguments_.metrics;
    if (wanted.empty() && !names.empty()) {
      const bool timed = std::find(names.begin(), names.end(), "time") != names.end();
      wanted = {timed ? "time" : names.front()};
    }
    std::vector<MetricChanges> changes;
    for (const std::string& pattern : wanted) {
      const std::size_t before = changes.size();
      for (const std::string& name : names) {
        if (!matches_pattern(pattern, name)) continue;
        FATHOM_TRY(MetricChanges change, diff(*a, *b, name));
        changes.push_back(std::move(change));
      }
      if (changes.size() == before) {
        return Error::usage(fmt::format("{} has no metric '{}'{}", a_, pattern, did_you_mean(pattern, names)));
      }
    }
    return changes;
  }

  Result<void> write_profile(Session& session, const ProfilePtr& a, const ProfilePtr& b, const Format* format) const {
    using algebra::SystemMatch;
    const algebra::Options options{system_ == "reduce"     ? SystemMatch::reduce
                                   : system_ == "collapse" ? SystemMatch::collapse
                                                           : SystemMatch::strict};
    FATHOM_TRY(const ProfilePtr difference, algebra::diff(b, a, options));
    return output_.write(session, difference, format);
  }

  std::string a_;
  std::string b_;
  std::vector<std::string> also_before_;
  std::vector<std::string> also_after_;
  ProfileArguments arguments_;
  OutputArguments output_;
  ReadingOptions reading_;
  std::string match_;
  std::string by_ = "region";
  std::string system_ = "strict";
  bool inclusive_ = false;
  bool markdown_ = false;
  std::uint64_t number_ = 20;
  std::optional<std::string> fail_above_;
  std::optional<std::string> junit_;
  double minimum_ = 1;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace fathom::cli
