#include "formats/ovni/emulation_views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::ovni {

namespace {

constexpr std::uint16_t kThreadView = 0;
constexpr std::uint16_t kCpuView = 1;
constexpr std::size_t kLongestLabel = 511;

std::string cpu_name(const CpuInfo& cpu) {
  return cpu.is_virtual() ? fmt::format("vCPU {}.*", cpu.loom) : fmt::format(" CPU {}.{}", cpu.loom, cpu.phyid);
}

void add_labels(ViewType& type, int number) {
  for (const ValueLabel& label : all_labels()) {
    if (label.type == number) type.values.emplace_back(label.value, label.label);
  }
}

std::string_view suffix(Tracking tracking) {
  switch (tracking) {
    case Tracking::any:
      return "";
    case Tracking::running:
      return "of the RUNNING thread";
    case Tracking::active:
      return "of the ACTIVE thread";
  }
  return "";
}

class Connector {
 public:
  Connector(const System& system, const ChannelMap& map)
      : system_(system), map_(map), result_{{}, ChannelNet(map.end())} {}

  EmulationViews connect(const std::array<bool, kModelCount>& breakdown) {
    base_views();
    for (std::size_t i = 0; i < kModelCount; ++i) {
      if (!system_.enabled[i]) continue;
      const auto model = static_cast<Model>(i);
      std::vector<std::uint32_t> own;
      std::vector<std::uint32_t> extra;
      for (std::uint32_t flat = 0; flat < map_.stride(); ++flat) {
        if (map_.flat()[flat].model != model) continue;
        (map_.flat()[flat].plain_title ? extra : own).push_back(flat);
      }
      connect_channels(own);
      if (breakdown[i]) connect_breakdown(model);
      connect_channels(extra);
    }
    return std::move(result_);
  }

 private:
  void base_views() {
    View threads{"thread", {}, {}};
    View cpus{"cpu", {}, {}};
    ViewType affinity{6, "Thread: CPU affinity", {}};
    for (std::uint32_t i = 0; i < system_.cpus.size(); ++i) {
      cpus.rows.push_back(cpu_name(system_.cpus[i]));
      affinity.values.emplace_back(i + 1, cpus.rows.back());
    }
    for (const ThreadInfo& thread : system_.threads) {
      threads.rows.push_back(fmt::format("TH {}.{}", system_.processes[thread.process].app_id, thread.tid));
    }
    ViewType state{kThreadStateType, "Thread: thread state", {}};
    add_labels(state, kThreadStateType);
    threads.types = {std::move(affinity), {2, "Thread: TID of the ACTIVE thread", {}}, std::move(state)};
    result_.views = {std::move(threads), std::move(cpus)};

    ChannelNet& net = result_.net;
    for (std::uint32_t i = 0; i < system_.threads.size(); ++i) {
      net.show(map_.thread(i, ChannelMap::kThreadCpu), kThreadView, i, 6, Repeat::error, 1);
      net.show(map_.thread(i, ChannelMap::kThreadTid), kThreadView, i, 2, Repeat::error);
      net.show(map_.thread(i, ChannelMap::kThreadStateChannel), kThreadView, i, kThreadStateType, Repeat::skip);
    }
    for (std::uint32_t i = 0; i < system_.cpus.size(); ++i) {
      net.show(map_.cpu(i, ChannelMap::kCpuRunningCount), kCpuView, i, 3, Repeat::error);
      net.show(map_.cpu(i, ChannelMap::kCpuPid), kCpuView, i, 1, Repeat::error);
      net.show(map_.cpu(i, ChannelMap::kCpuTid), kCpuView, i, 2, Repeat::error);
    }
    cpu_output_.assign(system_.cpus.size() * map_.stride(), kNobody);
  }

  // The order of all this is that of the listeners, and so of records of equal time.
  void connect_channels(const std::vector<std::uint32_t>& flats) {
    ChannelNet& net = result_.net;
    for (std::uint32_t thread = 0; thread < system_.threads.size(); ++thread) {
      for (const std::uint32_t flat : flats) {
        const FlatChannel& channel = map_.flat()[flat];
        std::uint32_t shown = map_.model(thread, flat);
        if (is_idle(channel)) net.preset(shown, kIdleProgressing);
        if (channel.tracking != Tracking::any) {
          shown = net.follow_state(map_.thread(thread, ChannelMap::kThreadStateChannel), shown,
                                   channel.tracking == Tracking::active);
        }
        net.show(shown, kThreadView, thread, channel.type, channel.repeat);
      }
    }
    for (std::uint32_t cpu = 0; cpu < system_.cpus.size(); ++cpu) {
      for (const std::uint32_t flat : flats) {
        const FlatChannel& channel = map_.flat()[flat];
        const std::uint32_t output = net.follow_thread(map_.cpu(cpu, ChannelMap::kCpuRunning), map_.model(0, flat),
                                                       map_.stride(), is_idle(channel) ? Value(kIdleResting) : Value());
        net.show(output, kCpuView, cpu, channel.type, channel.repeat);
        cpu_output_[cpu * map_.stride() + flat] = output;
      }
    }
    for (const std::uint32_t flat : flats) {
      const FlatChannel& channel = map_.flat()[flat];
      for (const std::uint16_t view : {kThreadView, kCpuView}) {
        const Tracking tracking = view == kThreadView ? channel.tracking : Tracking::running;
        ViewType type{channel.type,
                      channel.plain_title ? channel.title : fmt::format("{} {}", channel.title, suffix(tracking)),
                      {}};
        if (channel.mark >= 0) {
          type.values = system_.marks[static_cast<std::size_t>(channel.mark)].labels;
        } else if (!channel.counter) {
          add_labels(type, channel.type);
        }
        result_.views[view].types.push_back(std::move(type));
      }
    }
  }

  static bool is_idle(const FlatChannel& channel) { return channel.role == ChannelRole::idle; }

  [[nodiscard]] std::uint32_t cpu_output(std::uint32_t cpu, Model model, int channel) const {
    return cpu_output_[cpu * map_.stride() + static_cast<std::uint32_t>(map_.find(model, channel))];
  }

  void connect_breakdown(Model model) {
    ChannelNet& net = result_.net;
    const TaskRules& rules = *model_info(model).tasks;
    const Breakdown& breakdown = rules.breakdown;
    const TaskChannels& channels = rules.channels;
    std::vector<std::uint32_t> results;
    for (std::uint32_t cpu = 0; cpu < system_.cpus.size(); ++cpu) {
      if (system_.cpus[cpu].is_virtual()) continue;
      const std::uint32_t subsystem = cpu_output(cpu, model, channels.subsystem);
      const std::uint32_t type = cpu_output(cpu, model, channels.type);
      if (channels.shows == TaskChannels::Shows::stacked) {
        results.push_back(net.follow_label(type, subsystem));
        continue;
      }
      const std::uint32_t busy = net.follow_body(subsystem, type, channels.in_body, kUnknownSubsystem);
      results.push_back(net.follow_idle(cpu_output(cpu, model, channels.idle), busy));
    }
    const auto view = static_cast<std::uint16_t>(result_.views.size());
    const std::vector<std::uint32_t> outputs = net.sort_values(results);
    View rows{std::string(breakdown.name), {}, {}};
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      net.show(outputs[i], view, i, breakdown.type, Repeat::skip);
      rows.rows.push_back(fmt::format("~CPU {:4}", outputs.size() - i));
    }
    ViewType type{breakdown.type, std::string(breakdown.label), {}};
    for (const int labels : breakdown.labels) add_labels(type, labels);
    rows.types.push_back(std::move(type));
    result_.views.push_back(std::move(rows));
  }

  const System& system_;
  const ChannelMap& map_;
  EmulationViews result_;
  std::vector<std::uint32_t> cpu_output_;
};

}  // namespace

EmulationViews connect_views(const System& system, const ChannelMap& map,
                             const std::array<bool, kModelCount>& breakdown) {
  return Connector(system, map).connect(breakdown);
}

Result<void> judge_labels(const std::vector<View>& views, const Place& place) {
  for (const View& view : views) {
    for (const ViewType& type : view.types) {
      std::size_t longest = type.label.size();
      for (const auto& [value, label] : type.values) longest = std::max(longest, label.size());
      if (longest <= kLongestLabel) continue;
      return Error::refused(fmt::format("a name of '{}' has {} bytes, at most {} are allowed", type.label.substr(0, 40),
                                        longest, kLongestLabel),
                            place);
    }
  }
  return {};
}

Result<void> add_task_types(std::vector<View>& views, const System& system, const Machine& machine, Model model) {
  const ModelInfo& info = model_info(model);
  const int type_of_tasks = info.channels[static_cast<std::size_t>(info.tasks->channels.type)].type;
  const int type_of_breakdown = info.tasks->breakdown.type;
  FlatIndex seen;
  std::vector<const TaskType*> types;
  for (std::uint32_t process = 0; process < system.processes.size(); ++process) {
    for (const TaskType& type : machine.tasks(process, model).types) {
      if (type.label.size() > kLongestLabel) {
        return Error::refused(fmt::format("label of task type {} has {} bytes, at most {} are allowed", type.id,
                                          type.label.size(), kLongestLabel));
      }
      const std::uint32_t found = seen.find(type.gid);
      if (found == FlatIndex::kNone) {
        seen.insert(type.gid, static_cast<std::uint32_t>(types.size()));
        types.push_back(&type);
      } else if (types[found]->label != type.label) {
        return Error::refused(
            fmt::format("task types '{}' and '{}' share the value {}", types[found]->label, type.label, type.gid));
      }
    }
  }
  for (View& view : views) {
    for (ViewType& type : view.types) {
      if (type.type != type_of_tasks && type.type != type_of_breakdown) continue;
      for (const TaskType* known : types) type.values.emplace_back(known->gid, known->label);
    }
  }
  return {};
}

}  // namespace fathom::ovni
