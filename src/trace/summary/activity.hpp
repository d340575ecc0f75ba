// What a location does, as a list of transitions: from this time on it is in this context. Enter and leave, samples and
// the values of a channel all become that one shape, so that one index serves them all.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "trace/task_stacks.hpp"
#include "trace/trace.hpp"

namespace fathom::summary {

inline constexpr std::uint32_t kNothing = 0x7FFFFFFF;  // no context: the location does nothing that is known

struct Transition {
  std::int64_t time_ns = 0;
  std::uint32_t context = kNothing;
};

// A context of the trace, which may be a line or a loop, and the one that it counts as here.
struct SampledContext {
  std::uint32_t stored = 0;
  std::uint32_t context = kNothing;
};

// What leads from a context to one below it.
enum class StepKind : std::uint8_t { compute, region, value };
struct Step {
  StepKind kind = StepKind::compute;
  std::int64_t id = 0;  // region, or value of the channel
  friend bool operator==(const Step&, const Step&) = default;
};

// The contexts that occur, parents first.
class Contexts {
 public:
  struct Node {
    std::uint32_t parent = kNothing;
    std::uint32_t depth = 0;
    Step step;
    std::uint32_t far = kNothing;  // some context further up, itself for an outermost one: see at_depth()
  };
  // A node below another one of the list.
  static Node made(std::span<const Node> nodes, std::uint32_t parent, Step step);
  std::uint32_t child(std::uint32_t parent, Step step);
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& operator[](std::uint32_t context) const { return nodes_[context]; }
  [[nodiscard]] std::uint32_t at_depth(std::uint32_t context, std::uint32_t depth) const {
    return at_depth(nodes_, context, depth);
  }
  // The one around it at `depth`, or itself where it is not as deep; in steps by the logarithm of its depth.
  static std::uint32_t at_depth(std::span<const Node> nodes, std::uint32_t context, std::uint32_t depth) {
    while (nodes[context].depth > depth) {
      const std::uint32_t far = nodes[context].far;
      context = nodes[far].depth >= depth ? far : nodes[context].parent;
    }
    return context;
  }

 private:
  struct Key {
    std::uint32_t parent;
    Step step;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return (std::size_t{key.parent} * 0x9E3779B97F4A7C15U) ^
             (static_cast<std::size_t>(key.step.id) * 0xC2B2AE3D27D4EB4FU) ^ static_cast<std::size_t>(key.step.kind);
    }
  };
  std::vector<Node> nodes_;
  std::unordered_map<Key, std::uint32_t, Hash> index_;
};

// Which contexts have none of their number around them, given the number (of a function, say) of each; in one pass,
// however deep they are.
std::vector<bool> outermost(std::span<const Contexts::Node> nodes, std::span<const std::uint32_t> numbers);

// Turns the events of one location into transitions. `channel` invalid: what it does by regions and samples; otherwise
// the values of that channel. Time outside of all regions is the context "compute", in which library calls stand that
// nothing else has made. Where a location runs tasks it is in what the running one has open.
class Activity {
 public:
  Activity(const Trace& trace, Contexts& contexts, ChannelId channel = {});

  // False when the event changes nothing; true: from its time on the location is in current().
  bool take(const Event& event);
  // The same for a sample alone; an invalid context is none.
  bool take_sample(ContextId context) {
    samples_ = true;
    return tasks_.open().empty() && set(context.valid() ? sampled(context) : kNothing);
  }
  [[nodiscard]] std::uint32_t current() const { return current_; }
  // Which contexts of the trace were sampled and what they are here, in rising order.
  [[nodiscard]] std::vector<SampledContext> sampled_contexts() const;

 private:
  static constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  bool enter(std::uint32_t region);
  bool leave(std::uint32_t region);
  bool marker(const Event& event);
  // What the running task is in.
  bool set_by_stack() { return set(tasks_.open().empty() ? compute() : tasks_.open().back().context); }
  std::uint32_t compute();
  std::uint32_t sampled(ContextId context) {
    return context.index() < sampled_.size() && sampled_[context.index()] != kUnseen ? sampled_[context.index()]
                                                                                     : first_sampled(context);
  }
  std::uint32_t first_sampled(ContextId context);
  bool set(std::uint32_t context) {
    const bool changed = context != current_;
    current_ = context;
    return changed;
  }

  struct Open {
    std::uint32_t region;
    std::uint32_t context;
  };
  const Trace& trace_;
  Contexts& contexts_;
  ChannelId channel_;
  TaskStacks<Open> tasks_;
  std::vector<std::uint8_t> is_call_;
  std::vector<std::uint32_t> sampled_;  // what a context of the trace is here; kUnseen = not met yet
  std::uint32_t current_ = kNothing;
  bool samples_ = false;
};

}  // namespace fathom::summary
