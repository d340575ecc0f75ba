// meta.db to definitions.
#include <fmt/format.h>

#include <set>

#include "formats/hpctoolkit/mapping.hpp"

namespace fathom::hpctoolkit {

namespace {

enum RegionKind : std::uint8_t { kEntry, kFunction, kUnknownFunction, kLoop, kLine, kInstruction };

class MetaMapper {
 public:
  MetaMapper(const MetaDb& meta, Mapping& mapping)
      : meta_(meta), mapping_(mapping), regions_(mapping.definitions->regions) {}

  void map() {
    Attributes& attributes = mapping_.definitions->attributes;
    attributes.emplace_back("title", meta_.title);
    if (!meta_.description.empty()) attributes.emplace_back("description", meta_.description);
    map_metrics();
    map_contexts();
  }

 private:
  void map_metrics() {
    std::set<std::string> names;
    for (const MetaMetric& native : meta_.metrics) {
      Metric metric;
      metric.name = native.name;
      while (!names.insert(metric.name).second) metric.name += '\'';
      metric.display_name = native.name;
      metric.unit = unit_in_name(native.name);
      const MetricId id(mapping_.definitions->metrics.size());
      std::vector<std::uint16_t> ids;
      for (const MetaScopeInstance& instance : native.scopes) {
        const MetaScope& scope = meta_.scopes[instance.scope];
        metric.scopes.push_back({scope_of(scope), scope.name});
        ids.push_back(instance.id);
      }
      metric.file_id = ids.empty() ? 0 : ids.front();
      for (const MetaSummary& summary : native.summaries) {
        for (std::size_t k = 0; k < native.scopes.size(); ++k) {
          if (native.scopes[k].scope != summary.scope) continue;
          mapping_.statistics.push_back({summary.id, {id, static_cast<std::uint32_t>(k)}, statistic_of(summary)});
        }
      }
      mapping_.definitions->metrics.push_back(std::move(metric));
      mapping_.ids.push_back(std::move(ids));
    }
  }

  // Most values of the scope point belong to instructions that the tree does not have: what a context has itself is
  // more than its point value, so that this is no value to work others out from.
  static Scope scope_of(const MetaScope& scope) {
    switch (static_cast<ScopeType>(scope.type)) {
      case ScopeType::execution:
        return Scope::inclusive;
      case ScopeType::transitive:
        return scope.name == "function" ? Scope::exclusive : Scope::named;
      default:
        return Scope::named;
    }
  }

  static std::string statistic_of(const MetaSummary& summary) {
    const auto combine = static_cast<Combine>(summary.combine);
    if (combine == Combine::sum) {
      if (summary.formula == "$$") return "sum";
      if (summary.formula == "1") return "count";
      if (summary.formula == "($$^2)" || summary.formula == "$$^2") return std::string(kSumOfSquares);
    }
    if (summary.formula == "$$" && combine == Combine::min) return "min";
    if (summary.formula == "$$" && combine == Combine::max) return "max";
    const char* name = combine == Combine::sum ? "sum" : combine == Combine::min ? "min" : "max";
    return fmt::format("{} of {}", name, summary.formula);
  }

  [[nodiscard]] std::string file_of(std::uint32_t index) const {
    return index == kNoIndex ? std::string() : meta_.files[index].path;
  }
  [[nodiscard]] std::string module_of(std::uint32_t index) const {
    return index == kNoIndex ? std::string() : meta_.modules[index];
  }

  RegionId region_of(const MetaContext& context, std::size_t index) {
    const std::uint64_t place = (std::uint64_t{context.file} << 32) | context.line;
    if (context.entry >= 0) {
      return regions_.get(kEntry, index, 0, [&] {
        Region region;
        region.name = meta_.entry_names[index].empty() ? "entry point" : meta_.entry_names[index];
        region.role = "entry point";
        return region;
      });
    }
    switch (static_cast<Lexical>(context.lexical)) {
      case Lexical::loop:
        return regions_.get(kLoop, place, context.module ^ context.offset << 16, [&] {
          Region region = at_line(context);
          region.name = "loop at " + region.name;
          region.role = "loop";
          return region;
        });
      case Lexical::line:
        return regions_.get(kLine, place, 0, [&] {
          Region region = at_line(context);
          region.role = "line";
          return region;
        });
      case Lexical::instruction:
        return regions_.get(kInstruction, context.module, context.offset, [&] {
          Region region;
          region.module = module_of(context.module);
          region.name = point_name(context);
          region.role = "instruction";
          region.attributes.emplace_back("offset", fmt::format("0x{:x}", context.offset));
          return region;
        });
      default:
        return function_of(context);
    }
  }

  RegionId function_of(const MetaContext& context) {
    if (context.function == kNoIndex) {
      return regions_.get(kUnknownFunction, context.module, context.offset, [&] {
        Region region;
        region.name = context.has_point ? "<unknown function> " + point_name(context) : "<unknown function>";
        region.module = module_of(context.module);
        region.role = "function";
        return region;
      });
    }
    return regions_.get(kFunction, context.function, 0, [&] {
      const MetaFunction& function = meta_.functions[context.function];
      Region region;
      region.name = function.name.empty() ? "<anonymous function>" : function.name;
      region.file = file_of(function.file);
      region.module = module_of(function.module);
      if (function.file != kNoIndex) region.begin_line = function.line;
      const bool made_up = function.module == kNoIndex && function.file == kNoIndex && region.name.starts_with('<');
      region.role = made_up ? "placeholder" : "function";
      if (function.module != kNoIndex) region.attributes.emplace_back("offset", fmt::format("0x{:x}", function.offset));
      return region;
    });
  }

  Region at_line(const MetaContext& context) {
    Region region;
    region.file = file_of(context.file);
    region.begin_line = region.end_line = context.has_line ? std::int64_t{context.line} : -1;
    region.name = context.has_line ? line_name(region.file, context.line) : point_name(context);
    if (context.module != kNoIndex) region.module = module_of(context.module);
    return region;
  }

  [[nodiscard]] std::string point_name(const MetaContext& context) const {
    const std::string module = module_of(context.module);
    return fmt::format("{}+0x{:x}", module.substr(module.rfind('/') + 1), context.offset);
  }

  void map_contexts() {
    ContextTreeBuilder builder;
    for (std::size_t i = 0; i < meta_.contexts.size(); ++i) {
      const MetaContext& context = meta_.contexts[i];
      const Edge edge = context.relation == static_cast<std::uint8_t>(Relation::lexical)        ? Edge::lexical
                        : context.relation == static_cast<std::uint8_t>(Relation::inlined_call) ? Edge::inlined_call
                                                                                                : Edge::call;
      const auto parent = context.parent == kNoIndex ? ContextTreeBuilder::kRoot : context.parent;
      builder.add(parent, region_of(context, i), context.id, context.has_line ? std::int64_t{context.line} : -1,
                  parent == ContextTreeBuilder::kRoot ? Edge::call : edge);
    }
    std::vector<ContextId> numbers;
    mapping_.definitions->contexts = std::move(builder).build(&numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) mapping_.contexts.add(meta_.contexts[i].id, numbers[i]);
    mapping_.contexts.finish();
    mapping_.samples = mapping_.contexts;
  }

  const MetaDb& meta_;
  Mapping& mapping_;
  RegionTable regions_;
};

}  // namespace

Result<Mapping> map_meta(const MetaDb& meta, const Work&) {
  Mapping mapping;
  MetaMapper(meta, mapping).map();
  return mapping;
}

}  // namespace fathom::hpctoolkit
