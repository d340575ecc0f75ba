#include "report/findings_output.hpp"
#include "report/table_output.hpp"

namespace fathom {

namespace {

void optional_member(JsonWriter& json, std::string_view name, const std::optional<double>& value) {
  json.key(name);
  if (value) {
    json.value(*value);
  } else {
    json.value(nullptr);
  }
}

void write_shares(JsonWriter& json, std::string_view name, const LocationShares& shares, bool with_share) {
  json.key(name).begin_array();
  for (const LocationShare& share : shares.list) {
    json.begin_object().member("rank", share.rank).member("location", share.location).member("s", share.s);
    if (with_share) json.member("share", share.share);
    json.end_object();
  }
  json.end_array();
}

void write_named(JsonWriter& json, const std::vector<NamedSeconds>& list) {
  json.begin_array();
  for (const NamedSeconds& entry : list) {
    json.begin_object().member("name", entry.name).member("s", entry.s).end_object();
  }
  json.end_array();
}

void write_evidence(JsonWriter& json, const Finding& finding) {
  json.key("evidence").begin_object();
  for (const auto& [name, value] : finding.evidence) {
    json.key(name);
    if (const auto* list = std::get_if<std::vector<NamedSeconds>>(&value)) {
      json.begin_object();
      for (const NamedSeconds& entry : *list) json.member(entry.name, entry.s);
      json.end_object();
    } else if (const auto* number = std::get_if<double>(&value)) {
      json.value(*number);
    } else if (const auto* count = std::get_if<std::uint64_t>(&value)) {
      json.value(*count);
    } else {
      json.value(std::get<std::string>(value));
    }
  }
  json.end_object();
}

void write_finding(JsonWriter& json, const Finding& finding) {
  json.begin_object();
  json.member("kind", finding.kind).member("level", to_string(finding.level));
  json.member("severity", finding.severity).member("lost_s", finding.lost_s);
  if (finding.unit) json.member("unit", *finding.unit);
  write_shares(json, "culprits", finding.culprits, true);
  if (finding.culprits.more > 0) json.member("culprits_more", std::uint64_t{finding.culprits.more});
  write_shares(json, "victims", finding.victims, true);
  if (finding.victims.more > 0) json.member("more", std::uint64_t{finding.victims.more});
  json.key("where").begin_object();
  const Finding::Where& where = finding.where;
  if (!where.region.empty()) json.member("region", where.region);
  json.key("regions");
  write_named(json, where.regions);
  if (!where.activity.empty()) json.member("activity", where.activity);
  if (!where.before.empty()) json.member("before", where.before);
  if (!where.callpath.empty()) json.member("callpath", where.callpath);
  if (!where.callpaths.empty()) {
    json.key("callpaths");
    write_named(json, where.callpaths);
  }
  if (where.callpaths_more > 0) json.member("callpaths_more", std::uint64_t{where.callpaths_more});
  if (where.from_s) json.member("from_s", *where.from_s);
  if (where.to_s) json.member("to_s", *where.to_s);
  json.key("iterations").begin_array();
  for (const std::uint64_t k : where.iterations) json.value(k);
  json.end_array().end_object();
  write_evidence(json, finding);
  json.member("text", finding.text).member("advice", finding.advice);
  json.end_object();
}

void write_efficiencies(JsonWriter& json, const EfficiencyNumbers& numbers) {
  json.begin_object();
  json.member("parallel", numbers.parallel).member("load_balance", numbers.load_balance);
  json.member("communication", numbers.communication);
  optional_member(json, "serialisation", numbers.serialisation);
  optional_member(json, "transfer", numbers.transfer);
  json.member("runtime_s", numbers.runtime_s);
  optional_member(json, "ideal_runtime_s", numbers.ideal_runtime_s);
  json.member("useful_mean_s", numbers.useful_mean_s).member("useful_max_s", numbers.useful_max_s);
  optional_member(json, "instructions", numbers.instructions);
  optional_member(json, "ipc", numbers.ipc);
  optional_member(json, "frequency_hz", numbers.frequency_hz);
  if (!numbers.why_not.empty()) json.member("why_not", numbers.why_not);
  json.end_object();
}

void write_threads(JsonWriter& json, const analysis::ThreadEfficiencies& n) {
  json.begin_object().member("runtime_s", n.runtime * 1e-9).member("threads", n.threads);
  json.member("parallel", n.parallel).member("process", n.process);
  json.member("process_load_balance", n.process_load_balance).member("process_communication", n.process_communication);
  json.member("thread", n.thread).member("serial_region", n.serial_region);
  json.member("parallel_region", n.parallel_region).member("mpi_parallel", n.mpi_parallel);
  json.member("omp_parallel", n.omp_parallel).member("omp_load_balance", n.omp_load_balance);
  json.member("omp_scheduling", n.omp_scheduling).member("omp_serialisation", n.omp_serialisation);
  optional_member(json, "offload", n.offload);
  optional_member(json, "gpu_load_balance", n.gpu_load_balance);
  optional_member(json, "gpu_orchestration", n.gpu_orchestration);
  json.end_object();
}

void write_wait_states(JsonWriter& json, const std::vector<WaitState>& states) {
  json.begin_object();
  for (const WaitState& state : states) {
    json.key(state.kind).begin_object();
    json.member("s", state.s).member("count", state.count).member("share", state.share);
    write_shares(json, "victims", state.victims, false);
    if (state.victims.more > 0) json.member("more", std::uint64_t{state.victims.more});
    write_shares(json, "culprits", state.culprits, false);
    if (state.culprits.more > 0) json.member("culprits_more", std::uint64_t{state.culprits.more});
    json.key("regions");
    write_named(json, state.regions);
    json.end_object();
  }
  json.end_object();
}

void write_iterations(JsonWriter& json, const IterationNumbers& numbers) {
  json.begin_object().member("count", numbers.count).member("median_s", numbers.median_s);
  json.key("slow").begin_array();
  for (const std::uint64_t k : numbers.slow) json.value(k);
  json.end_array().key("phases").begin_array();
  for (const PhaseNumbers& phase : numbers.phases) {
    json.begin_object();
    if (!phase.name.empty()) json.member("name", phase.name);
    json.member("from_s", phase.from_s).member("to_s", phase.to_s).member("median_s", phase.median_s);
    json.member("parallel", phase.parallel).member("load_balance", phase.load_balance).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_report(JsonWriter& json, const Report& report) {
  json.member("path", report.path).member("format", report.format).member("locations", report.locations);
  if (report.runtime_s) json.member("runtime_s", *report.runtime_s);
  if (report.location_time_s) json.member("location_time_s", *report.location_time_s);
  if (report.counted) json.member("metric", report.counted->metric).member("unit", report.counted->unit);
  json.key("findings").begin_array();
  for (const Finding& finding : report.findings) write_finding(json, finding);
  json.end_array();
  if (report.efficiencies) {
    json.key("efficiencies");
    write_efficiencies(json, *report.efficiencies);
  }
  if (report.critical_path) {
    json.key("critical_path").begin_array();
    for (const PathPart& part : *report.critical_path) {
      json.begin_object().member("rank", part.rank).member("location", part.location);
      json.member("activity", part.activity).member("s", part.s).member("share", part.share);
      json.member("imbalance_s", part.imbalance_s).end_object();
    }
    json.end_array();
  }
  if (report.wait_states) {
    json.key("wait_states");
    write_wait_states(json, *report.wait_states);
  }
  if (report.delay_costs) {
    json.key("delay_costs").begin_array();
    for (const DelayCost& cost : *report.delay_costs) {
      json.begin_object().member("rank", cost.rank).member("location", cost.location);
      json.member("activity", cost.activity).member("short_s", cost.short_s).member("long_s", cost.long_s);
      if (!cost.callpaths.empty()) {
        json.key("callpaths").begin_array();
        for (const DelayCost::OfPath& path : cost.callpaths) {
          json.begin_object().member("name", path.name).member("short_s", path.short_s);
          json.member("long_s", path.long_s).end_object();
        }
        json.end_array();
      }
      if (cost.callpaths_more > 0) json.member("callpaths_more", std::uint64_t{cost.callpaths_more});
      json.end_object();
    }
    json.end_array();
  }
  if (report.iterations) {
    json.key("iterations");
    write_iterations(json, *report.iterations);
  } else if (report.wait_states) {
    json.key("iterations").value(nullptr);  // nothing repeats
  }
  // What this trace cannot tell, and why.
  if (!report.why_no_waits.empty()) {
    for (const char* name : {"efficiencies", "critical_path", "wait_states", "delay_costs", "iterations", "pattern"}) {
      json.key(name).value(nullptr);
    }
    json.member("why_not", report.why_no_waits);
  }
  if (report.threads) {
    json.key("thread_efficiencies");
    write_threads(json, *report.threads);
  }
  if (report.runs) {
    json.key("runs");
    write_json(json, *report.runs);
    json.member("scaling", report.runs_weak ? "weak" : "strong");
  }
  if (report.pattern) {
    json.key("pattern").begin_object().member("class", report.pattern->name);
    json.key("offsets").begin_array();
    for (const std::int64_t offset : report.pattern->offsets) json.value(offset);
    json.end_array().member("messages", report.pattern->messages).member("mean_bytes", report.pattern->mean_bytes);
    json.end_object();
  }
}

}  // namespace fathom
