#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/time_unit.hpp"
#include "profile/absent.hpp"
#include "profile/algebra/mapping.hpp"
#include "profile/algebra/unite.hpp"
#include "profile/composite.hpp"
#include "profile/compute.hpp"
#include "profile/expression/program.hpp"

namespace fathom::algebra {

namespace {

Flavour flavour_of(const StoredScope& stored) {
  switch (stored.scope) {
    case Scope::own:
      return {Flavour::Kind::own, {}};
    case Scope::exclusive:
      return {Flavour::Kind::exclusive, {}};
    case Scope::inclusive:
      return {Flavour::Kind::inclusive, {}};
    case Scope::named:
      break;
  }
  return {Flavour::Kind::named, stored.name};
}

// The same numbers in another type; composites must agree.
Cells converted(Cells cells, ValueType type) {
  if (cells.type() == type) return cells;
  Cells out(type, cells.rows(), cells.columns());
  if (form_of(type) == Form::packed || form_of(cells.type()) == Form::packed) return out;
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    for (std::size_t i = 0; i < cells.columns(); ++i) {
      if (form_of(type) == Form::integer) {
        out.integers(row)[i] =
            form_of(cells.type()) == Form::integer ? cells.integers(row)[i] : static_cast<Int128>(cells.reals(row)[i]);
      } else {
        out.reals(row)[i] = cells.scalar(row, i);
      }
    }
  }
  return out;
}

void convert_unit(Cells& cells, std::string_view from, std::string_view to) {
  if (form_of(cells.type()) != Form::real) return;
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    for (double& value : cells.reals(row)) value = in_time_unit(value, from, to);
  }
}

// Contexts of an input by the context of the result that their values go to.
class Inverse {
 public:
  // What becomes of values of contexts that are left out but absorbed by another one.
  enum class Absorbed : std::uint8_t {
    dropped,    // inclusive values of the taker have them already
    own,        // they go to the taker
    exclusive,  // to the taker and what it lies in lexically, whose values contain the taker's
  };

  Inverse(const Mapping& mapping, const ContextTree& input, const ContextTree& result, Absorbed absorbed)
      : begin_(result.size() + 1, 0) {
    const auto each = [&](auto&& use) {
      for (std::uint32_t i = 0; i < mapping.contexts.size(); ++i) {
        if (mapping.contexts[i].valid()) {
          use(mapping.contexts[i], i);
          continue;
        }
        if (absorbed == Absorbed::dropped || i >= mapping.absorbed.size()) continue;
        // A loop or line that is left out is part of what it lay in already.
        if (absorbed == Absorbed::exclusive && input[ContextId(i)].edge == Edge::lexical) continue;
        for (ContextId to = mapping.absorbed[i]; to.valid(); to = result[to].parent) {
          use(to, i);
          if (absorbed == Absorbed::own || result[to].edge != Edge::lexical) break;
        }
      }
    };
    each([&](ContextId to, std::uint32_t) { ++begin_[to.index() + 1]; });
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    items_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    each([&](ContextId to, std::uint32_t from) { items_[next[to.index()]++] = ContextId(from); });
  }
  [[nodiscard]] std::span<const ContextId> sources(std::uint32_t result) const {
    return std::span(items_).subspan(begin_[result], begin_[result + 1] - begin_[result]);
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<ContextId> items_;
};

class CombinedSource : public ValueSource {
 public:
  CombinedSource(std::shared_ptr<const Definitions> definitions, std::vector<Part> parts, Rule rule)
      : definitions_(std::move(definitions)), parts_(std::move(parts)), rule_(rule) {
    const ContextTree& result = definitions_->contexts;
    for (const Part& part : parts_) {
      const ContextTree& input = part.profile->defs().contexts;
      inclusive_.emplace_back(part.mapping, input, result, Inverse::Absorbed::dropped);
      own_.emplace_back(part.mapping, input, result, Inverse::Absorbed::own);
      exclusive_.emplace_back(part.mapping, input, result, Inverse::Absorbed::exclusive);
      std::vector<MetricId> inverse(definitions_->metrics.size());
      for (std::size_t i = 0; i < part.mapping.metrics.size(); ++i) {
        const MetricId to = part.mapping.metrics[i];
        if (to.valid()) inverse[to.index()] = MetricId(i);
      }
      metrics_.push_back(std::move(inverse));
      identical_.push_back(is_identity(part.mapping.contexts, result.size()) &&
                           is_identity(part.mapping.locations, definitions_->system.location_count()));
      if (part.profile->values->cheap_axis() == Axis::location) axis_ = Axis::location;
    }
  }

  [[nodiscard]] Axis cheap_axis() const override { return axis_; }

  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    if (box.locations.size() == 0) return success();
    const std::size_t rows = axis_ == Axis::location
                                 ? std::max<std::size_t>(box.contexts.size(), 1)
                                 : std::clamp<std::size_t>(kCellsAtOnce / box.locations.size(), 1, kMaxRows);
    for (const StoredMetric& metric : box.metrics) {
      if (const auto from = handed_on(metric)) {
        FATHOM_CHECK(hand_on(*from, metric, box, visit));
        continue;
      }
      for (std::size_t begin = box.contexts.begin; begin < box.contexts.end; begin += rows) {
        const auto end = std::min<std::size_t>(box.contexts.end, begin + rows);
        FATHOM_CHECK(scan_rows(metric, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                               box.locations, visit));
      }
    }
    return success();
  }

 private:
  template <class Id>
  static bool is_identity(const std::vector<Id>& map, std::size_t size) {
    if (map.size() != size) return false;
    for (std::size_t i = 0; i < size; ++i) {
      if (!map[i].valid() || map[i].index() != i) return false;
    }
    return true;
  }

  // A void metric counts as zero beside others; where the result is void as well its values are kept.
  static bool takes_no_part(const Metric& input, const Metric& result) {
    return (input.switched_off && !result.switched_off) || (input.scopes.empty() && !input.derived());
  }

  struct HandedOn {
    std::size_t part;
    StoredMetric metric;  // of the part
  };
  // A metric whose values are those of one part as they are stored: the last one that has it, when it has every context
  // and location of the result under the same number. Nothing needs to be computed then.
  [[nodiscard]] std::optional<HandedOn> handed_on(StoredMetric metric) const {
    if (rule_ != Rule::last && parts_.size() > 1) return std::nullopt;
    if (rule_ == Rule::mean) return std::nullopt;
    const Metric& info = definitions_->metric(metric.metric);
    if (info.scopes.size() <= metric.scope) return std::nullopt;
    for (std::size_t part = parts_.size(); part-- > 0;) {
      const MetricId from = metrics_[part][metric.metric.index()];
      if (!from.valid()) continue;
      const Metric& input = parts_[part].profile->defs().metric(from);
      if (takes_no_part(input, info)) continue;
      const bool as_it_is = input.type == info.type && !other_time_unit(input.unit, info.unit);
      if (!identical_[part] || input.derived() || !as_it_is) return std::nullopt;
      for (std::uint32_t scope = 0; scope < input.scopes.size(); ++scope) {
        const StoredScope& stored = input.scopes[scope];
        const StoredScope& wanted = info.scopes[metric.scope];
        const bool same = stored.scope == wanted.scope && (stored.scope != Scope::named || stored.name == wanted.name);
        if (same) return HandedOn{part, {from, scope}};
      }
      return std::nullopt;
    }
    return std::nullopt;
  }
  Result<void> hand_on(const HandedOn& from, StoredMetric metric, const Box& box, const RunVisitor& visit) const {
    const Box same{std::span(&from.metric, 1), box.contexts, box.locations};
    return parts_[from.part].profile->values->scan(same, [&](const Run& run) {
      Run renamed = run;
      renamed.metric = metric;
      return visit(renamed);
    });
  }

  static constexpr std::size_t kCellsAtOnce = std::size_t{1} << 19;
  static constexpr std::size_t kMaxRows = 4096;
  static constexpr std::size_t kGap = 32;  // unwanted contexts that may be read along between wanted ones

  // One part's values in the columns that they have in the result.
  struct Columns {
    IndexRange input;                    // the locations to read
    std::vector<std::uint32_t> targets;  // by input.begin + i: column, or none
    bool neighbours = false;             // the targets are one column after the other
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  static Columns columns_of(const Mapping& mapping, IndexRange wanted) {
    Columns out{{kNone, 0}, {}, true};
    for (std::uint32_t i = 0; i < mapping.locations.size(); ++i) {
      const LocationId to = mapping.locations[i];
      if (!to.valid() || !wanted.contains(to.value)) continue;
      out.input.begin = std::min(out.input.begin, i);
      out.input.end = i + 1;
    }
    if (out.input.begin == kNone) out.input.begin = 0;
    for (std::uint32_t i = out.input.begin; i < out.input.end; ++i) {
      const LocationId to = mapping.locations[i];
      out.targets.push_back(to.valid() && wanted.contains(to.value) ? to.value - wanted.begin : kNone);
      out.neighbours = out.neighbours && out.targets.back() != kNone &&
                       out.targets.back() == out.targets.front() + (out.targets.size() - 1);
    }
    return out;
  }

  Result<void> scan_rows(StoredMetric metric, IndexRange contexts, IndexRange locations,
                         const RunVisitor& visit) const {
    const Metric& info = definitions_->metric(metric.metric);
    if (info.scopes.size() <= metric.scope) return success();
    Cells out(info.type, contexts.size(), locations.size());
    std::vector<std::uint8_t> present(contexts.size() * locations.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      FATHOM_TRY(const bool added, add_part(i, metric, contexts, locations, out, present));
      any = any || added;
    }
    if (!any) return success();
    if (rule_ == Rule::mean) divide(out, static_cast<double>(parts_.size()));
    return emit(metric, contexts, locations, out, visit);
  }

  Result<bool> add_part(std::size_t part, StoredMetric metric, IndexRange contexts, IndexRange locations, Cells& out,
                        std::vector<std::uint8_t>& present) const {
    const Profile& profile = *parts_[part].profile;
    const MetricId from = metrics_[part][metric.metric.index()];
    if (!from.valid()) return false;
    const Metric& input = profile.defs().metric(from);
    const Metric& info = definitions_->metric(metric.metric);
    if (takes_no_part(input, info)) return false;
    if (!can_become(input.type, out.type())) return false;
    const StoredScope& scope = info.scopes[metric.scope];
    const Inverse& inverse = scope.scope == Scope::inclusive ? inclusive_[part]
                             : scope.scope == Scope::own     ? own_[part]
                                                             : exclusive_[part];
    const Columns columns = columns_of(parts_[part].mapping, locations);
    if (columns.targets.empty()) return false;
    std::vector<ContextId> wanted;
    for (std::uint32_t r = contexts.begin; r < contexts.end; ++r) {
      const auto sources = inverse.sources(r);
      wanted.insert(wanted.end(), sources.begin(), sources.end());
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    bool any = false;
    // Each stretch of neighbouring contexts is read on its own.
    for (std::size_t begin = 0; begin < wanted.size();) {
      std::size_t end = begin + 1;
      while (end < wanted.size() && wanted[end].value - wanted[end - 1].value <= kGap) ++end;
      const std::vector<ContextId> some(wanted.begin() + static_cast<std::ptrdiff_t>(begin),
                                        wanted.begin() + static_cast<std::ptrdiff_t>(end));
      FATHOM_TRY(Cells raw, compute(profile, from, {flavour_of(scope), some, columns.input, false, info.switched_off}));
      Cells cells = converted(std::move(raw), out.type());
      if (other_time_unit(input.unit, info.unit)) convert_unit(cells, input.unit, info.unit);
      place(part, some, cells, columns, contexts, inverse, out, present);
      any = true;
      begin = end;
    }
    return any;
  }

  void place(std::size_t part, const std::vector<ContextId>& rows, const Cells& cells, const Columns& columns,
             IndexRange contexts, const Inverse& inverse, Cells& out, std::vector<std::uint8_t>& present) const {
    const Mapping& mapping = parts_[part].mapping;
    const auto add_row = [&](std::size_t row, ContextId from) {
      const auto found = std::lower_bound(rows.begin(), rows.end(), from);
      if (found == rows.end() || *found != from) return;
      const auto i = static_cast<std::size_t>(found - rows.begin());
      const bool absorbed = !mapping.contexts[from.index()].valid();
      if (columns.neighbours && place_row(part, absorbed, cells, i, columns, row, out, present)) return;
      for (std::size_t k = 0; k < columns.targets.size(); ++k) {
        const std::uint32_t column = columns.targets[k];
        if (column == kNone) continue;
        std::uint8_t& seen = present[row * out.columns() + column];
        const bool add = absorbed || rule_ == Rule::mean;
        if (rule_ == Rule::difference && part == 1) {
          subtract(out, row, column, cells, i, k);
        } else {
          out.add_cell(row, column, cells, i, k, !(add && seen != 0));
        }
        seen = 1;
      }
    };
    for (std::size_t row = 0; row < contexts.size(); ++row) {
      for (const ContextId from : inverse.sources(contexts.begin + static_cast<std::uint32_t>(row))) add_row(row, from);
    }
  }

  // A whole row at once, for plain numbers; false = not one of these.
  bool place_row(std::size_t part, bool absorbed, const Cells& cells, std::size_t from, const Columns& columns,
                 std::size_t row, Cells& out, std::vector<std::uint8_t>& present) const {
    const ValueType type = out.type();
    if (type.kind != ValueKind::f64 && form_of(type) != Form::integer) return false;
    const std::size_t first = columns.targets.front();
    const std::size_t count = columns.targets.size();
    std::uint8_t* seen = present.data() + row * out.columns() + first;
    const auto combine = [&](auto* to, const auto* values) {
      if (rule_ == Rule::difference && part == 1) {
        for (std::size_t k = 0; k < count; ++k) to[k] -= values[k];
      } else if (absorbed || rule_ == Rule::mean) {
        for (std::size_t k = 0; k < count; ++k) to[k] = seen[k] != 0 ? to[k] + values[k] : values[k];
      } else {
        std::copy(values, values + count, to);
      }
    };
    if (type.kind == ValueKind::f64) {
      combine(out.reals(row).data() + first, cells.reals(from).data());
    } else {
      combine(out.integers(row).data() + first, cells.integers(from).data());
    }
    std::fill(seen, seen + count, std::uint8_t{1});
    return true;
  }

  // Plain a - b: this is a difference of two measurements, not the rest of one after taking out a part.
  static void subtract(Cells& out, std::size_t row, std::size_t column, const Cells& other, std::size_t i,
                       std::size_t k) {
    if (form_of(out.type()) == Form::real) {
      out.reals(row)[column] -= other.reals(i)[k];
      return;
    }
    Cells a(out.type(), 1, 1);
    Cells b(out.type(), 1, 1);
    a.add_cell(0, 0, out, row, column, true);
    b.add_cell(0, 0, other, i, k, true);
    a.subtract_row(0, b, 0);
    out.add_cell(row, column, a, 0, 0, true);
  }

  static void divide(Cells& cells, double count) {
    const ValueType type = cells.type();
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      if (type.kind == ValueKind::f64) {
        for (double& value : cells.reals(row)) value /= count;
      } else if (form_of(type) == Form::packed) {
        for (std::size_t i = 0; i < cells.columns(); ++i) composite::scale(type, cells.raw(row, i), 1 / count);
      }
    }
  }

  Result<void> emit(StoredMetric metric, IndexRange contexts, IndexRange locations, const Cells& out,
                    const RunVisitor& visit) const {
    std::vector<std::byte> packed(out.columns() * out.type().size());
    for (std::size_t row = 0; row < out.rows(); ++row) {
      const bool zeros_count = absent_is_no_value(out.type());
      bool nothing = true;
      for (std::size_t i = 0; i < out.columns() && nothing; ++i) {
        nothing = zeros_count ? !has_value(out, row, i) : out.is_zero(row, i);
      }
      if (nothing) continue;
      if (!pack_row(out, row, packed)) {
        const Profile& first = *parts_.front().profile;
        FATHOM_CHECK(
            first.work->diagnostics.lost("profile.overflow", Place::in(first.name),
                                         fmt::format("metric '{}': results do not fit {}",
                                                     definitions_->metric(metric.metric).name, out.type().text())));
      }
      Run run;
      run.metric = metric;
      run.context = ContextId(contexts.begin + row);
      run.first = locations.begin;
      run.count = out.columns();
      run.values = packed.data();
      FATHOM_CHECK(visit(run));
    }
    return success();
  }

  std::shared_ptr<const Definitions> definitions_;
  std::vector<Part> parts_;
  Rule rule_;
  std::vector<Inverse> inclusive_;  // by part
  std::vector<Inverse> own_;
  std::vector<Inverse> exclusive_;
  std::vector<std::vector<MetricId>> metrics_;  // by part, by result metric
  std::vector<bool> identical_;                 // by part: contexts and locations have the same numbers
  Axis axis_ = Axis::context;
};

}  // namespace

Mapping Mapping::identity(const Definitions& defs) {
  Mapping out;
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) out.metrics.emplace_back(i);
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) out.contexts.emplace_back(i);
  for (std::size_t i = 0; i < defs.system.location_count(); ++i) out.locations.emplace_back(i);
  return out;
}

namespace {

ContextTree with_ids(const ContextTree& tree, std::span<const std::uint64_t> ids) {
  ContextTreeBuilder builder;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Context& at = tree[ContextId(i)];
    const auto handle = builder.add(at.parent.valid() ? at.parent.value : ContextTreeBuilder::kRoot, at.region, ids[i],
                                    at.line, at.edge);
    if (const ContextDetails& details = tree.details(ContextId(i)); details != ContextDetails()) {
      builder.details(handle) = details;
    }
  }
  return std::move(builder).build();
}

// Expressions may name contexts by the ids of their file: those must stay what they are. The first part that has such
// expressions decides; what only others have is numbered behind.
void keep_named_ids(Definitions& defs, const std::vector<Part>& parts) {
  const auto names_contexts = [](const Part& part) {
    return std::any_of(part.profile->programs.begin(), part.profile->programs.end(),
                       [](const auto& entry) { return names_call_paths(*entry.second); });
  };
  const auto part = std::find_if(parts.begin(), parts.end(), names_contexts);
  if (part == parts.end()) return;
  const ContextTree& from = part->profile->defs().contexts;
  constexpr std::uint64_t kNew = ~std::uint64_t{0};
  std::vector<std::uint64_t> ids(defs.contexts.size(), kNew);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint64_t id = from[ContextId(i)].file_id;
    const ContextId to = part->mapping.contexts[i];
    if (to.valid() && ids[to.index()] == kNew) ids[to.index()] = id;
    next = std::max(next, id + 1);
  }
  for (std::uint64_t& id : ids) {
    if (id == kNew) id = next++;
  }
  defs.contexts = with_ids(defs.contexts, ids);
}

}  // namespace

ContextTree renumbered(const ContextTree& tree) {
  std::vector<std::uint64_t> ids(tree.size());
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  return with_ids(tree, ids);
}

ProfilePtr combine(Definitions definitions, std::vector<Part> parts, Rule rule) {
  auto out = std::make_shared<Profile>();
  keep_named_ids(definitions, parts);
  out->definitions = std::make_shared<const Definitions>(std::move(definitions));
  out->name = parts.front().profile->name;
  out->work = parts.front().profile->work;
  // Programs name their metrics, so they go along as they are, but with variables of their own: what these hold may
  // speak of the inputs' contexts.
  const auto globals = std::make_shared<expression::Globals>();
  globals->own_metrics = out->definitions->metrics.size();
  // What a metric set up for others before it became a stored one is set up by the next that stays derived.
  std::vector<expression::Tree> orphaned;
  for (const Part& part : parts) {
    for (const auto& [metric, program] : part.profile->programs) {
      const MetricId to = part.mapping.metrics[metric.index()];
      if (to.valid() && out->programs.contains(to)) continue;
      if (!to.valid() || !out->definitions->metric(to).derived()) {
        orphaned.insert(orphaned.end(), program->init.begin(), program->init.end());
        continue;
      }
      auto copy = std::make_shared<expression::Program>(*program);
      copy->meter = std::make_shared<expression::Meter>();
      if (copy->globals) {
        globals->sets_properties = globals->sets_properties || copy->globals->sets_properties;
        copy->globals = globals;
        copy->init.insert(copy->init.begin(), orphaned.begin(), orphaned.end());
        globals->any_init = globals->any_init || !copy->init.empty();
        orphaned.clear();
      }
      out->programs.emplace(to, std::move(copy));
    }
  }
  out->values = std::make_shared<CombinedSource>(out->definitions, std::move(parts), rule);
  return out;
}

}  // namespace fathom::algebra
