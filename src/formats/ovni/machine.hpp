// The emulated system: what state every thread, CPU, channel and task is in. An event goes through three steps:
// resolve() finds what it is about, judge() says whether it may happen now, apply() makes it happen. apply() never
// refuses: the emulator judges first and stops, the check judges and goes on, the mapping does not judge at all.
#pragma once

#include "formats/ovni/merge.hpp"
#include "formats/ovni/system.hpp"
#include "formats/ovni/tasks.hpp"

namespace fathom::ovni {

enum class ThreadState : std::uint8_t { unknown, running, paused, dead, cooling, warming };
std::string_view to_string(ThreadState state);
constexpr bool is_active(ThreadState state) {
  return state == ThreadState::running || state == ThreadState::cooling || state == ThreadState::warming;
}
// The state that an event leads to, and whether it may come from this one.
struct Transition {
  ThreadState to;
  bool allowed;
};
Transition transition(Effect effect, ThreadState from);

// Null or a number.
struct Value {
  std::int64_t number = 0;
  bool present = false;

  Value() = default;
  Value(std::int64_t value) : number(value), present(true) {}
  friend bool operator==(const Value& a, const Value& b) {
    return a.present == b.present && (!a.present || a.number == b.number);
  }
};

// A model's channel in every thread: those of the enabled models in table order, each with what the metadata add
// behind it.
struct FlatChannel {
  ChannelKind kind = ChannelKind::single;
  bool duplicates = false;
  int type = 0;
  Repeat repeat = Repeat::skip;
  Tracking tracking = Tracking::any;
  std::string title;
  bool plain_title = false;  // without "of the RUNNING thread"
  Model model = {};
  ChannelRole role = ChannelRole::other;
  int mark = -1;  // index into System::marks
  bool counter = false;
};

// Numbers of all channels that events write: three per thread, five per CPU, then the models'.
class ChannelMap {
 public:
  enum ThreadChannel : std::uint32_t { kThreadCpu, kThreadTid, kThreadStateChannel, kThreadChannels };
  enum CpuChannel : std::uint32_t { kCpuRunningCount, kCpuPid, kCpuTid, kCpuRunning, kCpuActive, kCpuChannels };

  explicit ChannelMap(const System& system);

  [[nodiscard]] std::uint32_t thread(std::uint32_t thread, std::uint32_t channel) const {
    return thread * kThreadChannels + channel;
  }
  [[nodiscard]] std::uint32_t cpu(std::uint32_t cpu, std::uint32_t channel) const {
    return cpu_begin_ + cpu * kCpuChannels + channel;
  }
  [[nodiscard]] std::uint32_t model(std::uint32_t thread, std::uint32_t flat) const {
    return model_begin_ + thread * static_cast<std::uint32_t>(flat_.size()) + flat;
  }
  [[nodiscard]] std::uint32_t end() const { return end_; }
  [[nodiscard]] const std::vector<FlatChannel>& flat() const { return flat_; }
  [[nodiscard]] std::uint32_t stride() const { return static_cast<std::uint32_t>(flat_.size()); }
  // The model's channel in the flat list, or -1 when the model is not enabled.
  [[nodiscard]] int find(Model model, int channel) const {
    const int first = first_[static_cast<std::size_t>(model)];
    return first < 0 ? -1 : first + channel;
  }
  [[nodiscard]] int first_mark() const { return first_mark_; }
  [[nodiscard]] int first_counter() const { return first_counter_; }

 private:
  std::vector<FlatChannel> flat_;
  std::array<int, kModelCount> first_{};
  int first_mark_ = -1;
  int first_counter_ = -1;
  std::uint32_t cpu_begin_ = 0;
  std::uint32_t model_begin_ = 0;
  std::uint32_t end_ = 0;
};

struct Write {
  std::uint32_t channel;
  Value value;
};

// An event with everything that it is about.
struct Step {
  Event event;
  std::int64_t clock = 0;  // offsets applied
  std::uint32_t thread = kNobody;
  int index = -1;  // in the catalogue
  const EventDef* def = nullptr;
  int flat = -1;                   // channel
  std::uint32_t cpu = kNobody;     // affinity, execution
  std::uint32_t target = kNobody;  // remote affinity
  TaskTable* table = nullptr;
  BodyStack* stack = nullptr;
  std::uint32_t type = kNobody;
  std::uint32_t task = kNobody;
  std::uint32_t body = kNobody;
  std::uint32_t task_id = 0;
  std::uint32_t body_id = 0;
};

// Something worth saying that is no defect.
struct Remark {
  const char* id;
  std::string text;
};

class Machine {
 public:
  explicit Machine(const System& system);

  void resolve(const Event& event, std::int64_t clock, std::uint32_t thread, Step& step);
  // Nothing = it may happen. MT: safe (const).
  [[nodiscard]] std::optional<std::string> judge(const Step& step) const;
  // Adds what changed to `writes`, in order.
  void apply(Step& step, std::vector<Write>& writes);

  [[nodiscard]] const ChannelMap& channels() const { return map_; }
  [[nodiscard]] ThreadState state(std::uint32_t thread) const { return threads_[thread].state; }
  // How many values lie on a channel's stack.
  [[nodiscard]] std::size_t depth(std::uint32_t thread, int flat) const;
  [[nodiscard]] const TaskTable& tasks(std::uint32_t process, Model model) const;
  [[nodiscard]] std::vector<Remark>& remarks() { return remarks_; }

 private:
  struct Thread {
    ThreadState state = ThreadState::unknown;
    bool out_of_cpu = false;
    std::uint32_t cpu = kNobody;
    std::int64_t flush_begin = 0;
    std::vector<std::int64_t> bursts;
  };
  // Who runs is only needed when it is one: the sum of all gives it then.
  struct CpuLoad {
    std::uint32_t running = 0;
    std::uint32_t active = 0;
    std::uint32_t running_sum = 0;
    std::uint32_t active_sum = 0;
    Value shown[ChannelMap::kCpuChannels];
  };
  struct Hot {
    Effect effect;
    std::int16_t flat;
    std::uint8_t model;
  };

  [[nodiscard]] const ProcessInfo& process_of(std::uint32_t thread) const { return system_.process_of(thread); }
  void resolve_task(Step& step);

  using Verdict = std::optional<std::string>;
  [[nodiscard]] Verdict judge_model(const Step& step) const;
  [[nodiscard]] Verdict judge_thread(const Step& step) const;
  [[nodiscard]] Verdict judge_arrival(std::uint32_t thread, std::uint32_t cpu) const;
  [[nodiscard]] Verdict judge_affinity(const Step& step) const;
  [[nodiscard]] Verdict judge_push(std::uint32_t thread, int flat, std::int64_t value) const;
  [[nodiscard]] Verdict judge_pop(std::uint32_t thread, int flat, std::int64_t value) const;
  [[nodiscard]] Verdict judge_set(std::uint32_t thread, int flat, Value value) const;
  [[nodiscard]] Verdict judge_mark(const Step& step) const;
  [[nodiscard]] Verdict judge_creation(const Step& step) const;
  [[nodiscard]] Verdict judge_task(const Step& step) const;
  [[nodiscard]] Verdict judge_work(const Step& step) const;

  void note_obsolete(Mcv mcv);
  void push(std::uint32_t thread, int flat, std::int64_t value, std::vector<Write>& writes);
  void pop(std::uint32_t thread, int flat, std::int64_t value, std::vector<Write>& writes);
  void set(std::uint32_t thread, int flat, Value value, std::vector<Write>& writes);
  void count(std::uint32_t thread, bool add);
  void refresh(std::uint32_t cpu, std::vector<Write>& writes);
  void show(std::uint32_t cpu, std::uint32_t channel, Value value, std::vector<Write>& writes);
  void apply_thread(const Step& step, std::vector<Write>& writes);
  void write_state(std::uint32_t thread, ThreadState before, std::vector<Write>& writes);
  void move(std::uint32_t thread, std::uint32_t cpu, std::vector<Write>& writes);
  void apply_mark(const Step& step, std::vector<Write>& writes);
  void apply_task(Step& step, std::vector<Write>& writes);
  void show_body(const Step& step, std::uint32_t body, std::vector<Write>& writes);
  void apply_burst(const Step& step);

  const System& system_;
  ChannelMap map_;
  std::vector<Hot> hot_;
  std::vector<Thread> threads_;
  std::vector<CpuLoad> cpus_;
  std::vector<Value> values_;                      // of the models' channels
  std::vector<std::vector<std::int64_t>> stacks_;  // the same, for those that are stacks
  std::vector<TaskTable> tables_;                  // per process and model
  std::vector<BodyStack> body_stacks_;             // per thread and model
  std::array<int, 100> mark_of_type_{};
  std::vector<Remark> remarks_;
};

// What a thread still has on the stacks of a model that hold pieces of code, in words; nothing when they are empty.
std::optional<std::string> left_on_stack(const Machine& machine, Model model, std::uint32_t thread);

}  // namespace fathom::ovni
