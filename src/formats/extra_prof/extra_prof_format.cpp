#include "formats/extra_prof/extra_prof_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "experiment/builder.hpp"
#include "experiment/call_path.hpp"
#include "experiment/unit.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/extra_prof/native.hpp"
#include "formats/reading_options.hpp"
#include "formats/sound_runs.hpp"
#include "io/file.hpp"

namespace fathom::extra_prof {
namespace {

// Text inside balanced <...> is dropped, brackets included.
std::string without_templates(const std::string& name) {
  if (name.find('<') == std::string::npos || name.find('>') == std::string::npos) return name;
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out += c;
    }
  }
  return out;
}

std::string shown_name(const Node& node) {
  std::string name = node.type == NodeType::memcpy || node.type == NodeType::memset ? node.name : demangle(node.name);
  name = without_templates(path_level(name));
  switch (node.type) {
    case NodeType::kernel_launch:
      return "LAUNCH " + name;
    case NodeType::kernel:
    case NodeType::memcpy:
    case NodeType::memset:
      return "GPU " + name;
    default:
      return name;
  }
}

// Time of these runs beside that of the node above.
bool runs_beside(NodeType type, std::uint64_t flags) {
  if (type == NodeType::kernel) return true;
  if ((type == NodeType::memcpy || type == NodeType::memset) && (flags & kAsync) != 0) return true;
  return (flags & kOverlapFlag) != 0 && type != NodeType::overlap;
}

Tags tags_of(NodeType type, std::uint64_t flags) {
  Tags tags;
  const bool async = (flags & kAsync) != 0;
  // What runs beside something else is part of what it runs beside, and of no category of its own.
  if ((flags & kOverlapFlag) != 0 && type != NodeType::overlap) {
    return {{"gpu__overlap", "true"}, {"validation__ignore__num_measurements", "true"}};
  }
  switch (type) {
    case NodeType::kernel:
      tags = {{"gpu__kernel", "true"}, {"agg__category", "\"GPU\""}, {"agg__category__comparison_cpu_gpu", "null"}};
      break;
    case NodeType::memcpy:
      if (async) {
        tags = {{"agg__category", "\"GPU MEM\""},
                {"gpu__blocking__mem_copy", "false"},
                {"agg__category__comparison_cpu_gpu", "null"}};
      } else {
        tags = {{"gpu__blocking__mem_copy", "true"}};
      }
      break;
    case NodeType::memset:
      if (async) {
        tags = {{"agg__category", "\"GPU\""},
                {"gpu__blocking__mem_set", "false"},
                {"agg__category__comparison_cpu_gpu", "null"}};
      } else {
        tags = {{"gpu__blocking__mem_set", "true"}};
      }
      break;
    case NodeType::overhead:
      tags = {{"agg__category", "\"GPU OVERHEAD\""}};
      break;
    case NodeType::synchronize:
      tags = {{"agg__category__comparison_cpu_gpu", "\"GPU SYNC\""}};
      break;
    case NodeType::overlap:
      return {{"gpu__overlap", "\"agg\""},
              {"validation__ignore__num_measurements", "true"},
              {"agg__usage_disabled", "true"},
              {"agg__disabled", "true"}};
    default:
      break;
  }
  return tags;
}

constexpr Option<bool> kSumGpuThreads{"sum-gpu-threads", "", "add GPU times of a rank's threads up"};
constexpr Option<bool> kConcurrentThreads{
    "concurrent-threads", "", "keep what is below a call path although it takes longer than the call path itself"};

struct Choices {
  Scaling scaling = Scaling::weak_threaded;
  bool inclusive = false;
  bool sum_gpu = false;     // threads of a rank share no kernel: their GPU times add up
  bool concurrent = false;  // children that take longer than their node ran on other threads, and stay
};

Choices choices(const Work& work, Scaling scaling) {
  return {scaling, work->options.flag(kInclusive), work->options.flag(kSumGpuThreads),
          work->options.flag(kConcurrentThreads)};
}

// The files of one point laid over each other: nodes of one name under one parent are one.
struct Merged {
  std::string name;
  NodeType type = NodeType::none;
  std::uint64_t flags = 0;
  std::vector<double> duration, visits, bytes;       // one per file
  std::vector<std::vector<double>> gpu, additional;  // per metric of the point, one per file
  std::vector<std::uint32_t> children;
  std::map<std::string, std::uint32_t> by_name;
};

// Further metrics of the files of a point. Not every file has all: counters are measured in runs of their own.
struct NamedMetrics {
  std::vector<std::string> names;
  std::vector<std::vector<bool>> in_file;  // by metric and file

  // Where the metrics of a file go.
  std::vector<std::size_t> places(const std::vector<std::string>& own, std::size_t file, std::size_t files) {
    std::vector<std::size_t> out;
    for (const std::string& name : own) {
      const auto found = std::find(names.begin(), names.end(), name);
      out.push_back(static_cast<std::size_t>(found - names.begin()));
      if (found == names.end()) {
        names.push_back(name);
        in_file.emplace_back(files, false);
      }
      in_file[out.back()][file] = true;
    }
    return out;
  }
  // The values of the files that have the metric.
  [[nodiscard]] std::vector<double> present(std::size_t metric, const std::vector<double>& values) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (in_file[metric][i]) out.push_back(values[i]);
    }
    return out;
  }
};

class PointTree {
 public:
  PointTree(std::size_t files, const Choices& choices) : files_(files), choices_(choices) { add_node("", {}); }

  void lay(const File& file, std::size_t index) {
    const std::vector<std::size_t> gpu = gpu_.places(file.gpu_metrics, index, files_);
    const std::vector<std::size_t> additional = additional_.places(file.additional, index, files_);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> todo = {{0, 0}};  // node of the file, node here
    while (!todo.empty()) {
      const auto [from, to] = todo.back();
      todo.pop_back();
      const Node& node = file.nodes[from];
      Merged& own = nodes_[to];
      own.duration[index] += choices_.sum_gpu && on_gpu(node.type) ? total(node.duration) : joined(node.duration);
      own.visits[index] += joined(node.visits);
      own.bytes[index] += joined(node.bytes);
      add(own.gpu, node.gpu_metrics, gpu, index);
      add(own.additional, node.additional, additional, index);
      std::vector<std::pair<std::uint32_t, std::uint32_t>> below;
      for (const std::uint32_t child : node.children) {
        const Node& next = file.nodes[child];
        const std::string name = shown_name(next);
        const auto found = nodes_[to].by_name.find(name);
        std::uint32_t number = 0;
        if (found == nodes_[to].by_name.end()) {
          number = add_node(name, next);
          nodes_[to].by_name[name] = number;
          nodes_[to].children.push_back(number);
        } else {
          number = found->second;
        }
        below.emplace_back(child, number);
      }
      todo.insert(todo.end(), below.rbegin(), below.rend());
    }
  }

  // Every node's values into the builder; how many call paths are left out.
  std::uint64_t put(ExperimentBuilder& builder, std::uint32_t point) const {
    std::uint64_t left_out = 0;
    struct Todo {
      std::uint32_t node;
      std::string path;
    };
    std::vector<Todo> todo;
    for (auto it = nodes_[0].children.rbegin(); it != nodes_[0].children.rend(); ++it) {
      todo.push_back({*it, nodes_[*it].name});
    }
    while (!todo.empty()) {
      const Todo at = std::move(todo.back());
      todo.pop_back();
      const Merged& node = nodes_[at.node];
      const auto callpath = builder.callpath(at.path);
      for (auto& tag : tags_of(node.type, node.flags)) {
        Tags& tags = builder.callpath_tags(callpath);
        if (find_tag(tags, tag.first) == nullptr) tags.push_back(std::move(tag));
      }
      bool too_much = false;
      std::vector<double> time = exclusive(
          node, [](const Merged& n) { return n.duration; }, too_much);
      for (double& t : time) t /= 1e9;
      builder.add(callpath, builder.metric("visits"), point, node.visits);
      set_unit(builder.metric_tags(builder.metric("time")), "s");
      builder.add(callpath, builder.metric("time"), point, time);
      if (std::any_of(node.bytes.begin(), node.bytes.end(), [](double b) { return b != 0; })) {
        set_unit(builder.metric_tags(builder.metric("bytes")), "bytes");
        builder.add(callpath, builder.metric("bytes"), point, node.bytes);
      }
      for (std::size_t m = 0; m < node.gpu.size(); ++m) {
        if (node.gpu[m].empty()) continue;
        builder.add(callpath, builder.metric(gpu_.names[m]), point, gpu_.present(m, node.gpu[m]));
      }
      for (std::size_t m = 0; m < node.additional.size(); ++m) {
        if (node.additional[m].empty()) continue;
        bool unused = false;
        const auto of = [&](const Merged& n) {
          const bool there = m < n.additional.size() && !n.additional[m].empty();
          return there ? n.additional[m] : std::vector<double>(files_, 0);
        };
        // Where children are left out, their share stays here.
        const bool alone = too_much && !choices_.concurrent;
        builder.add(callpath, builder.metric(additional_.names[m]), point,
                    additional_.present(m, alone ? of(node) : exclusive(node, of, unused)));
      }
      // Children that take longer than the node itself ran beside it: they cannot be told apart, and are left out.
      if (too_much && !choices_.concurrent) {
        left_out += below(node);
        continue;
      }
      for (auto it = node.children.rbegin(); it != node.children.rend(); ++it) {
        todo.push_back({*it, at.path + "->" + nodes_[*it].name});
      }
    }
    return left_out;
  }

 private:
  // How many nodes are below one.
  [[nodiscard]] std::uint64_t below(const Merged& node) const {
    std::vector<std::uint32_t> todo = node.children;
    for (std::size_t i = 0; i < todo.size(); ++i) {
      const std::vector<std::uint32_t>& children = nodes_[todo[i]].children;
      todo.insert(todo.end(), children.begin(), children.end());
    }
    return todo.size();
  }

  static bool on_gpu(NodeType type) { return type == NodeType::kernel || type == NodeType::overlap; }
  static double total(const std::vector<double>& threads) {
    double sum = 0;
    for (const double v : threads) sum += v;
    return sum;
  }
  [[nodiscard]] double joined(const std::vector<double>& threads) const {
    const bool summed = choices_.scaling == Scaling::strong || threads.empty();
    return summed ? total(threads) : total(threads) / static_cast<double>(threads.size());
  }

  void add(std::vector<std::vector<double>>& to, const std::vector<std::vector<double>>& values,
           const std::vector<std::size_t>& places, std::size_t index) const {
    for (std::size_t m = 0; m < values.size() && m < places.size(); ++m) {
      if (to.size() <= places[m]) to.resize(places[m] + 1);
      if (to[places[m]].empty()) to[places[m]].assign(files_, 0);
      to[places[m]][index] += joined(values[m]);
    }
  }

  std::uint32_t add_node(const std::string& name, const Node& node) {
    Merged merged;
    merged.name = name;
    merged.type = node.type;
    merged.flags = node.flags;
    merged.duration.assign(files_, 0);
    merged.visits.assign(files_, 0);
    merged.bytes.assign(files_, 0);
    nodes_.push_back(std::move(merged));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  template <class Get>
  std::vector<double> exclusive(const Merged& node, const Get& get, bool& too_much) const {
    std::vector<double> own = get(node);
    own.resize(files_, 0);
    if (choices_.inclusive) return own;
    double total = 0;
    double below = 0;
    std::vector<double> rest = own;
    for (const double v : own) total += v;
    for (const std::uint32_t c : node.children) {
      if (runs_beside(nodes_[c].type, nodes_[c].flags)) continue;
      const auto values = get(nodes_[c]);
      for (std::size_t i = 0; i < files_ && i < values.size(); ++i) {
        rest[i] -= values[i];
        below += values[i];
      }
    }
    too_much = below > total;
    return too_much ? own : rest;
  }

  std::size_t files_;
  Choices choices_;
  NamedMetrics gpu_, additional_;
  std::vector<Merged> nodes_;
};

Result<void> tell_left_out(std::uint64_t count, const std::string& file, const Work& work) {
  if (count == 0) return {};
  return work->diagnostics.add(
      "extra_prof.left_out", Severity::warning, Place::in(file),
      "a call path takes longer than the one it is below, and is left out (--concurrent-threads keeps it)", count);
}

Result<ExperimentPtr> collect(const std::string& name, const std::vector<std::string>& parameters,
                              const std::vector<RunFile>& runs, Scaling scaling, const Work& work) {
  // Ranks have threads of their own: plain weak scaling is not known here.
  if (scaling == Scaling::weak) {
    scaling = Scaling::weak_threaded;
    if (!work->options.text(kScaling).empty()) {
      FATHOM_CHECK(
          work->diagnostics.warn("extra_prof.scaling", Place::in(name),
                                 "Extra-Prof knows no weak scaling of single locations; weak_threaded is used"));
    }
  }
  std::vector<File> files(runs.size());
  const auto read = [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(const Blob blob, open_file(runs[i].path, work));
    FATHOM_TRY(files[i], read_file(blob, work));
    return {};
  };
  FATHOM_TRY(const std::vector<std::size_t> sound, read_sound_runs(runs, name, work, read));
  ExperimentBuilder builder(name, work, ExperimentBuilder::Repeats::collect);
  for (const std::string& p : parameters) builder.parameter(p);
  builder.set_scaling(scaling);
  for (const char* metric : {"visits", "time"}) builder.metric(metric);
  for (std::size_t i = 0; i < sound.size();) {
    const RunFile& first = runs[sound[i]];
    std::size_t end = i;
    while (end < sound.size() && runs[sound[end]].point == first.point) ++end;
    PointTree tree(end - i, choices(work, scaling));
    for (std::size_t k = i; k < end; ++k) tree.lay(files[sound[k]], k - i);
    FATHOM_CHECK(tell_left_out(tree.put(builder, builder.point(first.point)), first.path.string(), work));
    i = end;
  }
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

Match recognise(const Source& source) {
  if (source.is_directory() || !looks_like(source.blob())) return {};
  return {Confidence::certain, "a MessagePack list that starts with \"EXTRA PROF\""};
}

// One file alone is an experiment of one point.
Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) return Error("is a directory; a directory of runs has the format 'runs'");
  FATHOM_TRY(const File file, read_file(source.blob(), work));
  ExperimentBuilder builder(source.path().string(), work, ExperimentBuilder::Repeats::collect);
  builder.parameter("run");
  PointTree tree(1, choices(work, Scaling::weak_threaded));
  tree.lay(file, 0);
  FATHOM_CHECK(tell_left_out(tree.put(builder, builder.point(std::vector<double>{1})), source.path().string(), work));
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  auto dataset =
      std::make_unique<ExperimentDataset>(format(), source.path(), work, std::move(experiment), file.version);
  dataset->use_as_it_is();
  return DatasetPtr(std::move(dataset));
}

}  // namespace

const Format& format() {
  static const Format kFormat = {.name = "extra-prof",
                                 .title = "Extra-Prof profile",
                                 .extensions = ".extra-prof.msgpack",
                                 .can = {{Level::experiment}, {}},
                                 .recognise = recognise,
                                 .open = open,
                                 .collect = collect,
                                 .options = {.reading = {&kScaling, &kInclusive, &kAllowIncomplete, &kMultiplyBy,
                                                         &kSumGpuThreads, &kConcurrentThreads}}};
  return kFormat;
}

}  // namespace fathom::extra_prof
