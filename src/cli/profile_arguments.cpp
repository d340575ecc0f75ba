#include "cli/profile_arguments.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "formats/reading_options.hpp"
#include "profile/absent.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/expression/derive.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kNameWidth = 72;

}  // namespace

void ProfileArguments::declare_path(Options& options, bool with_waits) {
  options.positional("PATH", path, "a file or directory that holds a profile");
  if (with_waits) declare_waits(options, waits);
}

void ProfileArguments::declare_waits(Options& options, bool& target) {
  options.flag("--waits", target, "of a trace: with wait states, delay costs and the critical path as metrics");
}

void ProfileArguments::declare_metrics(Options& options, std::string help) {
  options.values("-m,--metric", "M", metrics, std::move(help));
}

void ProfileArguments::declare_derive(Options& options) {
  options.values("--derive", "'NAME = EXPR'", derive, "add a metric computed from others, e.g. 'ipc = ins / cycles'")
      .values("--cubepl", "'NAME = TEXT'", cubepl, "the same in CubePL, e.g. 'ipc = metric::ins()/metric::cycles()'");
}

void ProfileArguments::declare_hiding(Options& options) {
  options.values("--elide", "R", hiding.elide, "hide contexts of this region; their values go to the caller; patterns")
      .values("--prune", "R", hiding.prune, "the same with all that lies below them")
      .values("--fold", "R", hiding.fold, "hide what lies below contexts of this region; its values go to them")
      .values("--collapse", "R", hiding.collapse, "recursive calls of this region become one with the outermost");
}

Result<ProfilePtr> ProfileArguments::without_hidden(ProfilePtr profile) const {
  if (hiding.elide.empty() && hiding.prune.empty() && hiding.fold.empty() && hiding.collapse.empty()) return profile;
  for (const auto* patterns : {&hiding.elide, &hiding.prune, &hiding.fold, &hiding.collapse}) {
    FATHOM_CHECK(check_region_patterns(profile->defs(), *patterns));
  }
  algebra::CutOptions options = hiding;
  options.keep_ids = true;
  return algebra::cut(profile, options);
}

void ProfileArguments::declare_names(Options& options) {
  options.flag("--full-names", full_names, "do not shorten template arguments and long names");
}

Result<ProfilePtr> with_all_cubepl(ProfilePtr profile, const std::vector<std::string>& definitions,
                                   const DerivedMetric& pattern) {
  auto derived = cubepl::with_cubepl(profile, definitions, pattern);
  if (!derived) return std::move(derived).error().with("--cubepl").as(ErrorKind::usage);
  return derived;
}

Result<ProfilePtr> with_all_derived(ProfilePtr profile, const std::vector<std::string>& definitions) {
  auto derived = with_derived(profile, definitions);
  if (!derived) return std::move(derived).error().with("--derive").as(ErrorKind::usage);
  return derived;
}

Result<ProfilePtr> ProfileArguments::open(Dataset& dataset) const {
  FATHOM_TRY(ProfilePtr profile, dataset.profile());
  FATHOM_TRY(profile, without_hidden(std::move(profile)));
  return with_derived_metrics(std::move(profile));
}

Result<ProfilePtr> ProfileArguments::open(Session& session) const {
  if (waits) session.work()->options.set(kWaits, true);
  FATHOM_TRY(ProfilePtr profile, session.open_profile(path));
  FATHOM_TRY(profile, without_hidden(std::move(profile)));
  return with_derived_metrics(std::move(profile));
}

Result<ProfilePtr> ProfileArguments::with_derived_metrics(ProfilePtr profile) const {
  FATHOM_TRY(profile, with_all_derived(std::move(profile), derive));
  return with_all_cubepl(std::move(profile), cubepl);
}

std::string shown_name(const std::string& name, bool full) {
  std::string shown = demangle(name);
  return full ? shown : shorten_name(shown, kNameWidth);
}

std::string shown_metric(const Metric& metric) {
  if (metric.display_name.empty() || metric.display_name == metric.name) return visible(metric.name);
  return visible(fmt::format("{} ({})", metric.display_name, metric.name));
}

void write_value(JsonWriter& json, const Value& value) {
  if (!has_value(value)) {
    json.value(nullptr);
  } else if (value.type().is_integer()) {
    json.value(value.integer());
  } else if (value.type().is_double()) {
    json.value(value.scalar());
  } else {
    json.value(std::string_view(value.text()));
  }
}

ColumnSpec metric_column(const Metric& metric) {
  const Form form = form_of(metric.type);
  return {metric.name,
          form == Form::integer ? ColumnType::int128
          : form == Form::real  ? ColumnType::float64
                                : ColumnType::free_text,
          metric.unit, metric.name};
}

TableBuilder::Cell metric_cell(const Value& value, std::string& text) {
  if (!has_value(value)) return kMissing;
  if (value.type().is_integer()) return value.integer();
  if (value.type().is_double()) return value.scalar();
  text = value.text();
  return std::string_view(text);
}

}  // namespace fathom::cli
