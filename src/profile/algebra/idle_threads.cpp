#include "profile/algebra/idle_threads.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "profile/algebra/mapping.hpp"
#include "profile/compute.hpp"

namespace fathom::algebra {

namespace {

constexpr const char* kTime = "time";
constexpr const char* kIdle = "omp_idle_threads";
constexpr const char* kLimited = "omp_limited_parallelism";
// Seconds; less is noise of the clock.
constexpr double kThreshold = 1e-10;

bool is_parallel(const Region& region) {
  const bool openmp = equal_ignoring_case(region.paradigm, "openmp") || equal_ignoring_case(region.paradigm, "omp");
  if (openmp) return equal_ignoring_case(region.role, "parallel");
  // Older measurements tell by the name alone.
  return region.paradigm.empty() && region.name.starts_with("!$omp parallel");
}

// What is done on behalf of others: tasks belong to the regions that ran them, and threads of other paradigms to
// nobody's team.
bool is_outside_of_teams(const Region& region) {
  return equal_ignoring_case(region.role, "artificial") && (region.name == "TASKS" || region.name == "THREADS");
}

// Metric number i has table number i.
class Tables : public ValueSource {
 public:
  Tables(std::vector<Cells> tables, Budget::Reservation reserved)
      : tables_(std::move(tables)), reserved_(std::move(reserved)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    for (const StoredMetric& metric : box.metrics) {
      for (std::uint32_t context = box.contexts.begin; context < box.contexts.end; ++context) {
        Run run;
        run.metric = metric;
        run.context = ContextId(context);
        run.first = box.locations.begin;
        run.count = box.locations.size();
        const auto row = tables_[metric.metric.index()].reals(context);
        run.values = std::as_bytes(row.subspan(box.locations.begin)).data();
        FATHOM_CHECK(visit(run));
      }
    }
    return success();
  }

 private:
  std::vector<Cells> tables_;
  Budget::Reservation reserved_;
};

// The metric of that name as a stored one, made below `parent` where there is none.
MetricId declare(Definitions& defs, const char* name, const char* title, const char* description, MetricId parent) {
  MetricId id = defs.find_metric(name);
  if (!id.valid()) {
    Metric metric;
    metric.name = name;
    metric.display_name = title;
    metric.description = description;
    metric.unit = "sec";
    metric.parent = parent;
    for (const Metric& other : defs.metrics) metric.file_id = std::max(metric.file_id, other.file_id + 1);
    id = MetricId(defs.metrics.size());
    defs.metrics.push_back(std::move(metric));
  }
  Metric& metric = defs.metrics[id.index()];
  metric.type = {ValueKind::f64, 0};
  metric.scopes = {{Scope::exclusive, {}}};
  metric.derivation = Derivation::none;
  metric.expression.clear();
  metric.switched_off = false;
  return id;
}

// What the threads of the teams idle at each context; `time` gets it too.
void add_idleness(const Definitions& defs, const Cells& inclusive, Cells& time, Cells& idle, Cells& limited) {
  const std::vector<ThreadTeam> teams = thread_teams(defs.system);
  const std::vector<Parallelism> where = parallelism(defs);
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (where[i] == Parallelism::inside) continue;
    const auto spent = where[i] == Parallelism::parallel ? inclusive.reals(i) : std::span<const double>(time.reals(i));
    std::vector<double> idles(spent.size(), 0.0);
    for (const ThreadTeam& team : teams) {
      for (const LocationId worker : team.workers) {
        const double rest = spent[team.master.index()] - spent[worker.index()];
        if (rest >= kThreshold) idles[worker.index()] = rest;
      }
    }
    for (std::size_t k = 0; k < idles.size(); ++k) {
      idle.reals(i)[k] = idles[k];
      if (where[i] == Parallelism::parallel) limited.reals(i)[k] = idles[k];
      time.reals(i)[k] += idles[k];
    }
  }
}

}  // namespace

std::vector<ThreadTeam> thread_teams(const SystemTree& system) {
  std::map<SystemNodeId, std::vector<LocationId>> threads;
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const std::string& type = system.location(LocationId(i)).type;
    const SystemNodeId group = system.group_of(LocationId(i));
    if (group.valid() && (type.empty() || type == "thread")) threads[group].emplace_back(i);
  }
  std::vector<ThreadTeam> out;
  for (auto& [group, members] : threads) {
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(), [&](LocationId a, LocationId b) {
      return system.location(a).rank.value_or(0) < system.location(b).rank.value_or(0);
    });
    out.push_back({members[0], {members.begin() + 1, members.end()}});
  }
  return out;
}

std::vector<Parallelism> parallelism(const Definitions& defs) {
  if (std::none_of(defs.regions.begin(), defs.regions.end(), is_parallel)) return {};
  std::vector<Parallelism> where(defs.contexts.size(), Parallelism::serial);
  for (std::size_t i = 0; i < where.size(); ++i) {
    const Context& context = defs.contexts[ContextId(i)];
    const Region* region = context.region.valid() ? &defs.region(context.region) : nullptr;
    if (context.parent.valid() && where[context.parent.index()] != Parallelism::serial) {
      where[i] = Parallelism::inside;
    } else if (region != nullptr && (is_parallel(*region) || is_outside_of_teams(*region))) {
      where[i] = is_parallel(*region) ? Parallelism::parallel : Parallelism::inside;
    }
  }
  return where;
}

Result<ProfilePtr> with_idle_threads(const ProfilePtr& profile) {
  const Definitions& input = profile->defs();
  if (parallelism(input).empty() || thread_teams(input.system).empty()) return profile;
  const MetricId time = input.find_metric(kTime);
  if (!time.valid()) return Error::usage("there is no metric 'time', which idle threads are part of");
  Selection all;
  all.locations = all_locations(input);
  const std::size_t rows = input.contexts.size();
  const std::size_t columns = all.locations.size();
  const ValueType real{ValueKind::f64, 0};
  FATHOM_TRY(auto reservation,
             profile->work->budget.reserve(4 * Cells::bytes_needed(real, rows, columns), "times of idle threads"));
  const auto reals = [&](Flavour::Kind kind) -> Result<Cells> {
    all.flavour.kind = kind;
    FATHOM_TRY(const Cells cells, compute(*profile, time, all));
    Cells out(real, rows, columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns; ++i) out.reals(row)[i] = cells.scalar(row, i);
    }
    return out;
  };
  FATHOM_TRY(const Cells inclusive, reals(Flavour::Kind::inclusive));
  FATHOM_TRY(Cells spent, reals(Flavour::Kind::exclusive));
  Cells idle(real, rows, columns);
  Cells limited(real, rows, columns);
  add_idleness(input, inclusive, spent, idle, limited);

  Definitions defs = input;
  (void)declare(defs, kTime, "", "", MetricId());
  const MetricId idle_id =
      declare(defs, kIdle, "Idle threads", "Time that is reserved for threads that have nothing to do", time);
  const MetricId limited_id = declare(defs, kLimited, "Limited parallelism",
                                      "Part of it in parallel regions that not all threads work in", idle_id);
  Mapping rest = Mapping::identity(input);
  for (const char* name : {kTime, kIdle, kLimited}) {
    if (const MetricId id = input.find_metric(name); id.valid()) rest.metrics[id.index()] = MetricId();
  }
  auto added = std::make_shared<Profile>();
  auto added_defs = std::make_shared<Definitions>(defs);
  added_defs->metrics = {defs.metric(time), defs.metric(idle_id), defs.metric(limited_id)};
  for (Metric& metric : added_defs->metrics) metric.parent = MetricId();
  std::vector<Cells> tables;
  tables.push_back(std::move(spent));
  tables.push_back(std::move(idle));
  tables.push_back(std::move(limited));
  Mapping mapping = Mapping::identity(*added_defs);
  mapping.metrics = {time, idle_id, limited_id};
  added->definitions = std::move(added_defs);
  added->values = std::make_shared<Tables>(std::move(tables), std::move(reservation));
  added->name = profile->name;
  added->work = profile->work;
  return combine(std::move(defs), {{profile, std::move(rest)}, {added, std::move(mapping)}}, Rule::last);
}

}  // namespace fathom::algebra
