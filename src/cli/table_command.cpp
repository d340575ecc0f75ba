// fathom table: raw values, exact, as rows of (metric, context, path, location, value).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/experiment_options.hpp"
#include "cli/experiment_table.hpp"
#include "cli/path_walker.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/table_rows.hpp"
#include "profile/aggregate.hpp"
#include "profile/compute.hpp"
#include "profile/expression/derive.hpp"
#include "profile/expression/fold_locations.hpp"
#include "profile/views.hpp"

namespace fathom::cli {

namespace {

// Memory for one block of values; a quarter of the budget when that is less.
constexpr std::uint64_t kBlockBytes = 256ULL << 20;
// Contexts that one thread turns into text at a time, in cells.
constexpr std::size_t kCellsPerPiece = 1U << 15;
constexpr std::size_t kFirstPiece = 64;             // rows
constexpr std::uint64_t kRoundBytes = 64ULL << 20;  // of text

class TableCommand final : public Command {
 public:
  void declare(Options& options) override {
    arguments_.declare_path(options);
    arguments_.declare_metrics(options, "only metrics of this name; patterns with * and ?; may be repeated");
    options.flag("--inclusive", inclusive_, "values of whole subtrees")
        .flag("--exclusive", exclusive_, "values of contexts without what they call")
        .value("--scope", "NAME", &scope_, "a flavour as the format names it (HPCToolkit: point, function, …)")
        .flag("--metric-exclusive", metric_exclusive_, "values of metrics without those of the metrics below them")
        .values("--context", "ID", contexts_,
                "only these contexts, by the ids the file uses: 3, 0,5-10, roots, leaves, level<2; by region: "
                "name=/regular expression/; may be repeated")
        .values("--region", "R", regions_, "only contexts of regions of this name; patterns")
        .values("--location", "ID", locations_, "only this location, by the id the file uses; patterns")
        .flag("--total", total_, "one row per metric: the roots (or --context), all locations together")
        .flag("--zeros", zeros_, "also values that are zero or absent")
        .flag("--summary", summary_, "also the statistics that the file stores");
    arguments_.declare_derive(options);
    declare_experiment_options(options, reading_);
    arguments_.declare_hiding(options);
    options
        .about(
            "Values are as stored unless a flavour is asked for, and print so that they read back to the same value. "
            "Zero values are left out. Of an experiment these are the means of the repetitions; the point stands for "
            "the location.")
        .example("fathom table profile.cubex --csv --metric time --inclusive", "inclusive times as CSV")
        .example("fathom table profile.cubex --total --inclusive", "one number per metric")
        .example("fathom table profile.cubex --region 'MPI_*' --location 0 --json", "what location 0 did in MPI");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(check_flavour());
    apply_experiment_options(reading_, *session.work());
    FATHOM_TRY(DatasetPtr opened, session.open(arguments_.path));
    Dataset& dataset = session.keep(std::move(opened));
    const auto levels = dataset.levels();
    if (std::find(levels.begin(), levels.end(), Level::profile) == levels.end() &&
        std::find(levels.begin(), levels.end(), Level::experiment) != levels.end()) {
      if (inclusive_ || exclusive_ || !scope_.empty() || total_) {
        return Error::usage("an experiment has one value per call path and point: no flavours, no totals")
            .hint("--use-inclusive-measurements reads inclusive values from runs");
      }
      FATHOM_TRY(const auto experiment, dataset.experiment());
      return write_experiment_table(session, *experiment,
                                    {arguments_.metrics, contexts_, regions_, locations_, zeros_, summary_});
    }
    FATHOM_TRY(const ProfilePtr profile, arguments_.open(dataset));
    const Definitions& defs = profile->defs();
    FATHOM_TRY(std::vector<MetricId> metrics, choose_metrics(defs, arguments_.metrics));
    if (arguments_.metrics.empty()) {
      for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
        if (!only_when_named(defs.metrics[i])) metrics.emplace_back(i);
      }
    }
    FATHOM_TRY(metrics, usable_only(*profile, metrics));
    FATHOM_TRY(chosen_contexts_, contexts(defs));
    FATHOM_TRY(const auto chosen_locations, choose_locations(defs, locations_));
    form_ = session.csv() ? RowForm::csv : session.json() ? RowForm::json : RowForm::text;
    session.out().write(RowSpeller::header(form_));
    for (const MetricId metric : metrics) {
      if (session.out().closed()) break;
      if (total_) {
        FATHOM_CHECK(write_total(session, *profile, metric, chosen_locations));
      } else {
        FATHOM_CHECK(write_metric(session, *profile, metric, chosen_locations));
      }
    }
    if (profile->statistics_are_columns ? locations_.empty() : summary_) {
      FATHOM_CHECK(write_statistics(session, *profile, metrics));
    }
    session.out().write(RowSpeller::footer(form_, any_row_));
    return kDone;
  }

 private:
  [[nodiscard]] Result<void> check_flavour() {
    if (int(inclusive_) + int(exclusive_) + int(!scope_.empty()) > 1) {
      return Error::usage("--inclusive, --exclusive and --scope exclude each other");
    }
    if (inclusive_) flavour_.kind = Flavour::Kind::inclusive;
    if (exclusive_) flavour_.kind = Flavour::Kind::exclusive;
    if (!scope_.empty()) flavour_ = {Flavour::Kind::named, scope_};
    return {};
  }

  // Metrics whose values cannot be had are left out with a warning; when nothing else was asked for that is an error.
  static Result<std::vector<MetricId>> usable_only(const Profile& profile, const std::vector<MetricId>& metrics) {
    std::vector<MetricId> usable;
    std::string last;
    for (const MetricId id : metrics) {
      const std::string why = why_unavailable(profile, id);
      if (why.empty()) {
        usable.push_back(id);
        continue;
      }
      last = fmt::format("metric '{}' {}", profile.defs().metric(id).name, why);
      if (metrics.size() > 1) {
        FATHOM_CHECK(profile.work->diagnostics.warn(
            fmt::format("profile.metric_left_out.{}", profile.defs().metric(id).name), Place::in(profile.name), last));
      }
    }
    if (metrics.size() == 1 && usable.empty()) return Error(last, Place::in(profile.name));
    return usable;
  }

  // Rows in order; all when nothing is asked for.
  Result<std::vector<ContextId>> contexts(const Definitions& defs) {
    FATHOM_TRY(std::vector<ContextId> chosen, choose_contexts(defs, contexts_));
    if (regions_.empty()) return chosen;
    FATHOM_CHECK(check_region_patterns(defs, regions_));
    const ContextFilter wanted = region_filter(defs, regions_);
    std::vector<ContextId> out;
    if (contexts_.empty()) {
      for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
        if (wanted(ContextId(i))) out.emplace_back(i);
      }
    } else {
      std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(out), wanted);
    }
    none_ = out.empty();
    return out;
  }

  void write_rows(Session& session, std::string_view rows) {
    if (rows.empty()) return;
    if (form_ == RowForm::json && !any_row_) rows.remove_prefix(1);
    any_row_ = true;
    session.out().write(rows);
  }

  Result<void> write_total(Session& session, const Profile& profile, MetricId metric,
                           const std::vector<LocationId>& locations) {
    const Definitions& defs = profile.defs();
    Selection selection{
        .flavour = flavour_, .contexts = chosen_contexts_, .locations = {}, .aggregate = true, .void_values = true};
    if (selection.contexts.empty() && !none_) selection.contexts = defs.contexts.roots();
    if (selection.contexts.empty()) return {};
    Cells total(defs.metric(metric).type, 1, 1);
    bool fresh = true;
    // A derived metric's total follows from those of its operands.
    const bool derived = defs.metric(metric).derived() && !metric_exclusive_;
    if (derived) {
      FATHOM_TRY(total, compute_groups(profile, metric, flavour_, {{selection.contexts}, {locations}}));
    }
    for (const IndexRange range : derived ? std::vector<IndexRange>() : as_ranges(locations)) {
      selection.locations = range;
      FATHOM_TRY(const Cells cells, values(profile, metric, selection));
      for (std::size_t row = 0; row < cells.rows(); ++row) {
        if (fresh) {
          total = Cells(cells.type(), 1, 1);
          total.copy_row(0, cells, row);
          fresh = false;
        } else {
          total.add_row(0, cells, row);
        }
      }
    }
    const Value value = total.at(0, 0);
    if (value.is_zero() && !zeros_) return {};
    RowSpeller speller(form_, defs.metric(metric).name);
    speller.start_context("", "");
    std::string out;
    speller.row(out, RowSpeller::spell_location(form_, ""), value.text(), is_number(value));
    write_rows(session, out);
    return {};
  }

  [[nodiscard]] Result<Cells> values(const Profile& profile, MetricId metric, Selection selection) const {
    FATHOM_TRY(Cells cells, compute(profile, metric, selection));
    if (!metric_exclusive_) return cells;
    const Definitions& defs = profile.defs();
    // What is stored for the metric itself decides what is taken off.
    if (selection.flavour.kind == Flavour::Kind::stored && !defs.metric(metric).scopes.empty()) {
      const bool inclusive = defs.metric(metric).scopes[0].scope == Scope::inclusive;
      selection.flavour.kind = inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive;
    }
    for (const MetricId child : defs.metric_children(metric)) {
      if (defs.metric(child).hidden || !why_unavailable(profile, child).empty()) continue;
      FATHOM_TRY(const Cells part, compute(profile, child, selection));
      FATHOM_CHECK(subtract(cells, part, defs.metric(metric).name));
    }
    return cells;
  }

  static Result<void> subtract(Cells& from, const Cells& part, const std::string& metric) {
    if (from.type() == part.type()) {
      for (std::size_t row = 0; row < from.rows(); ++row) from.subtract_row(row, part, row);
      return {};
    }
    if (!from.type().is_plain_number() || !part.type().is_plain_number()) {
      return Error::usage(fmt::format("metric '{}' and those below it have values of different kinds", metric));
    }
    Cells rest({ValueKind::f64, 0}, from.rows(), from.columns());
    for (std::size_t row = 0; row < from.rows(); ++row) {
      for (std::size_t i = 0; i < from.columns(); ++i) {
        rest.reals(row)[i] = difference(from.scalar(row, i), part.scalar(row, i));
      }
    }
    from = std::move(rest);
    return {};
  }

  static bool is_number(const Value& value) {
    return value.type().is_integer() || (value.type().is_double() && std::isfinite(value.scalar()));
  }

  Result<void> write_metric(Session& session, const Profile& profile, MetricId metric,
                            const std::vector<LocationId>& locations) {
    if (none_) return {};
    if (expression::is_over_locations(profile, metric)) {
      Grouping grouping{{}, {locations}};
      for (const ContextId id : chosen_contexts_) grouping.rows.push_back({id});
      FATHOM_TRY(const Cells cells, compute_groups(profile, metric, flavour_, grouping));
      return write_cells(session, profile.defs(), metric, cells, {RowSpeller::spell_location(form_, "")});
    }
    const Selection all{.flavour = flavour_, .contexts = chosen_contexts_, .locations = {}, .void_values = true};
    const std::size_t rows = row_count(profile, all);
    const std::uint64_t per_location =
        std::max<std::uint64_t>(1, Cells::bytes_needed(profile.defs().metric(metric).type, rows, 1));
    const std::uint64_t limit = std::min(kBlockBytes, profile.work->budget.limit() / 4);
    const auto block = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(limit / per_location, 1, UINT32_MAX));
    for (const IndexRange range : as_ranges(locations)) {
      for (std::uint32_t begin = range.begin; begin < range.end && !session.out().closed();) {
        const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(range.end, std::uint64_t(begin) + block));
        FATHOM_CHECK(write_block(session, profile, metric, {begin, end}));
        begin = end;
      }
    }
    return {};
  }

  Result<void> write_block(Session& session, const Profile& profile, MetricId metric, IndexRange locations) {
    const Definitions& defs = profile.defs();
    const Selection selection{
        .flavour = flavour_, .contexts = chosen_contexts_, .locations = locations, .void_values = true};
    FATHOM_TRY(const Cells cells, values(profile, metric, selection));
    std::vector<std::string> labels;
    for (std::uint32_t i = locations.begin; i < locations.end; ++i) {
      labels.push_back(RowSpeller::spell_location(form_, defs.system.location_label(LocationId(i))));
    }
    return write_cells(session, defs, metric, cells, labels);
  }

  Result<void> write_cells(Session& session, const Definitions& defs, MetricId metric, const Cells& cells,
                           const std::vector<std::string>& labels) {
    const std::size_t most = std::max<std::size_t>(1, kCellsPerPiece / std::max<std::size_t>(1, cells.columns()));
    // A round of pieces is spelled in parallel and then written in order. Deep call paths make long rows: the text of a
    // round decides how much goes into the next.
    const std::uint64_t room = std::min<std::uint64_t>(kRoundBytes, session.work()->budget.limit() / 8);
    std::size_t piece = std::min(most, kFirstPiece);
    std::size_t round = 0;
    for (std::size_t first = 0; first < cells.rows() && !session.out().closed(); first += round) {
      round = piece * thread_count() * 4;
      const std::size_t count = std::min(round, cells.rows() - first);
      std::vector<std::string> texts((count + piece - 1) / piece);
      FATHOM_CHECK(parallel_for(texts.size(), [&](std::size_t i) -> Result<void> {
        const std::size_t begin = first + i * piece;
        spell(defs, metric, cells, labels, begin, std::min(begin + piece, first + count), texts[i]);
        return {};
      }));
      std::uint64_t bytes = 1;
      for (const std::string& text : texts) {
        bytes += text.size();
        write_rows(session, text);
      }
      piece = static_cast<std::size_t>(std::clamp<std::uint64_t>(piece * room / bytes, 1, std::min(most, 4 * piece)));
    }
    return {};
  }

  void spell(const Definitions& defs, MetricId metric, const Cells& cells, const std::vector<std::string>& labels,
             std::size_t begin, std::size_t end, std::string& out) const {
    PathWalker walker(defs);
    RowSpeller speller(form_, defs.metric(metric).name);
    const Form form = form_of(cells.type());
    for (std::size_t row = begin; row < end; ++row) {
      bool started = false;
      for (std::size_t column = 0; column < cells.columns(); ++column) {
        if (!zeros_ && cells.is_zero(row, column)) continue;
        if (!started) {
          const ContextId id = chosen_contexts_.empty() ? ContextId(row) : chosen_contexts_[row];
          speller.start_context(std::to_string(defs.contexts[id].file_id), walker.path(id));
          started = true;
        }
        if (form == Form::real) {
          const double value = cells.reals(row)[column];
          char digits[32];
          const auto stop = std::to_chars(digits, digits + sizeof digits, value).ptr;
          if (std::isfinite(value)) {
            speller.row(out, labels[column], {digits, static_cast<std::size_t>(stop - digits)}, true);
          } else {
            speller.row(out, labels[column], exact_text(value), false);
          }
        } else {
          speller.row(out, labels[column], cells.at(row, column).text(), form == Form::integer);
        }
      }
    }
  }

  Result<void> write_statistics(Session& session, const Profile& profile, const std::vector<MetricId>& metrics) {
    if (!profile.statistics) {
      session.note("the file stores no statistics");
      return {};
    }
    FATHOM_TRY(const std::vector<StoredStatistic> all, profile.statistics());
    const Definitions& defs = profile.defs();
    PathWalker walker(defs);
    if (total_) return write_column_totals(session, defs, metrics, all);
    for (const StoredStatistic& one : all) {
      if (!one.context.valid()) continue;  // of the root above all
      if (std::find(metrics.begin(), metrics.end(), one.metric.metric) == metrics.end()) continue;
      if (one.value == 0 && !zeros_) continue;
      if (!chosen_contexts_.empty() &&
          !std::binary_search(chosen_contexts_.begin(), chosen_contexts_.end(), one.context)) {
        continue;
      }
      const Metric& metric = defs.metric(one.metric.metric);
      std::string name = metric.name;
      if (!one.statistic.empty()) name += ":" + one.statistic;
      // Inclusive ones go without their scope's name, as values do.
      if (metric.scopes.size() > 1 && metric.scopes[one.metric.scope].scope != Scope::inclusive) {
        name += fmt::format(" ({})", metric.scopes[one.metric.scope].name);
      }
      RowSpeller speller(form_, name);
      speller.start_context(std::to_string(defs.contexts[one.context].file_id), walker.path(one.context));
      std::string out;
      speller.row(out, RowSpeller::spell_location(form_, ""), exact_text(one.value), std::isfinite(one.value));
      write_rows(session, out);
    }
    return {};
  }

  // Of the root above all where it is stored, else the sum over the roots, or over the contexts asked for.
  Result<void> write_column_totals(Session& session, const Definitions& defs, const std::vector<MetricId>& metrics,
                                   const std::vector<StoredStatistic>& all) {
    const bool roots = chosen_contexts_.empty();
    const std::vector<ContextId> rows = roots ? defs.contexts.roots() : chosen_contexts_;
    for (const MetricId metric : metrics) {
      double sum = 0;
      std::optional<double> stored;
      for (const StoredStatistic& one : all) {
        if (one.metric.metric != metric) continue;
        if (!one.context.valid()) stored = one.value;
        if (one.context.valid() && std::binary_search(rows.begin(), rows.end(), one.context)) sum += one.value;
      }
      const double value = roots && !none_ ? stored.value_or(sum) : sum;
      if (value == 0 && !zeros_) continue;
      RowSpeller speller(form_, defs.metric(metric).name);
      speller.start_context("", "");
      std::string out;
      speller.row(out, RowSpeller::spell_location(form_, ""), exact_text(value), std::isfinite(value));
      write_rows(session, out);
    }
    return {};
  }

  ProfileArguments arguments_;
  std::vector<std::string> contexts_;
  std::vector<std::string> regions_;
  std::vector<std::string> locations_;
  std::string scope_;
  bool inclusive_ = false;
  bool exclusive_ = false;
  bool metric_exclusive_ = false;
  bool total_ = false;
  bool zeros_ = false;
  bool summary_ = false;
  ExperimentOptions reading_;

  Flavour flavour_;
  RowForm form_ = RowForm::text;
  std::vector<ContextId> chosen_contexts_;
  bool none_ = false;  // the filters left no context
  bool any_row_ = false;
};

}  // namespace

std::unique_ptr<Command> make_table_command() { return std::make_unique<TableCommand>(); }

}  // namespace fathom::cli
