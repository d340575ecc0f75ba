#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/time_unit.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::inspect {

namespace {

bool near(double a, double b, double tolerance, double absolute) {
  if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= absolute) return true;
  const double size = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) <= size * std::max(tolerance, 2 * std::numeric_limits<double>::epsilon());
}

class Comparer {
 public:
  Comparer(const Profile& a, const Profile& b, double tolerance, double absolute)
      : a_(a), b_(b), tolerance_(tolerance), absolute_(absolute) {}

  Result<Comparison> run(const std::vector<std::string>& names) {
    const Definitions& x = a_.defs();
    const Definitions& y = b_.defs();
    if (names.empty()) out_.metrics_equal = metrics(x, y);
    out_.contexts_equal = contexts(x, y);
    out_.system_equal = system(x.system, y.system);
    if (!out_.equal()) return out_;
    for (std::size_t m = 0; m < x.metrics.size() && names.empty(); ++m) {
      FATHOM_CHECK(values(MetricId(m), MetricId(m)));
    }
    for (const std::string& name : names) {
      const MetricId in_a = x.find_metric(name);
      const MetricId in_b = y.find_metric(name);
      if (in_a.valid() && in_b.valid()) {
        const std::string& unit = x.metric(in_a).unit;
        const std::string& other = y.metric(in_b).unit;
        if (other_time_unit(unit, other)) {
          out_.metrics_equal = differ(fmt::format("metric '{}' is in '{}' and in '{}'", name, unit, other));
        }
        FATHOM_CHECK(values(in_a, in_b));
      } else {
        out_.metrics_equal = differ(fmt::format("metric '{}' is not in both", name));
      }
    }
    return out_;
  }

 private:
  bool differ(std::string what) {
    if (out_.first_difference.empty()) out_.first_difference = std::move(what);
    return false;
  }

  bool metrics(const Definitions& x, const Definitions& y) {
    if (x.metrics.size() != y.metrics.size()) {
      return differ(fmt::format("the first has {} metrics, the other {}", x.metrics.size(), y.metrics.size()));
    }
    for (std::size_t i = 0; i < x.metrics.size(); ++i) {
      const Metric& p = x.metrics[i];
      const Metric& q = y.metrics[i];
      if (p.name != q.name || p.parent != q.parent || p.type != q.type || p.file_id != q.file_id ||
          p.scopes != q.scopes || p.derivation != q.derivation || other_time_unit(p.unit, q.unit)) {
        return differ(fmt::format("metric '{}' of the first is '{}' in the other, or is described in another way",
                                  p.name, q.name));
      }
    }
    return true;
  }

  bool contexts(const Definitions& x, const Definitions& y) {
    if (x.contexts.size() != y.contexts.size()) {
      return differ(fmt::format("the first has {} contexts, the other {}", x.contexts.size(), y.contexts.size()));
    }
    for (std::size_t i = 0; i < x.contexts.size(); ++i) {
      const ContextId id(i);
      const Context& p = x.contexts[id];
      const Context& q = y.contexts[id];
      if (p.parent != q.parent || p.file_id != q.file_id || p.edge != q.edge || p.line != q.line ||
          x.region_of(id).name != y.region_of(id).name || x.contexts.details(id) != y.contexts.details(id)) {
        return differ(fmt::format("context '{}' of the first is '{}' in the other, or is described in another way",
                                  x.path(id), y.path(id)));
      }
    }
    return true;
  }

  bool system(const SystemTree& x, const SystemTree& y) {
    if (x.nodes.size() != y.nodes.size() || x.location_count() != y.location_count()) {
      return differ(fmt::format("the first has {} system nodes, the other {}", x.nodes.size(), y.nodes.size()));
    }
    for (std::size_t i = 0; i < x.nodes.size(); ++i) {
      const SystemNode& p = x.nodes[i];
      const SystemNode& q = y.nodes[i];
      if (p.parent != q.parent || p.kind != q.kind || p.type != q.type || p.rank != q.rank || p.name != q.name ||
          p.location != q.location || p.file_id != q.file_id) {
        return differ(fmt::format("system node '{}' of the first is '{}' in the other, or is described in another way",
                                  x.path(SystemNodeId(i)), y.path(SystemNodeId(i))));
      }
    }
    return true;
  }

  Result<void> values(MetricId metric, MetricId other) {
    if (!why_unavailable(a_, metric).empty() && !why_unavailable(b_, other).empty()) return success();
    const Selection all{{}, {}, all_locations(a_.defs()), false};
    FATHOM_TRY(const Cells x, compute(a_, metric, all));
    FATHOM_TRY(const Cells y, compute(b_, other, all));
    if (form_of(x.type()) != form_of(y.type())) {
      out_.metrics_equal = differ(
          fmt::format("metric '{}': {} and {}", a_.defs().metric(metric).name, x.type().text(), y.type().text()));
      return success();
    }
    for (std::size_t row = 0; row < x.rows(); ++row) {
      for (std::size_t i = 0; i < x.columns(); ++i) {
        ++out_.values;
        const Form form = form_of(x.type());
        const bool exact = tolerance_ == 0 && absolute_ == 0;
        const auto close = [&] { return near(x.scalar(row, i), y.scalar(row, i), tolerance_, absolute_); };
        bool same = false;
        if (form == Form::integer && exact) {
          same = x.integers(row)[i] == y.integers(row)[i];
        } else if (form == Form::packed) {
          same = x.at(row, i).text() == y.at(row, i).text() || (!exact && close());
        } else {
          same = close();
        }
        if (same) continue;
        ++out_.different;
        const Definitions& defs = a_.defs();
        if (out_.first_difference.empty()) {
          out_.first_difference = fmt::format("metric '{}', {}, location {}: {} and {}", defs.metric(metric).name,
                                              defs.path(ContextId(row)), defs.system.location_label(LocationId(i)),
                                              x.at(row, i).text(), y.at(row, i).text());
        }
      }
    }
    return success();
  }

  const Profile& a_;
  const Profile& b_;
  double tolerance_;
  double absolute_;
  Comparison out_;
};

}  // namespace

Result<Comparison> compare(const Profile& a, const Profile& b, double tolerance,
                           const std::vector<std::string>& metrics, double absolute) {
  return Comparer(a, b, tolerance, absolute).run(metrics);
}

}  // namespace fathom::inspect
