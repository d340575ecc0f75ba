#include "formats/hpctoolkit/scope_values.hpp"

#include <algorithm>
#include <numeric>

#include "profile/absent.hpp"
#include "profile/export/left_out_metrics.hpp"
#include "profile/export/void_metrics.hpp"
#include "profile/rounding.hpp"

namespace fathom::hpctoolkit {

Result<std::vector<MetricPlan>> plan_metrics(const Profile& profile) {
  const Definitions& defs = profile.defs();
  std::vector<MetricPlan> plans;
  LeftOutMetrics left_out;
  std::vector<MetricId> all;
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) all.emplace_back(i);
  FATHOM_TRY(const std::vector<MetricId> wanted, without_void_metrics(profile, all, "a database"));
  for (const MetricId id : wanted) {
    const Metric& metric = defs.metric(id);
    if (metric.derived()) continue;  // a formula, or left out by who writes those
    if (!metric.unusable.empty()) {
      left_out.add(metric, metric.unusable);
      continue;
    }
    if (metric.scopes.empty()) continue;
    if (metric.type.is_composite()) {
      left_out.add(metric, "a database holds single numbers only");
      continue;
    }
    if (absent_is_no_value(metric.type)) {
      left_out.add(metric, "minima and maxima would be added up in a database");
      continue;
    }
    MetricPlan plan{id, metric.stored_as(Scope::own), metric.stored_as(Scope::exclusive),
                    metric.stored_as(Scope::inclusive)};
    if (plan.own < 0 && plan.exclusive < 0 && plan.inclusive < 0) {
      left_out.add(metric, "it is stored in a scope that others do not follow from");
      continue;
    }
    // Exclusive and inclusive say all; own values of contexts that a file's tree lacks would be missing otherwise.
    if (plan.exclusive >= 0 && plan.inclusive >= 0) plan.own = -1;
    plans.push_back(plan);
  }
  FATHOM_CHECK(left_out.tell(profile, "hpctoolkit.metric_left_out"));
  return plans;
}

ScopeWorker::ScopeWorker(const Definitions& defs, const std::vector<MetricPlan>& plans)
    : defs_(defs),
      plans_(plans),
      own_(defs.contexts.size()),
      exclusive_(defs.contexts.size()),
      inclusive_(defs.contexts.size()),
      lex_(defs.contexts.size()),
      marked_(defs.contexts.size()),
      loop_(defs.contexts.size()) {
  for (std::size_t i = 0; i < loop_.size(); ++i) loop_[i] = defs.region_of(ContextId(i)).role == "loop" ? 1 : 0;
}

// Marks a context and what lies above it: only those can have values.
void ScopeWorker::touch(std::uint32_t context) {
  for (ContextId at(context); at.valid() && marked_[at.index()] == 0; at = defs_.contexts[at].parent) {
    marked_[at.index()] = 1;
    touched_.push_back(at.value);
  }
}

void ScopeWorker::work_out_metric(std::span<const RawValue> raw, std::uint16_t plan, std::vector<ScopedValue>& out) {
  const MetricPlan& metric = plans_[plan];
  const ContextTree& tree = defs_.contexts;
  touched_.clear();
  for (const RawValue& value : raw) {
    touch(value.context);
    std::vector<double>& target = value.role == 0 ? own_ : value.role == 1 ? exclusive_ : inclusive_;
    target[value.context] = value.value;
  }
  std::sort(touched_.begin(), touched_.end());
  // Backwards children come before their parents.
  const auto upwards = [&](auto&& step) {
    for (auto at = touched_.rbegin(); at != touched_.rend(); ++at) step(*at, tree[ContextId(*at)]);
  };
  const bool lexical = !tree.only_calls();
  if (metric.own < 0) {
    // Own = what is stored minus the part that lies below: of lexical children where exclusive is stored, of all
    // children where inclusive is.
    const bool from_exclusive = metric.exclusive >= 0;
    std::vector<double>& from = from_exclusive ? exclusive_ : inclusive_;
    for (const std::uint32_t at : touched_) own_[at] = from[at];
    for (const std::uint32_t at : touched_) {
      const Context& context = tree[ContextId(at)];
      if (!context.parent.valid() || (from_exclusive && context.edge != Edge::lexical)) continue;
      own_[context.parent.index()] -= from[at];
    }
    // Whole numbers up to 2^53 are exact.
    const bool whole = defs_.metric(metric.metric).type.is_integer();
    constexpr double kExact = 9007199254740992;
    for (const std::uint32_t at : touched_) {
      const bool exact = whole && std::abs(from[at]) <= kExact;
      if ((!exact && is_rounding(own_[at], from[at])) || (own_[at] < 0 && from[at] >= 0 && from_exclusive)) {
        own_[at] = 0;
      }
    }
  }
  if (metric.exclusive < 0) {
    for (const std::uint32_t at : touched_) exclusive_[at] = own_[at];
    if (lexical) {
      upwards([&](std::uint32_t at, const Context& context) {
        if (context.parent.valid() && context.edge == Edge::lexical) {
          exclusive_[context.parent.index()] += exclusive_[at];
        }
      });
    }
  }
  if (metric.inclusive < 0) {
    for (const std::uint32_t at : touched_) inclusive_[at] = own_[at];
    upwards([&](std::uint32_t at, const Context& context) {
      if (context.parent.valid()) inclusive_[context.parent.index()] += inclusive_[at];
    });
  }
  // lex_aware: as function, but a loop does not count what lies in loops inside it.
  if (lexical) {
    for (const std::uint32_t at : touched_) lex_[at] = own_[at];
    upwards([&](std::uint32_t at, const Context& context) {
      if (context.parent.valid() && context.edge == Edge::lexical && loop_[at] == 0) {
        lex_[context.parent.index()] += lex_[at];
      }
    });
  }
  double total = 0;
  const auto emit = [&](std::uint32_t context, WrittenScope scope, double value) {
    if (value != 0) out.push_back({context, plan, scope, value});
  };
  for (const std::uint32_t at : touched_) {
    emit(at + 1, kPoint, own_[at]);
    emit(at + 1, kFunction, exclusive_[at]);
    emit(at + 1, kLexAware, lexical && loop_[at] != 0 ? lex_[at] : exclusive_[at]);
    emit(at + 1, kExecution, inclusive_[at]);
    if (!tree[ContextId(at)].parent.valid()) total += inclusive_[at];
    own_[at] = exclusive_[at] = inclusive_[at] = lex_[at] = 0;
    marked_[at] = 0;
  }
  emit(0, kExecution, total);
}

void ScopeWorker::work_out(std::vector<RawValue>& raw, std::vector<ScopedValue>& out) {
  out.clear();
  std::stable_sort(raw.begin(), raw.end(), [](const RawValue& a, const RawValue& b) { return a.plan < b.plan; });
  for (std::size_t begin = 0; begin < raw.size();) {
    std::size_t end = begin;
    while (end < raw.size() && raw[end].plan == raw[begin].plan) ++end;
    work_out_metric(std::span(raw).subspan(begin, end - begin), raw[begin].plan, out);
    begin = end;
  }
  const auto order = [](const ScopedValue& a, const ScopedValue& b) {
    return std::tuple(a.context, a.plan, a.scope) < std::tuple(b.context, b.plan, b.scope);
  };
  if (!std::is_sorted(out.begin(), out.end(), order)) std::sort(out.begin(), out.end(), order);
}

}  // namespace fathom::hpctoolkit
