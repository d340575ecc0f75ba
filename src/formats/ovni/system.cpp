#include "formats/ovni/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text.hpp"

namespace fathom::ovni {

namespace {

constexpr std::size_t kMaxCounters = 100;

// Threads, processes and programs are numbered by an int that is above 0.
bool is_id(std::optional<std::int64_t> number) { return number && *number > 0 && *number <= INT32_MAX; }

std::string no_id(std::string_view key, std::optional<std::int64_t> number) {
  if (!number) return fmt::format("ovni.{} is missing", key);
  return fmt::format("ovni.{} is {}, expected a number from 1 to {}", key, *number, INT32_MAX);
}

struct DraftProcess {
  std::int64_t pid = 0;
  std::uint32_t first_stream = 0;
  std::optional<std::int64_t> app_id, rank, nranks;
  std::map<std::int64_t, std::uint32_t> threads;  // tid -> stream
};

struct DraftLoom {
  std::uint32_t first_stream = 0;
  std::map<std::int64_t, std::int64_t> index_of_phyid;
  std::map<std::int64_t, DraftProcess> processes;  // by pid

  [[nodiscard]] bool ranked() const {
    return std::any_of(processes.begin(), processes.end(), [](const auto& item) { return item.second.rank; });
  }
  [[nodiscard]] std::int64_t lowest_rank() const {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [pid, process] : processes) lowest = std::min(lowest, process.rank.value_or(lowest));
    return lowest;
  }
};

class Builder {
 public:
  Builder(const NativeTrace& trace, std::vector<Error>& defects, const Work& work)
      : trace_(trace), defects_(defects), work_(work) {
    system_.thread_of_stream.assign(trace.streams.size(), kNobody);
    system_.version_1 = trace.layout < Layout::v2;
  }

  System build(bool all_models) {
    for (const Error& error : trace_.unusable) defects_.push_back(error);
    for (std::uint32_t i = 0; i < trace_.streams.size(); ++i) take(i);
    order();
    models(all_models);
    marks();
    counters();
    return std::move(system_);
  }

 private:
  void defect(std::uint32_t stream, std::string text) {
    defects_.push_back(Error::refused(std::move(text), Place::in(trace_.streams[stream].metadata_file.string())));
  }

  void take(std::uint32_t i) {
    const Metadata& metadata = trace_.streams[i].metadata;
    for (const std::string& text : metadata.defects) defect(i, text);
    if (!metadata.part) return defect(i, "ovni.part is missing");
    if (*metadata.part != "thread") {
      (void)work_->diagnostics.warn("ovni.not_a_thread", Place::in(trace_.streams[i].metadata_file.string()),
                                    fmt::format("stream is a '{}', not a thread", *metadata.part));
      return;
    }
    if (!is_id(metadata.tid)) return defect(i, no_id("tid", metadata.tid));
    if (!is_id(metadata.pid)) return defect(i, no_id("pid", metadata.pid));
    if (!metadata.loom || metadata.loom->empty())
      return defect(i, "ovni.loom is missing: the loom's name is not known");
    if (metadata.loom->find('/') != std::string::npos) return defect(i, "the loom's name has a '/'");
    if (trace_.layout == Layout::v3) {
      if (!metadata.require) defect(i, "ovni.require is missing");
      if (!metadata.lib_version || !metadata.lib_commit) defect(i, "ovni.lib.version or ovni.lib.commit is missing");
    }
    if (trace_.layout >= Layout::v2 && metadata.finished.value_or(0) != 1) {
      defect(i, "missing ovni.finished: the thread was not closed");
    }
    DraftLoom& loom = looms_.try_emplace(*metadata.loom, DraftLoom{i, {}, {}}).first->second;
    DraftProcess& process =
        loom.processes.try_emplace(*metadata.pid, DraftProcess{*metadata.pid, i, {}, {}, {}, {}}).first->second;
    take_process(i, process, metadata);
    take_cpus(i, loom, metadata);
    if (!process.threads.emplace(*metadata.tid, i).second) {
      defect(i, fmt::format("thread {} of process {} in loom {} is there twice", *metadata.tid, *metadata.pid,
                            *metadata.loom));
    }
  }

  void take_process(std::uint32_t i, DraftProcess& process, const Metadata& metadata) {
    if (metadata.app_id) {
      const bool allowed = is_id(metadata.app_id) || (system_.version_1 && *metadata.app_id == 0);
      if (!allowed) defect(i, no_id("app_id", metadata.app_id));
      if (process.app_id && *process.app_id != *metadata.app_id) {
        defect(i, fmt::format("ovni.app_id is {}, but {} in another thread of the process", *metadata.app_id,
                              *process.app_id));
      }
      process.app_id = metadata.app_id;
    }
    if (!metadata.rank) return;
    if (*metadata.rank < 0) defect(i, fmt::format("ovni.rank is {}", *metadata.rank));
    if (!metadata.nranks || *metadata.nranks <= 0) return defect(i, "ovni.rank without ovni.nranks above 0");
    if (*metadata.rank >= *metadata.nranks) {
      defect(i, fmt::format("ovni.rank is {} of {} ranks", *metadata.rank, *metadata.nranks));
    }
    if (process.rank && (*process.rank != *metadata.rank || *process.nranks != *metadata.nranks)) {
      defect(i, fmt::format("rank {} of {}, but {} of {} in another thread of the process", *metadata.rank,
                            *metadata.nranks, *process.rank, *process.nranks));
    }
    process.rank = metadata.rank;
    process.nranks = metadata.nranks;
  }

  void take_cpus(std::uint32_t i, DraftLoom& loom, const Metadata& metadata) {
    if (!metadata.cpus) return;
    if (metadata.cpus->empty()) return defect(i, "the list of CPUs is empty");
    for (const Cpu& cpu : *metadata.cpus) {
      const auto [found, is_new] = loom.index_of_phyid.emplace(cpu.phyid, cpu.index);
      if (!is_new && found->second != cpu.index) {
        defect(i, fmt::format("CPU {} has the index {} here and {} elsewhere", cpu.phyid, cpu.index, found->second));
      }
    }
  }

  void order() {
    std::vector<std::pair<std::string, const DraftLoom*>> sorted;
    bool by_rank = !looms_.empty();
    for (const auto& [name, loom] : looms_) {
      sorted.emplace_back(name, &loom);
      by_rank = by_rank && loom.ranked();
    }
    system_.sorted_by_rank = by_rank;
    if (by_rank) {
      std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second->lowest_rank(), a.second->first_stream) <
               std::pair(b.second->lowest_rank(), b.second->first_stream);
      });
    }
    for (const auto& [name, loom] : sorted) add_loom(name, *loom);
  }

  void add_loom(const std::string& name, const DraftLoom& draft) {
    const auto number = static_cast<std::uint32_t>(system_.looms.size());
    const std::uint32_t any_stream = draft.processes.begin()->second.threads.begin()->second;
    LoomInfo loom;
    loom.name = name;
    const std::size_t count = draft.index_of_phyid.size();
    if (count == 0) defect(any_stream, fmt::format("loom {} has no CPUs", name));
    loom.cpu_of_index.assign(count, kNobody);
    for (const auto& [phyid, index] : draft.index_of_phyid) {
      const auto cpu = static_cast<std::uint32_t>(system_.cpus.size());
      system_.cpus.push_back({std::max<std::int64_t>(index, 0), phyid, number});
      if (index < 0 || static_cast<std::size_t>(index) >= count ||
          loom.cpu_of_index[static_cast<std::size_t>(index)] != kNobody) {
        defect(any_stream, fmt::format("CPU indices of loom {} are not 0 to {} without repetition", name, count - 1));
        continue;
      }
      loom.cpu_of_index[static_cast<std::size_t>(index)] = cpu;
    }
    loom.virtual_cpu = static_cast<std::uint32_t>(system_.cpus.size());
    system_.cpus.push_back({-1, -1, number});
    for (std::uint32_t& cpu : loom.cpu_of_index) {
      if (cpu == kNobody) cpu = loom.virtual_cpu;
    }

    std::vector<const DraftProcess*> processes;
    for (const auto& [pid, process] : draft.processes) processes.push_back(&process);
    if (draft.ranked()) {
      for (const DraftProcess* process : processes) {
        if (!process->rank) {
          defect(process->threads.begin()->second,
                 fmt::format("process {} of loom {} has no rank information, others have", process->pid, name));
        }
      }
      // Several applications have processes of one rank: these are in the order of their streams.
      std::sort(processes.begin(), processes.end(), [](const DraftProcess* a, const DraftProcess* b) {
        return std::pair(a->rank.value_or(-1), a->first_stream) < std::pair(b->rank.value_or(-1), b->first_stream);
      });
    }
    loom.first_process = static_cast<std::uint32_t>(system_.processes.size());
    loom.process_count = static_cast<std::uint32_t>(processes.size());
    system_.looms.push_back(std::move(loom));
    for (const DraftProcess* process : processes) add_process(number, *process);
  }

  void add_process(std::uint32_t loom, const DraftProcess& draft) {
    if (!draft.app_id) {
      defect(draft.threads.begin()->second, fmt::format("no thread of process {} has ovni.app_id", draft.pid));
    }
    const auto number = static_cast<std::uint32_t>(system_.processes.size());
    system_.processes.push_back({draft.pid, draft.app_id.value_or(0), draft.rank.value_or(-1),
                                 draft.nranks.value_or(-1), loom, static_cast<std::uint32_t>(system_.threads.size()),
                                 static_cast<std::uint32_t>(draft.threads.size())});
    for (const auto& [tid, stream] : draft.threads) {
      system_.thread_of_stream[stream] = static_cast<std::uint32_t>(system_.threads.size());
      system_.threads.push_back({tid, number, stream});
    }
  }

  void models(bool all_models) {
    for (std::size_t i = 0; i < kModelCount; ++i) {
      if (model_info(static_cast<Model>(i)).always_enabled) system_.enabled[i] = true;
    }
    bool without_list = false;
    for (const ThreadInfo& thread : system_.threads) {
      const auto& require = trace_.streams[thread.stream].metadata.require;
      if (!require) {
        without_list = true;
        continue;
      }
      for (const auto& [name, text] : *require) {
        const int model = find_model(name);
        if (model < 0) continue;
        const ModelInfo& info = model_info(static_cast<Model>(model));
        const auto wanted = parse_version(text);
        if (!wanted) {
          defect(thread.stream, fmt::format("ovni.require.{} is '{}', not a version X.Y.Z", name, text));
          continue;
        }
        if (wanted->major != info.version.major || wanted->minor > info.version.minor) {
          defect(thread.stream, fmt::format("model {} is required in version {}, known is {}.{}.{}", name, text,
                                            info.version.major, info.version.minor, info.version.patch));
        }
        system_.enabled[static_cast<std::size_t>(model)] = true;
      }
    }
    // Before version 3 a list of models was not demanded; the tools then took all of them.
    if (all_models || (without_list && trace_.layout != Layout::v3)) system_.enabled.fill(true);
  }

  void marks() {
    for (const ThreadInfo& thread : system_.threads) {
      for (const MarkType& mark : trace_.streams[thread.stream].metadata.marks) {
        const auto found = std::find_if(system_.marks.begin(), system_.marks.end(),
                                        [&](const MarkChannel& channel) { return channel.type == mark.type; });
        if (found == system_.marks.end()) {
          system_.marks.push_back({mark.type, mark.title, mark.channel == "stack", mark.labels});
          continue;
        }
        if (found->title != mark.title || found->stack != (mark.channel == "stack")) {
          defect(thread.stream, fmt::format("mark type {} differs from that of another thread", mark.type));
          continue;
        }
        for (const auto& [value, label] : mark.labels) {
          const auto same = std::find_if(found->labels.begin(), found->labels.end(),
                                         [&](const auto& item) { return item.first == value; });
          if (same == found->labels.end()) {
            found->labels.emplace_back(value, label);
          } else if (same->second != label) {
            defect(thread.stream, fmt::format("mark type {} has two labels for the value {}", mark.type, value));
          }
        }
      }
    }
  }

  void counters() {
    bool defined = false;
    for (const ThreadInfo& thread : system_.threads) {
      const Metadata& metadata = trace_.streams[thread.stream].metadata;
      if (!metadata.can_breakdown) system_.breakdown_missing = true;
      system_.can_breakdown = system_.can_breakdown && metadata.can_breakdown.value_or(false);
      if (!metadata.counters) continue;
      std::vector<std::string> names(metadata.counters->size());
      std::vector<bool> seen(names.size(), false);
      if (names.size() > kMaxCounters) {
        defect(thread.stream, fmt::format("{} hardware counters, at most {} are allowed", names.size(), kMaxCounters));
        continue;
      }
      bool good = true;
      for (const auto& [index, name] : *metadata.counters) {
        if (index < 0 || static_cast<std::size_t>(index) >= names.size() || seen[static_cast<std::size_t>(index)]) {
          good = false;
          break;
        }
        seen[static_cast<std::size_t>(index)] = true;
        names[static_cast<std::size_t>(index)] = name;
      }
      if (!good) {
        defect(thread.stream, "indices of nosv.hwc are not 0 to n-1");
      } else if (!defined) {
        system_.counters = std::move(names);
        defined = true;
      } else if (names != system_.counters) {
        defect(thread.stream, "hardware counters differ from those of another thread");
      }
    }
  }

  const NativeTrace& trace_;
  std::vector<Error>& defects_;
  const Work& work_;
  std::map<std::string, DraftLoom> looms_;
  System system_;
};

}  // namespace

std::uint32_t System::find_cpu(std::uint32_t thread, std::int32_t index) const {
  const LoomInfo& loom = looms[process_of(thread).loom];
  if (index == -1) return loom.virtual_cpu;
  if (index < 0 || static_cast<std::size_t>(index) >= loom.cpu_of_index.size()) return kNobody;
  return loom.cpu_of_index[static_cast<std::size_t>(index)];
}

std::uint32_t System::find_thread(std::uint32_t near, std::int32_t tid) const {
  const auto in_process = [&](const ProcessInfo& process) -> std::uint32_t {
    for (std::uint32_t i = 0; i < process.thread_count; ++i) {
      if (threads[process.first_thread + i].tid == tid) return process.first_thread + i;
    }
    return kNobody;
  };
  const ProcessInfo& own = process_of(near);
  if (const std::uint32_t found = in_process(own); found != kNobody) return found;
  const LoomInfo& loom = looms[own.loom];
  for (std::uint32_t i = 0; i < loom.process_count; ++i) {
    const std::uint32_t found = in_process(processes[loom.first_process + i]);
    if (found != kNobody) return found;
  }
  return kNobody;
}

std::optional<Version> parse_version(std::string_view text) {
  if (const auto dash = text.find('-'); dash != std::string_view::npos) text = text.substr(0, dash);
  const auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto major = parse_integer<int>(parts[0]);
  const auto minor = parse_integer<int>(parts[1]);
  const auto patch = parse_integer<int>(parts[2]);
  if (!major || !minor || !patch || *major < 0 || *minor < 0 || *patch < 0) return std::nullopt;
  return Version{*major, *minor, *patch};
}

System build_system(const NativeTrace& trace, bool all_models, std::vector<Error>& defects, const Work& work) {
  return Builder(trace, defects, work).build(all_models);
}

}  // namespace fathom::ovni
