#include "formats/nsight/measurements.hpp"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "experiment/call_path.hpp"
#include "formats/nsight/activities.hpp"
#include "formats/nsight/call_paths.hpp"

namespace fathom::nsight {
namespace {

constexpr std::string_view kTime = "time";
constexpr std::string_view kBytes = "bytes_transferred";
constexpr double kSecond = 1e9;

// Tags tell Extra-P's post-processing what a call path is.
const std::pair<std::string, std::string> kIgnoreCount = {"validation__ignore__num_measurements", "true"};
const std::pair<std::string, std::string> kUsageDisabled = {"agg__usage_disabled", "true"};
const std::pair<std::string, std::string> kOverlap = {"gpu__overlap", "true"};
const std::pair<std::string, std::string> kOverlapSum = {"gpu__overlap", "\"agg\""};
const std::pair<std::string, std::string> kKernelTag = {"gpu__kernel", "true"};
const std::pair<std::string, std::string> kNotCompared = {"agg__category__comparison_cpu_gpu", "null"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool manages_memory(std::string_view path) {
  const std::string name = to_lower(last_level(path));
  return contains(name, "malloc") || contains(name, "free") || contains(name, "hostalloc");
}

bool is_kernel_name(std::string_view name) {
  return !name.starts_with("cudaFree") && !name.starts_with("cudaMalloc") && !name.starts_with("cudaHostAlloc");
}

class Measurer {
 public:
  Measurer(const Report& report, bool once)
      : report_(report),
        from_calls_(!report.marked && !report.resolved),
        once_(once || from_calls_),
        paths_(resolve_call_paths(report)),
        activities_(activities_of(report)),
        everything_(chosen({Type::kernel, Type::copy, Type::memset})),
        kernels_(chosen({Type::kernel, Type::memset})),
        shared_kernels_(chosen({Type::kernel, Type::memset}), 2),
        index_(chosen({Type::kernel, Type::copy, Type::memset})) {
    for (const ResolvedPath& row : paths_.rows) {
      if (row.correlation) by_correlation_.try_emplace(*row.correlation, &row);
      if (row.correlation && row.path == kUncorrelated) uncorrelated_ = &row;
    }
    // Of two records of a call the one that its time is taken from.
    repeated_ = repeated_calls(report);
    for (std::size_t i = 0; i < report.calls.size(); ++i) {
      if (!from_calls_ || !repeated_[i]) calls_.try_emplace(report.calls[i].correlation, &report.calls[i]);
    }
    for (const Activity& a : activities_) by_end_.push_back(&a);
    std::stable_sort(by_end_.begin(), by_end_.end(),
                     [](const Activity* a, const Activity* b) { return a->end < b->end; });
  }

  Measurements measure() && {
    find_users();
    cpu();
    synchronizations();
    kernels();
    memory_management();
    copies(report_.copies, "gpu__mem_copy", "gpu__blocking__mem_copy", "GPU MEM");
    copies(report_.memsets, "gpu__mem_set", "gpu__blocking__mem_set", "GPU");
    other_calls();
    if (once_) add_up();
    return {std::move(measured_), left_out_};
  }

 private:
  using Type = Activity::Type;
  using Times = std::map<std::string_view, double>;  // by name of an activity

  [[nodiscard]] std::vector<const Activity*> chosen(std::initializer_list<Type> types) const {
    std::vector<const Activity*> list;
    for (const Activity& a : activities_) {
      if (std::find(types.begin(), types.end(), a.type) != types.end()) list.push_back(&a);
    }
    return list;
  }

  // What the GPU did for a call that is not recorded stands under a path of its own; Extra-P leaves it out.
  [[nodiscard]] const ResolvedPath* path_of(Correlation correlation) const {
    const auto found = by_correlation_.find(correlation);
    if (found != by_correlation_.end()) return found->second;
    if (!once_) return nullptr;
    return uncorrelated_ != nullptr ? uncorrelated_ : &nowhere_;
  }
  [[nodiscard]] const ResolvedPath* path_or_left_out(Correlation correlation) {
    const ResolvedPath* path = path_of(correlation);
    left_out_ += path == nullptr ? 1 : 0;
    return path;
  }
  [[nodiscard]] bool known(const ResolvedPath* path) const { return path != uncorrelated_ && path != &nowhere_; }

  // The time of a call, which counts once although it made the GPU do several things. Extra-P takes it anew for each.
  double own_time(const ResolvedPath* path) {
    return !once_ || counted_.insert(path).second ? path->duration.value_or(0) : 0;
  }

  // The calls whose time is told together with what the GPU did for them, or with the memory that they manage.
  void find_users() {
    for (const Kernel& kernel : report_.kernels) use(kernel.correlation);
    for (const Copy& copy : report_.copies) use(copy.correlation);
    for (const Memset& memset : report_.memsets) use(memset.correlation);
    for (const ResolvedPath& row : paths_.rows) {
      if (row.correlation && manages_memory(row.path)) used_.insert(&row);
    }
  }
  void use(Correlation correlation) { used_.insert(path_of(correlation)); }

  // Calls that made the GPU do nothing that is recorded: they count where every call does. Extra-P leaves them out.
  void other_calls() {
    for (const Synchronization& sync : report_.synchronizations) use(sync.correlation);
    for (const ResolvedPath& row : paths_.rows) {
      if (!row.correlation || &row == uncorrelated_ || used_.contains(&row)) continue;
      if (once_) {
        put(row.path, row.duration.value_or(0));
      } else if (!used_.contains(path_of(*row.correlation))) {  // else it is a call's second record
        ++left_out_;
      }
    }
    if (from_calls_) return;
    // Calls outside of all ranges have no path at all.
    for (std::size_t i = 0; i < report_.calls.size(); ++i) {
      const auto row = by_correlation_.find(report_.calls[i].correlation);
      if (!repeated_[i] && (row == by_correlation_.end() || !known(row->second))) ++left_out_;
    }
  }

  void put(std::string callpath, double nanoseconds, Tags tags = {}) {
    measured_.push_back({std::move(callpath), kTime, nanoseconds / kSecond, std::move(tags)});
  }

  // Activities that end while something else waits, by name.
  void ending_inside(Interval at, Times& times) const {
    auto it = std::upper_bound(by_end_.begin(), by_end_.end(), at.start,
                               [](std::int64_t t, const Activity* a) { return t < a->end; });
    for (; it != by_end_.end() && (*it)->end <= at.end; ++it) {
      const auto common = (*it)->end - std::max((*it)->start, at.start);
      if (common > 0) times[(*it)->name] += static_cast<double>(common);
    }
  }

  // Time that a waiting call shares with the GPU. Extra-P leaves out waits that lie inside one span, and counts calls
  // without overlap twice.
  [[nodiscard]] double waited_for(Interval at) const {
    return static_cast<double>(once_ ? everything_.covered(at) : everything_.covered_by_parts(at));
  }

  void put_overlaps(const std::string& path, double total, const Times& names, const Tags& of_total,
                    const Tags& of_names) {
    if (total != 0) put(path + "->OVERLAP", total, of_total);
    for (const auto& [name, time] : names) put(path + "->OVERLAP->" + path_level(name), time, of_names);
  }

  void cpu() {
    for (const ResolvedPath& row : paths_.rows) {
      if (!row.correlation && row.duration.value_or(0) != 0) put(row.path, *row.duration);
    }
    for (const IdlePath& idle : paths_.idle) {
      put(idle.path + "->GPU IDLE", idle.duration,
          {{"gpu__idle", "true"}, {"agg__category", "\"GPU IDLE\""}, kIgnoreCount});
    }
  }

  void synchronizations() {
    struct Group {
      double api = 0;
      double waited = 0;
      double overlap = 0;
      Times names;
    };
    std::map<std::pair<std::string_view, std::string_view>, Group> groups;
    for (const Synchronization& sync : report_.synchronizations) {
      const ResolvedPath* path = path_or_left_out(sync.correlation);
      if (path == nullptr) continue;
      Group& group = groups[{path->path, sync.name}];
      group.waited += static_cast<double>(sync.length());
      // Copies and what frees memory wait, too: the time of such a call is told there.
      if (!known(path) || (once_ && (used_.contains(path) || counted_.contains(path)))) continue;
      const double overlap = waited_for(sync);
      group.api += own_time(path) * (overlap == 0 && !once_ ? 2 : 1);
      group.overlap += overlap;
      ending_inside(sync, group.names);
    }
    for (const auto& [key, group] : groups) {
      const std::string path = std::string(key.first) + "->" + std::string(key.second);
      put(path, group.api - group.overlap, {{"agg__category__comparison_cpu_gpu", "\"GPU SYNC\""}});
      put_overlaps(path, group.overlap, {}, {kIgnoreCount, kOverlapSum, kUsageDisabled}, {});
      put(path + "->WAIT", group.waited, {kUsageDisabled});
      put_overlaps(path, 0, group.names, {}, {kOverlap, kKernelTag, kIgnoreCount});
    }
  }

  void kernels() {
    struct Group {
      std::optional<double> launch;
      double gpu = 0;
      double lost = 0;
    };
    std::map<std::pair<std::string_view, std::string_view>, Group> groups;
    for (const Kernel& kernel : report_.kernels) {
      if (!once_ && !is_kernel_name(kernel.name)) continue;
      const ResolvedPath* path = path_or_left_out(kernel.correlation);
      if (path == nullptr) continue;
      Group& group = groups[{path->path, kernel.name}];
      if (path->duration) group.launch = group.launch.value_or(0) + own_time(path);
      group.gpu += static_cast<double>(kernel.length());
      group.lost += static_cast<double>(kernels_.lost_to_others(kernel, kernel.threads));
    }
    for (const auto& [key, group] : groups) {
      const std::string name = path_level(key.second);
      const std::string path = std::string(key.first) + "->" + name;
      if (group.launch) put(path, *group.launch);
      const std::string gpu = path + "->GPU " + name;
      put(gpu, group.gpu - group.lost, {kKernelTag, {"agg__category", "\"GPU\""}, kNotCompared});
      put(gpu + "->OVERLAP", group.lost, {kOverlapSum, kKernelTag, kUsageDisabled});
    }
  }

  void memory_management() {
    struct Group {
      double api = 0;
      double overlap = 0;
      Times names;
    };
    std::map<std::string_view, Group> groups;
    for (const ResolvedPath& row : paths_.rows) {
      if (!row.correlation || !manages_memory(row.path)) continue;
      if (once_ && !counted_.insert(&row).second) continue;  // it counts with the kernel that it launched
      Group& group = groups[row.path];
      const std::string name = to_lower(last_level(row.path));
      const auto call = calls_.find(*row.correlation);
      double overlap = 0;
      // Where calls of several processes have one number, only the first of them is found by it.
      const bool its_own = call != calls_.end() && (!from_calls_ || path_of(*row.correlation) == &row);
      if (!contains(name, "async") && its_own) {
        overlap = waited_for(*call->second);
        ending_inside(*call->second, group.names);
      }
      // Memory of the host is the CPU's affair.
      const bool twice = overlap == 0 && !contains(name, "host") && !contains(name, "async") && !once_;
      group.api += row.duration.value_or(0) * (twice ? 2 : 1);
      group.overlap += overlap;
    }
    for (const auto& [key, group] : groups) {
      const std::string path(key);
      put(path, group.api - group.overlap);
      put_overlaps(path, group.overlap, group.names, {kIgnoreCount, kOverlapSum, kUsageDisabled},
                   {kOverlap, kKernelTag, kIgnoreCount});
    }
  }

  [[nodiscard]] bool asynchronous(std::string_view path) const {
    return from_calls_ ? contains(last_level(path), "Async") : contains(path, "Async_");
  }

  // How much of a transfer the call that asked for it waited. A copy from pageable memory may go on when its call is
  // over; Extra-P takes all of it for waiting. A call that made several transfers waits no longer than it lasts.
  template <class Transfer>
  [[nodiscard]] double inside_of_call(const Transfer& transfer) {
    const auto call = calls_.find(transfer.correlation);
    if (!once_ || call == calls_.end()) return static_cast<double>(transfer.length());
    const auto common = std::min(transfer.end, call->second->end) - std::max(transfer.start, call->second->start);
    std::int64_t& left = to_wait_.try_emplace(call->second, call->second->length()).first->second;
    const auto waited = std::clamp<std::int64_t>(common, 0, left);
    left -= waited;
    return static_cast<double>(waited);
  }

  // Copies and memsets: what they have in common is more than what they do not.
  template <class Transfer>
  void copies(const std::vector<Transfer>& transfers, const std::string& tag, const std::string& blocking_tag,
              const std::string& category) {
    constexpr bool kIsCopy = std::is_same_v<Transfer, Copy>;
    struct Group {
      double api = 0;
      double gpu = 0;
      double bytes = 0;
      double overlap = 0;
      Times names;
      Times again;  // the calls once more for each activity beside them, as Extra-P has it
    };
    std::map<std::tuple<std::string_view, std::string_view, bool>, Group> groups;
    for (const Transfer& transfer : transfers) {
      const ResolvedPath* path = path_or_left_out(transfer.correlation);
      if (path == nullptr) continue;
      const bool blocking = known(path) && (transfer.pageable || !asynchronous(path->path));
      const std::string_view name = kIsCopy ? std::string_view(transfer.name) : std::string_view("GPU MEMSET");
      Group& group = groups[{path->path, name, blocking}];
      const double gpu = static_cast<double>(transfer.length());
      const double call = own_time(path) - (blocking ? inside_of_call(transfer) : 0);
      group.api += call;
      group.gpu += gpu;
      group.bytes += static_cast<double>(transfer.bytes);
      group.overlap += static_cast<double>(kIsCopy ? kernels_.covered(transfer) : shared_kernels_.covered(transfer));
      index_.overlapping(transfer, [&](const Activity& other, std::int64_t common) {
        if (other.correlation == transfer.correlation || other.type == Type::memset) return;
        if (other.type == Type::copy && !kIsCopy) return;
        std::string_view beside = other.name;
        double times = 1;
        if (other.type == Type::copy && !once_) {
          // Other copies go under the own name, and twice when neither lies inside the other.
          beside = name;
          const bool inside = (other.start <= transfer.start && transfer.end <= other.end) ||
                              (transfer.start <= other.start && other.end <= transfer.end);
          if (!inside) times = 2;
        }
        group.names[beside] += times * static_cast<double>(common);
        group.again[beside] += times * call;
      });
    }
    for (const auto& [key, group] : groups) {
      const auto& [owner, name, blocking] = key;
      const std::string path(owner);
      put(path, group.api);
      if (!once_) {
        for (const auto& [beside, time] : group.again) put(path, time);
      }
      const std::string transfer = path + (blocking ? "->BLOCKING " : "->") + std::string(name);
      Tags tags = {{tag, "true"}};
      if (blocking) {
        tags.emplace_back(blocking_tag, "true");
      } else {
        tags.emplace_back("agg__category", "[\"" + category + "\"]");
        tags.emplace_back(blocking_tag, "false");
        tags.push_back(kNotCompared);
      }
      put(transfer, group.gpu - group.overlap, tags);
      measured_.push_back({transfer, kBytes, group.bytes, {}});
      Tags of_total = {kOverlap, {"agg__disabled", "true"}};
      if (!kIsCopy) of_total.emplace_back("agg__usage__disabled", "true");
      put_overlaps(transfer, group.overlap, group.names, of_total, {kOverlap});
    }
  }

  // One value for each call path and metric.
  void add_up() {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> first;
    std::vector<Measured> sums;
    sums.reserve(measured_.size());
    for (Measured& m : measured_) {
      const auto [entry, added] = first.try_emplace({m.callpath, m.metric}, sums.size());
      if (added) {
        sums.push_back(m);
      } else {
        sums[entry->second].value += m.value;
      }
    }
    measured_ = std::move(sums);
  }

  const Report& report_;
  bool from_calls_;  // the paths are those of single calls, without Extra-Prof
  bool once_;
  CallPaths paths_;
  std::vector<Activity> activities_;
  Spans everything_;
  Spans kernels_;
  Spans shared_kernels_;
  ActivityIndex index_;
  std::vector<const Activity*> by_end_;
  std::unordered_map<Correlation, const ResolvedPath*> by_correlation_;
  std::vector<bool> repeated_;
  std::unordered_map<Correlation, const ApiCall*> calls_;
  const ResolvedPath* uncorrelated_ = nullptr;
  ResolvedPath nowhere_{0, std::string(kUncorrelated), 0, {}};
  std::unordered_set<const ResolvedPath*> used_;
  std::unordered_set<const ResolvedPath*> counted_;
  std::unordered_map<const ApiCall*, std::int64_t> to_wait_;  // what is left of calls that transfers wait in
  std::vector<Measured> measured_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

Measurements measure(const Report& report, bool once) { return Measurer(report, once).measure(); }

}  // namespace fathom::nsight
