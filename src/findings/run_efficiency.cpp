#include "findings/run_efficiency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "findings/profile_rules.hpp"
#include "findings/trace_report.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_files.hpp"
#include "formats/runs/runs_format.hpp"
#include "profile/selection.hpp"
#include "trace/gpu_idleness.hpp"

namespace fathom {

namespace {

bool has(const Dataset& dataset, Level level) {
  const auto levels = dataset.levels();
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

Result<RunEfficiency> of_trace(const Trace& trace, const Work& work) {
  FATHOM_TRY(const auto analysis, analysis::analyse(trace, work));
  RunEfficiency run;
  run.locations = analysis->run.present();
  run.numbers = efficiency_numbers(analysis->efficiencies);
  run.useful_s = run.numbers.useful_mean_s * static_cast<double>(run.locations);
  if (analysis->efficiencies.cycles && run.useful_s > 0) {
    run.numbers.frequency_hz = *analysis->efficiencies.cycles / run.useful_s;
  }
  return run;
}

// The first CPU location of every process, in the order of processes.
std::vector<std::size_t> masters(const SystemTree& system) {
  std::map<SystemNodeId, std::size_t> first;
  for (std::size_t l = 0; l < system.location_count(); ++l) {
    const SystemNodeId group = system.group_of(LocationId(l));
    if (group.valid() && is_cpu(system, LocationId(l))) first.try_emplace(group, l);
  }
  std::vector<std::size_t> out;
  for (const auto& [group, location] : first) out.push_back(location);
  return out;
}

Result<RunEfficiency> of_profile(const ProfilePtr& profile) {
  FATHOM_TRY(const MetricId cost, guess_cost(*profile));
  FATHOM_TRY(const ProfileRules rules, ProfileRules::over(profile, cost));
  const bool any_mpi = std::find(rules.group_of.begin(), rules.group_of.end(), "MPI") != rules.group_of.end();
  if (!any_mpi) return Error::usage("this profile has no calls of a message-passing library");
  const Metric& metric = rules.defs.metric(rules.time);
  const double second = metric.unit.empty() ? 1 : seconds_per(to_lower(trim(metric.unit)));
  if (second == 0) {
    return Error::usage(fmt::format("this profile has no time: '{}' is in '{}'", metric.name, metric.unit));
  }
  const std::size_t locations = rules.defs.system.location_count();
  std::vector<double> useful(locations);
  std::vector<double> all(locations);
  FATHOM_CHECK(each_part(*profile, rules.time, [&](std::uint32_t first, const Cells& cells) {
    for (std::size_t c = 0; c < rules.defs.contexts.size(); ++c) {
      const RegionId region = rules.defs.contexts[ContextId(c)].region;
      const bool mpi = region.valid() && rules.group_of[region.index()] == "MPI";
      for (std::size_t l = 0; l < cells.columns(); ++l) {
        const double value = cells.scalar(c, l) * second;
        all[first + l] += value;
        if (!mpi) useful[first + l] += value;
      }
    }
  }));
  RunEfficiency run;
  EfficiencyNumbers& numbers = run.numbers;
  for (const std::size_t l : masters(rules.defs.system)) {
    if (!(all[l] > 0)) continue;
    ++run.locations;
    run.useful_s += useful[l];
    numbers.runtime_s = std::max(numbers.runtime_s, all[l]);
    numbers.useful_max_s = std::max(numbers.useful_max_s, useful[l]);
  }
  if (run.locations == 0 || !(numbers.useful_max_s > 0)) return Error::usage("no process of this profile computes");
  numbers.useful_mean_s = run.useful_s / static_cast<double>(run.locations);
  numbers.load_balance = numbers.useful_mean_s / numbers.useful_max_s;
  numbers.communication = numbers.useful_max_s / numbers.runtime_s;
  numbers.parallel = numbers.load_balance * numbers.communication;
  numbers.why_not = "a profile does not tell waiting from transfer";
  return run;
}

double computation(const RunEfficiency& run, const RunEfficiency& first, bool weak) {
  double factor = run.useful_s > 0 ? first.useful_s / run.useful_s : 1;
  if (weak && first.locations > 0) {
    factor *= static_cast<double>(run.locations) / static_cast<double>(first.locations);
  }
  return factor;
}

constexpr const char* kFactors[] = {"load_balance", "serialisation", "transfer", "communication", "computation"};

std::string words(const std::string& factor) { return factor == "load_balance" ? "load balance" : factor; }

}  // namespace

Result<RunEfficiency> run_efficiency(Dataset& dataset, const Work& work) {
  Result<RunEfficiency> run = RunEfficiency{};
  if (has(dataset, Level::trace) && !has(dataset, Level::profile)) {
    FATHOM_TRY(const auto trace, dataset.trace());
    run = of_trace(*trace, work);
  } else {
    FATHOM_TRY(const auto profile, dataset.profile());
    run = of_profile(profile);
  }
  if (run) run->name = run_name(dataset.path());
  return run;
}

std::string run_name(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path.stem().string();
  return path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
}

bool is_one_run(const std::filesystem::path& path, const Work& work) {
  const auto source = Source::at(path, work);
  if (!source) return false;
  const auto found = recognise(*source);
  return !found.empty() && found.front().format != &runs::format();
}

Result<std::vector<RunEfficiency>> run_efficiencies(const std::filesystem::path& directory, const Work& work) {
  FATHOM_TRY(const runs::RunList list, runs::list_runs(directory, work));
  std::vector<RunEfficiency> out;
  for (const runs::Member& member : list.members) {
    const auto one = [&]() -> Result<RunEfficiency> {
      FATHOM_TRY(const DatasetPtr dataset, open_dataset(member.path, work));
      return run_efficiency(*dataset, work);
    };
    auto run = one();
    if (!run && run.error().kind() == ErrorKind::cancelled) return std::move(run).error();
    if (!run) {
      work->diagnostics.info("runs.no_efficiency", Place::in(member.path.string()),
                             fmt::format("this run has no efficiencies: {}", run.error().what()));
      continue;
    }
    if (!member.run.empty()) run->name = member.run;
    out.push_back(std::move(*run));
  }
  return out;
}

bool looks_weak(const std::vector<RunEfficiency>& runs) {
  const auto by_size = [](const RunEfficiency& a, const RunEfficiency& b) { return a.locations < b.locations; };
  const auto [first, last] = std::minmax_element(runs.begin(), runs.end(), by_size);
  if (runs.empty() || !(first->useful_s > 0) || first->locations == 0) return false;
  const double work = last->useful_s / first->useful_s;
  return work > std::sqrt(static_cast<double>(last->locations) / static_cast<double>(first->locations));
}

Table efficiency_table(std::vector<RunEfficiency> runs, bool weak) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunEfficiency& a, const RunEfficiency& b) { return a.locations < b.locations; });
  // Counters are rare: columns for them only where a run has them.
  const bool counted = std::any_of(runs.begin(), runs.end(),
                                   [](const RunEfficiency& run) { return run.numbers.instructions.has_value(); });
  Schema schema{"efficiency",
                {{"run", ColumnType::text},
                 {"locations", ColumnType::uint64},
                 {"runtime_s", ColumnType::float64, "s"},
                 {"global", ColumnType::float64},
                 {"parallel", ColumnType::float64},
                 {"load_balance", ColumnType::float64},
                 {"communication", ColumnType::float64},
                 {"serialisation", ColumnType::float64},
                 {"transfer", ColumnType::float64},
                 {"computation", ColumnType::float64},
                 {"speedup", ColumnType::float64}}};
  if (counted) {
    for (const char* name : {"instruction_scaling", "ipc_scaling", "frequency_scaling", "ipc", "frequency_ghz"}) {
      schema.columns.push_back({name, ColumnType::float64});
    }
  }
  TableBuilder table(std::move(schema));
  for (const RunEfficiency& run : runs) {
    const RunEfficiency& first = runs.front();
    const double scaled = computation(run, first, weak);
    const double speedup = run.numbers.runtime_s > 0 ? first.numbers.runtime_s / run.numbers.runtime_s : 1;
    const EfficiencyNumbers& n = run.numbers;
    const EfficiencyNumbers& m = first.numbers;
    if (!counted) {
      table.row(run.name, run.locations, n.runtime_s, n.parallel * scaled, n.parallel, n.load_balance, n.communication,
                n.serialisation, n.transfer, scaled, speedup);
      continue;
    }
    const auto ratio = [](const std::optional<double>& a, const std::optional<double>& b, double scale = 1) {
      return a && b && *b > 0 ? std::optional(*a / *b * scale) : std::nullopt;
    };
    const double grown =
        weak && first.locations > 0 ? static_cast<double>(run.locations) / static_cast<double>(first.locations) : 1;
    table.row(run.name, run.locations, n.runtime_s, n.parallel * scaled, n.parallel, n.load_balance, n.communication,
              n.serialisation, n.transfer, scaled, speedup, ratio(m.instructions, n.instructions, grown),
              ratio(n.ipc, m.ipc), ratio(n.frequency_hz, m.frequency_hz), n.ipc,
              ratio(n.frequency_hz, std::optional(1e9)));
  }
  return std::move(table).finish();
}

std::optional<FallingFactor> falls_first(const std::vector<RunEfficiency>& runs, bool weak) {
  struct Scale {
    std::map<std::string, double> sums;
    std::map<std::string, std::size_t> counts;
    [[nodiscard]] std::optional<double> mean(const std::string& name) const {
      const auto found = sums.find(name);
      if (found == sums.end()) return std::nullopt;
      return found->second / static_cast<double>(counts.at(name));
    }
  };
  if (runs.empty()) return std::nullopt;
  const RunEfficiency& smallest =
      *std::min_element(runs.begin(), runs.end(),
                        [](const RunEfficiency& a, const RunEfficiency& b) { return a.locations < b.locations; });
  std::map<std::uint64_t, Scale> scales;
  for (const RunEfficiency& run : runs) {
    Scale& scale = scales[run.locations];
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (!value) return;
      scale.sums[name] += *value;
      ++scale.counts[name];
    };
    const bool parts = run.numbers.serialisation && run.numbers.transfer;
    add("load_balance", run.numbers.load_balance);
    add("serialisation", run.numbers.serialisation);
    add("transfer", run.numbers.transfer);
    if (!parts) add("communication", run.numbers.communication);
    add("computation", computation(run, smallest, weak));
  }
  if (scales.size() < 2) return std::nullopt;
  FallingFactor found;
  found.first_locations = scales.begin()->first;
  found.last_locations = scales.rbegin()->first;
  // First what falls clearly; only where nothing does, what falls at all.
  for (const double least : {0.05, 0.01}) {
    for (auto at = std::next(scales.begin()); at != scales.end() && found.name.empty(); ++at) {
      double largest = least;
      for (const char* name : kFactors) {
        const auto first = scales.begin()->second.mean(name);
        const auto then = at->second.mean(name);
        const auto last = scales.rbegin()->second.mean(name);
        if (!first || !then || !last || !(*first > 0)) continue;
        const double fall = 1 - *then / *first;
        if (fall <= largest) continue;
        largest = fall;
        found.name = name;
        found.locations = at->first;
        found.first = *first;
        found.then = *then;
        found.last = *last;
      }
    }
  }
  return found.name.empty() ? std::nullopt : std::optional(found);
}

std::string falling_text(const FallingFactor& factor) {
  const auto share = [](double value) { return fmt::format("{:.1f}%", value * 100); };
  std::string out = fmt::format("From {} to {} locations {} falls first: {} at {}", factor.first_locations,
                                factor.last_locations, words(factor.name), share(factor.first), factor.first_locations);
  if (factor.locations != factor.last_locations) out += fmt::format(", {} at {}", share(factor.then), factor.locations);
  return out + fmt::format(", {} at {}.", share(factor.last), factor.last_locations);
}

Report scaling_report(std::vector<RunEfficiency> runs) {
  Report report;
  const bool weak = looks_weak(runs);
  const auto falling = falls_first(runs, weak);
  report.runs = efficiency_table(std::move(runs), weak);
  report.runs_weak = weak;
  if (!falling) return report;
  Finding finding;
  finding.kind = "scaling_loss";
  finding.severity = std::max(0.0, 1 - falling->last / falling->first);
  finding.level = level_of(finding.severity);
  // Of the largest runs, the time that this factor has cost since the smallest.
  double location_time = 0;
  for (std::size_t row = 0; row < report.runs->rows(); ++row) {
    const double locations = report.runs->column("locations").real(row);
    if (locations == static_cast<double>(falling->last_locations)) {
      location_time = locations * report.runs->column("runtime_s").real(row);
    }
  }
  finding.lost_s = finding.severity * location_time;
  finding.where.activity = falling->name == "computation" ? "compute" : "mpi";
  finding.add_evidence("factor", falling->name);
  finding.add_evidence("first", falling->first);
  finding.add_evidence("last", falling->last);
  finding.add_evidence("falls_at", falling->locations);
  finding.text = falling_text(*falling);
  static const std::map<std::string, const char*> kAdvice = {
      {"load_balance",
       "Work is divided less and less evenly: the report of the largest run names the ranks that have too much."},
      {"serialisation",
       "Ranks wait for each other more and more, which a faster network would not change: the report of the largest "
       "run says for whom."},
      {"transfer", "Moving data takes more and more: send less, fewer and larger messages, or keep fewer ranks."},
      {"communication",
       "MPI takes more and more: record a trace of the largest run, its report tells waiting from moving data."},
      {"computation",
       "All ranks together compute longer the more of them there are: look for work that each of them repeats, and "
       "for memory that they share."}};
  finding.advice = kAdvice.at(falling->name);
  report.findings.push_back(std::move(finding));
  report.finish();
  return report;
}

}  // namespace fathom
