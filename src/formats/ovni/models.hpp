// The models, one descriptor each: everything that the rules of one differ in from those of another. Whoever follows
// events asks the descriptor, never which model it is.
#pragma once

#include "formats/ovni/catalogue.hpp"

namespace fathom::ovni {

// A channel of a model, as the emulator shows it.
enum class ChannelKind : std::uint8_t { single, stack };
enum class Tracking : std::uint8_t { any, running, active };
// When a value equal to the last one is written again: skip it, skip it only when null, never skip.
enum class Repeat : std::uint8_t { skip, skip_null, write, error };
enum class ChannelRole : std::uint8_t {
  other,
  code,  // a stack whose values are pieces of code: what the thread is in
  idle,  // whether the thread makes progress; it does until it says otherwise
};

struct ChannelDef {
  std::string_view name;
  ChannelKind kind;
  bool duplicates;  // the same value may be set twice in a row
  int type;         // Paraver type
  Repeat repeat;
  Tracking tracking;
  std::string_view title;
  ChannelRole role = ChannelRole::other;
};

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
};

enum TaskFlag : unsigned {
  kMayPause = 1,
  kMayRunAgain = 2,
  kParallel = 4,
  kRelaxedNesting = 8,  // another body may start on top while it runs
};

// How a model shows what its tasks do.
struct TaskChannels {
  enum class Shows : std::uint8_t {
    running,  // the channels below say which body runs, and the subsystem that one does
    stacked,  // the task and its type are pushed and popped with every body
  };
  Shows shows;
  // Indices into the model's channels, -1 = it has none.
  int body = -1;
  int task = -1;
  int type = -1;
  int app = -1;
  int rank = -1;
  int subsystem = -1;
  int idle = -1;
  std::int64_t in_body = 0;  // value of the subsystem while a body runs
};

// The view that says how many CPUs do what.
struct Breakdown {
  int type;
  std::string_view name;
  std::string_view label;
  std::array<int, 2> labels;  // Paraver types whose value names are listed
  bool by_metadata = false;   // only where all threads say that they can be broken down
};

struct TaskRules {
  // Flags of what the two events of creation make, and of both in traces of version 1.
  unsigned flags;
  unsigned parallel_flags;
  unsigned version_1_flags;
  bool names_bodies;     // events carry a body behind the task; in version 1 none did
  bool exact_creation;   // nothing may stand behind the arguments of a creation
  bool counts_from_one;  // no task may be created as number 0
  TaskChannels channels;
  Breakdown breakdown;
};

// Channels that the metadata add behind the model's own.
enum class ExtraChannels : std::uint8_t { none, marks, counters };
// What a thread must be for an event of the model.
enum class ThreadMustBe : std::uint8_t { anything, active, running };

struct ModelInfo {
  char character;
  std::string_view name;
  Version version;
  std::span<const ChannelDef> channels;
  ThreadMustBe thread_must_be = ThreadMustBe::anything;
  bool needs_cpu = false;  // the kernel must not have taken the thread off its CPU
  bool always_enabled = false;
  bool rules_threads = false;  // its events begin and end threads: all must be over at the end
  bool bare_names = false;     // its pieces of code are known without the model's name in front
  ExtraChannels extra = ExtraChannels::none;
  // Events that are in no catalogue: of these categories they mean nothing, as all do in version 1 where it says so;
  // the obsolete one is let through with a remark.
  std::string_view meaningless_categories = {};
  bool meaningless_in_version_1 = false;
  Mcv obsolete = 0;
  const TaskRules* tasks = nullptr;  // null = the model has none
};

const ModelInfo& model_info(Model model);
// The model of a character, or -1.
int find_model(char character);
int find_model(std::string_view name);

// Values that more than one model has.
inline constexpr std::int64_t kIdleProgressing = 100;
inline constexpr std::int64_t kIdleResting = 101;
inline constexpr std::int64_t kUnknownSubsystem = 2;

}  // namespace fathom::ovni
