#include "formats/ovni/models.hpp"

namespace fathom::ovni {

namespace {

using enum ChannelKind;
using enum ChannelRole;

constexpr ChannelDef kNanos6Channels[] = {
    {"taskid", single, false, 35, Repeat::skip, Tracking::running, "Nanos6 task ID"},
    {"task_type", single, true, 36, Repeat::write, Tracking::running, "Nanos6 task type"},
    {"subsystem", stack, false, 37, Repeat::skip, Tracking::active, "Nanos6 subsystem", code},
    {"rank", single, true, 38, Repeat::write, Tracking::running, "Nanos6 task MPI rank"},
    {"thread_type", stack, false, 39, Repeat::skip, Tracking::any, "Nanos6 thread type"},
    {"idle", single, false, 40, Repeat::skip, Tracking::running, "Nanos6 idle state", idle},
};
constexpr TaskRules kNanos6Tasks = {
    .flags = kMayPause | kRelaxedNesting,
    .parallel_flags = kMayPause | kRelaxedNesting,
    .version_1_flags = kMayPause | kRelaxedNesting,
    .names_bodies = false,
    .exact_creation = true,
    .counts_from_one = false,
    .channels = {.shows = TaskChannels::Shows::running,
                 .task = 0,
                 .type = 1,
                 .rank = 3,
                 .subsystem = 2,
                 .idle = 5,
                 .in_body = 1},
    .breakdown = {41, "nanos6-breakdown", "CPU: Nanos6 Runtime/Idle/Task breakdown", {37, 40}},
};

constexpr ChannelDef kNodesChannels[] = {
    {"subsystem", stack, false, 30, Repeat::skip, Tracking::active, "NODES subsystem", code}};

constexpr ChannelDef kKernelChannels[] = {
    {"context_switch", stack, false, 45, Repeat::skip, Tracking::any, "Kernel context switch"}};

constexpr ChannelDef kMpiChannels[] = {
    {"function", stack, false, 25, Repeat::skip, Tracking::running, "MPI function", code}};

constexpr ChannelDef kOvniChannels[] = {
    {"flush", single, false, 7, Repeat::skip, Tracking::any, "Flushing ovni buffer"}};

constexpr ChannelDef kOpenmpChannels[] = {
    {"subsystem", stack, true, 50, Repeat::skip_null, Tracking::active, "OpenMP subsystem", code},
    {"label", stack, true, 51, Repeat::skip_null, Tracking::active, "OpenMP label"},
    {"taskid", stack, true, 52, Repeat::skip_null, Tracking::active, "OpenMP task ID"},
};
constexpr TaskRules kOpenmpTasks = {
    .flags = kMayRunAgain | kRelaxedNesting,
    .parallel_flags = kMayRunAgain | kRelaxedNesting,
    .version_1_flags = kMayRunAgain | kRelaxedNesting,
    .names_bodies = false,
    .exact_creation = true,
    .counts_from_one = true,
    .channels = {.shows = TaskChannels::Shows::stacked, .task = 2, .type = 1, .subsystem = 0},
    .breakdown = {53, "openmp-breakdown", "CPU: OpenMP Runtime/Label breakdown", {50, 0}},
};

constexpr ChannelDef kTampiChannels[] = {
    {"subsystem", stack, false, 20, Repeat::skip, Tracking::active, "TAMPI subsystem", code}};

constexpr ChannelDef kNosvChannels[] = {
    {"bodyid", single, true, 15, Repeat::skip_null, Tracking::running, "nOS-V task body ID"},
    {"taskid", single, false, 10, Repeat::skip_null, Tracking::running, "nOS-V task ID"},
    {"task_type", single, true, 11, Repeat::skip_null, Tracking::running, "nOS-V task type"},
    {"appid", single, true, 12, Repeat::skip_null, Tracking::running, "nOS-V task AppID"},
    {"subsystem", stack, true, 13, Repeat::skip_null, Tracking::active, "nOS-V subsystem", code},
    {"rank", single, true, 14, Repeat::skip_null, Tracking::running, "nOS-V task MPI rank"},
    {"idle", single, false, 16, Repeat::skip_null, Tracking::running, "nOS-V idle state", idle},
};
constexpr TaskRules kNosvTasks = {
    .flags = kMayPause | kMayRunAgain,
    .parallel_flags = kParallel,
    // The first version of the model let a task run over another one.
    .version_1_flags = kMayPause | kMayRunAgain | kRelaxedNesting,
    .names_bodies = true,
    .exact_creation = false,
    .counts_from_one = false,
    .channels = {.shows = TaskChannels::Shows::running,
                 .body = 0,
                 .task = 1,
                 .type = 2,
                 .app = 3,
                 .rank = 5,
                 .subsystem = 4,
                 .idle = 6,
                 .in_body = 11},
    .breakdown = {17, "nosv-breakdown", "CPU: nOS-V Runtime/Idle/Task breakdown", {13, 16}, true},
};

// In the order of Model.
constexpr ModelInfo kModels[kModelCount] = {
    {.character = '6',
     .name = "nanos6",
     .version = {1, 1, 0},
     .channels = kNanos6Channels,
     .thread_must_be = ThreadMustBe::active,
     .obsolete = pack_mcv("6TC"),
     .tasks = &kNanos6Tasks},
    {.character = 'D',
     .name = "nodes",
     .version = {1, 0, 0},
     .channels = kNodesChannels,
     .thread_must_be = ThreadMustBe::running},
    {.character = 'K', .name = "kernel", .version = {1, 0, 0}, .channels = kKernelChannels},
    {.character = 'M',
     .name = "mpi",
     .version = {1, 0, 0},
     .channels = kMpiChannels,
     .thread_must_be = ThreadMustBe::running,
     .bare_names = true},
    {.character = 'O',
     .name = "ovni",
     .version = {1, 1, 0},
     .channels = kOvniChannels,
     .needs_cpu = true,
     .always_enabled = true,
     .rules_threads = true,
     .extra = ExtraChannels::marks,
     .meaningless_categories = "U",  // marks of unordered regions, whatever their value
     .meaningless_in_version_1 = true},
    {.character = 'P',
     .name = "openmp",
     .version = {1, 2, 1},
     .channels = kOpenmpChannels,
     .thread_must_be = ThreadMustBe::running,
     .tasks = &kOpenmpTasks},
    {.character = 'T',
     .name = "tampi",
     .version = {1, 0, 0},
     .channels = kTampiChannels,
     .thread_must_be = ThreadMustBe::running},
    {.character = 'V',
     .name = "nosv",
     .version = {2, 7, 0},
     .channels = kNosvChannels,
     .thread_must_be = ThreadMustBe::active,
     .needs_cpu = true,
     .extra = ExtraChannels::counters,
     .tasks = &kNosvTasks},
};

}  // namespace

const ModelInfo& model_info(Model model) { return kModels[static_cast<std::size_t>(model)]; }

int find_model(char character) {
  for (std::size_t i = 0; i < kModelCount; ++i) {
    if (kModels[i].character == character) return static_cast<int>(i);
  }
  return -1;
}

int find_model(std::string_view name) {
  for (std::size_t i = 0; i < kModelCount; ++i) {
    if (kModels[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace fathom::ovni
