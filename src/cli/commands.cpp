#include "cli/commands.hpp"

#include <array>

namespace fathom::cli {

// Commands of one format or one library, from the folder of that name.
std::vector<CommandEntry> ovni_commands();
std::vector<CommandEntry> cube_commands();
std::vector<CommandEntry> record_commands();

// Every other command is a file of its own and has one function here.
std::unique_ptr<Command> make_advise_command();
std::unique_ptr<Command> make_balance_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_canonize_command();
std::unique_ptr<Command> make_clean_command();
std::unique_ptr<Command> make_common_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_reduce_command();
std::unique_ptr<Command> make_critical_path_command();
std::unique_ptr<Command> make_cut_command();
std::unique_ptr<Command> make_derive_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_dump_command();
std::unique_ptr<Command> make_events_command();
std::unique_ptr<Command> make_efficiency_command();
std::unique_ptr<Command> make_exclusify_command();
std::unique_ptr<Command> make_formats_command();
std::unique_ptr<Command> make_groups_command();
std::unique_ptr<Command> make_source_command();
std::unique_ptr<Command> make_inclusify_command();
std::unique_ptr<Command> make_index_command();
std::unique_ptr<Command> make_info_command();
std::unique_ptr<Command> make_mean_command();
std::unique_ptr<Command> make_merge_command();
std::unique_ptr<Command> make_model_command();
std::unique_ptr<Command> make_stats_command();
std::unique_ptr<Command> make_sql_command();
std::unique_ptr<Command> make_nodes_command();
std::unique_ptr<Command> make_part_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_routines_command();
std::unique_ptr<Command> make_sanity_command();
std::unique_ptr<Command> make_table_command();
std::unique_ptr<Command> make_top_command();
std::unique_ptr<Command> make_topology_command();
std::unique_ptr<Command> make_tree_command();
std::unique_ptr<Command> make_view_command();
std::unique_ptr<Command> make_waits_command();
std::unique_ptr<Command> make_what_if_command();

namespace {

std::vector<CommandEntry> with(std::vector<CommandEntry> commands, const std::vector<CommandEntry>& more) {
  commands.insert(commands.end(), more.begin(), more.end());
  return commands;
}

}  // namespace

std::span<const CommandGroup> command_groups() {
  static const std::vector<CommandGroup> kGroups = {
      {"Find out what is wrong",
       "find",
       {
           {"report", "what is wrong with a run, why, and what to do about it", Forms::json, make_report_command},
           {"waits", "who waits for whom in a trace: by kind, rank, culprit, call", Forms::json_and_csv,
            make_waits_command},
           {"critical-path", "which ranks and activities decide how long a run takes", Forms::json_and_csv,
            make_critical_path_command},
           {"efficiency", "load balance, serialisation, transfer: one run, or a table over scale", Forms::json_and_csv,
            make_efficiency_command},
           {"what-if", "how long a run would take: balanced, faster ranks, another network", Forms::json,
            make_what_if_command},
       }},
      {"Look at a dataset",
       "look",
       {
           {"info", "what a dataset is: format, levels, counts, attributes", Forms::json, make_info_command},
           {"top", "where the time goes: hottest regions, contexts, files, locations", Forms::json_and_csv,
            make_top_command},
           {"tree", "the call tree with a metric: top-down, bottom-up, hot path", Forms::json_and_csv,
            make_tree_command},
           {"table", "raw values, exact and filterable: metric, context, location, value", Forms::json_and_csv,
            make_table_command},
           {"balance", "load balance: which functions differ between ranks, who is late, what it costs",
            Forms::json_and_csv, make_balance_command},
           {"events", "the events of a trace, merged by time; matched messages", Forms::json_and_csv,
            make_events_command},
           {"stats", "trace statistics: calls, time, bytes, who sends to whom", Forms::json_and_csv,
            make_stats_command},
           {"sql", "SQL over any dataset, or several", Forms::json_and_csv, make_sql_command},
           {"routines", "routines with their own and their callees' share, spread over locations", Forms::json_and_csv,
            make_routines_command},
           {"groups", "values by kind of region: MPI, OpenMP, user code; filter suggestion", Forms::json_and_csv,
            make_groups_command},
           {"source", "values beside the lines of source they were measured in", Forms::json_and_csv,
            make_source_command},
           {"nodes", "how a metric spreads over the nodes of the machine", Forms::json_and_csv, make_nodes_command},
           {"sanity", "does a measurement make sense: names, lines, values below zero", Forms::json_and_csv,
            make_sanity_command},
           {"dump", "the native records as text", Forms::text, make_dump_command},
           {"check", "validate: every defect with its place", Forms::json, make_check_command},
       }},
      {"Look at it in a browser",
       "browser",
       {
           {"view", "the viewer: call trees, flame graphs, timelines, scaling, in a browser", Forms::json,
            make_view_command},
           {"index", "make the viewer's index of a trace beforehand", Forms::json_and_csv, make_index_command},
       }},
      {"Compare and combine", "algebra",
       with(
           {
               {"diff", "what changed between two profiles; --fail-above for CI", Forms::json_and_csv,
                make_diff_command},
               {"merge", "metrics, or locations, of several profiles in one", Forms::text, make_merge_command},
               {"mean", "the average of several profiles", Forms::text, make_mean_command},
               {"cut", "a part of the call tree, or the tree without parts", Forms::text, make_cut_command},
               {"compare", "are profiles equal: trees, ids, every value", Forms::json, make_compare_command},
               {"common", "profiles reduced to the call paths they share", Forms::text, make_common_command},
               {"part", "a profile with the values of some ranks only", Forms::text, make_part_command},
               {"clean", "a profile without regions that nothing calls", Forms::text, make_clean_command},
               {"canonize", "region names made comparable", Forms::text, make_canonize_command},
               {"exclusify", "store all metrics as exclusive ones", Forms::text, make_exclusify_command},
               {"inclusify", "store all metrics as inclusive ones", Forms::text, make_inclusify_command},
               {"derive", "add metrics that are computed from others", Forms::text, make_derive_command},
               {"topology", "the arrangement of processes and threads: listed, made, named", Forms::json_and_csv,
                make_topology_command},
           },
           cube_commands())},
      {"Predict",
       "models",
       {
           {"model", "scaling models from an experiment or a directory of runs", Forms::json_and_csv,
            make_model_command},
           {"advise", "which points to measure next under a budget", Forms::json, make_advise_command},
       }},
      {"Measure", "measure", record_commands()},
      {"Hand on",
       "convert",
       {
           {"convert", "write another format, or the same again", Forms::text, make_convert_command},
           {"reduce", "make a profile from a trace", Forms::text, make_reduce_command},
       }},
      {"ovni traces", "ovni", ovni_commands()},
      {"About Fathom",
       "about",
       {
           {"formats", "what is read and written", Forms::json_and_csv, make_formats_command},
       }},
  };
  return kGroups;
}

std::span<const std::string_view> first_commands() {
  static constexpr std::array<std::string_view, 12> kFirst = {"info", "report", "top",  "tree",  "balance", "stats",
                                                              "view", "events", "diff", "model", "convert", "check"};
  return kFirst;
}

const CommandEntry* find_command(std::string_view name) {
  for (const CommandGroup& group : command_groups()) {
    for (const CommandEntry& entry : group.commands) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandGroup& group : command_groups()) {
    for (const CommandEntry& entry : group.commands) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace fathom::cli
