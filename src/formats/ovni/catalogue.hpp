// The event catalogue: every event that the models know. Decoding, `dump`, the emulator, the mapping and the
// documentation all read these tables; there is no second list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fathom::ovni {

// In the order of their characters, which is the order in which the emulator works through them.
enum class Model : std::uint8_t { nanos6, nodes, kernel, mpi, ovni, openmp, tampi, nosv };
inline constexpr std::size_t kModelCount = 8;

// What an event does to the emulated system. push, pop and set work on the channel and value of the table.
enum class Effect : std::uint8_t {
  none,
  push,
  pop,
  set,
  thread_execute,
  thread_end,
  thread_pause,
  thread_resume,
  thread_cool,
  thread_warm,
  affinity_set,
  affinity_remote,
  burst,
  obsolete,
  flush_begin,
  flush_end,
  mark_push,
  mark_pop,
  mark_set,
  kernel_out,
  kernel_in,
  type_create,
  task_create,
  task_create_parallel,
  task_execute,
  task_end,
  task_pause,
  task_resume,
  work_enter,
  work_leave,
  counters,
};

enum class ArgType : std::uint8_t { i32, u32, i64, u64, text };

struct Argument {
  std::string_view name;
  ArgType type = ArgType::u32;
  std::uint8_t offset = 0;  // in the payload, or in the data of a jumbo event
};

struct EventDef {
  std::string_view mcv;
  Model model;
  Effect effect;
  std::int8_t channel;  // index into the model's channels, -1 for none
  std::int16_t value;
  bool jumbo;
  std::string_view arguments;  // "taskid:u32 label:str", packed in this order
  std::string_view sentence;   // with {argument} where its value goes
};

// Three characters as one number: the first is the lowest byte, as in a stream.
using Mcv = std::uint32_t;
constexpr Mcv pack_mcv(std::string_view text) {
  return static_cast<unsigned char>(text[0]) | static_cast<Mcv>(static_cast<unsigned char>(text[1])) << 8 |
         static_cast<Mcv>(static_cast<unsigned char>(text[2])) << 16;
}
constexpr char model_character(Mcv mcv) { return static_cast<char>(mcv & 0xff); }
constexpr char category_character(Mcv mcv) { return static_cast<char>(mcv >> 8 & 0xff); }
// The three characters; bytes that cannot be printed are shown as they are.
std::string_view mcv_text(Mcv mcv, std::array<char, 3>& buffer);

// A sentence cut up: literal text, then an argument (-1: none).
struct SentencePart {
  std::string_view literal;
  int argument = -1;
};

// What the table's texts mean, worked out once.
struct EventInfo {
  const EventDef* def = nullptr;
  std::vector<Argument> arguments;
  std::vector<SentencePart> sentence;
  std::uint32_t minimum_payload = 0;  // bytes of all arguments, a text counting one for its end
};

std::span<const EventDef> all_events();
// Index into all_events(), or -1. MT: safe (const).
int find_event(Mcv mcv);
const EventInfo& event_info(int index);

struct ValueLabel {
  int type;
  std::int64_t value;
  std::string_view label;
};
// In the order in which .pcf files list them.
std::span<const ValueLabel> all_labels();
// The name of a value of a Paraver type, or "".
std::string_view find_label(int type, std::int64_t value);
// Thread states have a type of their own.
inline constexpr int kThreadStateType = 4;

}  // namespace fathom::ovni
