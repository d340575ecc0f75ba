#include "profile/cubepl/cubepl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/text.hpp"
#include "profile/cubepl/parser.hpp"
#include "profile/cubepl/variables.hpp"
#include "profile/expression/program.hpp"

namespace fathom::cubepl {

namespace {

using expression::Globals;
using expression::Program;
using expression::Tree;

// Metrics that define metrics that define metrics ...: this many in all.
constexpr std::size_t kMaxDefined = 1000;

struct Compiled {
  std::shared_ptr<Program> program;
  std::vector<Definition> definitions;
};

Result<Compiled> compile(const Source& source, const std::shared_ptr<Globals>& globals) {
  Compiled out;
  out.program = std::make_shared<Program>();
  out.program->environment = make_environment();
  out.program->globals = globals;
  out.program->language = "cubepl";
  if (trim(source.value).empty()) return Error("the expression is empty");
  const auto keep = [&](Parsed& parsed, const std::string& text) {
    out.definitions.insert(out.definitions.end(), parsed.definitions.begin(), parsed.definitions.end());
    parsed.tree.source = text;
    return std::move(parsed.tree);
  };
  FATHOM_TRY(Parsed value, parse(source.value));
  out.program->value = keep(value, source.value);
  for (const std::string& text : source.init) {
    if (trim(text).empty()) continue;
    auto parsed = parse(text, true);
    if (!parsed.ok()) return std::move(parsed).error().with("initial expression");
    out.program->init.push_back(keep(*parsed, text));
  }
  const auto operation = [&](const std::string& text, std::optional<Tree>& to, const char* what) -> Result<void> {
    if (trim(text).empty()) return success();
    auto parsed = parse(text);
    if (!parsed.ok()) return std::move(parsed).error().with(what);
    to = keep(*parsed, text);
    return success();
  };
  FATHOM_CHECK(operation(source.plus, out.program->plus, "plus operator"));
  FATHOM_CHECK(operation(source.minus, out.program->minus, "minus operator"));
  FATHOM_CHECK(operation(source.aggregate, out.program->aggregate, "aggregation operator"));
  return out;
}

// Compiles metrics one after the other; what they define queues up behind them.
class Builder {
 public:
  Builder(Definitions& defs, Profile& profile) : defs_(defs), profile_(profile) {
    for (const auto& [id, program] : profile.programs) {
      if (program->globals) globals_ = program->globals;
    }
    if (globals_) return;
    globals_ = std::make_shared<Globals>();
    globals_->own_metrics = defs.metrics.size();
  }

  Result<void> add(MetricId id, const Source& source) {
    auto compiled = compile(source, globals_);
    if (!compiled.ok()) return std::move(compiled).error();
    keep(id, *compiled->program);
    for (Definition& definition : compiled->definitions) pending_.push_back(std::move(definition));
    return success();
  }

  Result<void> finish() {
    std::size_t made = 0;
    while (!pending_.empty()) {
      const Definition definition = std::move(pending_.front());
      pending_.pop_front();
      if (++made > kMaxDefined) return Error("expressions define too many metrics");
      const MetricId known = defs_.find_metric(definition.name);
      Result<void> done = success();
      if (known.valid()) {
        done = amend(known, definition);
      } else if (definition.derivation != Derivation::none) {
        done = define(definition);
      }
      if (!done.ok()) {
        return std::move(done).error().with(fmt::format("metric '{}' defined by an expression", definition.name));
      }
    }
    return success();
  }

 private:
  Result<void> define(const Definition& definition) {
    Metric metric;
    metric.name = metric.display_name = definition.name;
    metric.type = {ValueKind::f64, 0};
    metric.derivation = definition.derivation;
    metric.expression = definition.value;
    metric.hidden = true;
    metric.file_id = free_id_.in(defs_.metrics);
    defs_.metrics.push_back(metric);
    return add(MetricId(defs_.metrics.size() - 1),
               {definition.value, {definition.init}, definition.plus, definition.minus, definition.aggregate});
  }

  // Operators and init expressions may be given for a metric that exists already.
  Result<void> amend(MetricId id, const Definition& definition) {
    const auto found = profile_.programs.find(id);
    if (found == profile_.programs.end()) return success();
    const Program& old = *found->second;
    const auto text = [](const std::string& fresh, const std::optional<Tree>& tree) {
      return !fresh.empty() ? fresh : tree ? tree->source : std::string();
    };
    const bool changes = !definition.init.empty() || !definition.plus.empty() || !definition.minus.empty() ||
                         !definition.aggregate.empty();
    if (!changes || old.language != "cubepl") return success();
    std::vector<std::string> init;
    for (const Tree& tree : old.init) init.push_back(tree.source);
    if (!definition.init.empty()) init = {definition.init};
    FATHOM_TRY(const Compiled compiled,
               compile({old.value.source, std::move(init), text(definition.plus, old.plus),
                        text(definition.minus, old.minus), text(definition.aggregate, old.aggregate)},
                       globals_));
    keep(id, *compiled.program);
    return success();
  }

  void keep(MetricId id, Program& program) {
    const auto sets = [](const Tree& tree) {
      return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                         [](const auto& node) { return node.op == expression::Op::set_property; });
    };
    if (sets(program.value) || std::any_of(program.init.begin(), program.init.end(), sets)) {
      globals_->sets_properties = true;
    }
    if (!program.init.empty()) globals_->any_init = true;
    profile_.programs[id] = std::make_shared<const Program>(std::move(program));
  }

  Definitions& defs_;
  Profile& profile_;
  std::shared_ptr<Globals> globals_;
  std::deque<Definition> pending_;
  FreeFileId free_id_;
};

}  // namespace

Result<void> add_programs(Definitions& defs, Profile& profile, const std::map<MetricId, Source>& sources) {
  const std::string* version = find_attribute(defs.attributes, "CubePL Version");
  const bool known = version == nullptr || *version == "1.1" || *version == "1.0" || *version == "0.0" ||
                     *version == "1" || *version == "0";
  Builder builder(defs, profile);
  for (const auto& [id, source] : sources) {
    if (!defs.metrics[id.index()].unusable.empty()) continue;
    defs.metrics[id.index()].type = {ValueKind::f64, 0};  // whatever the file says: results are doubles
    Result<void> added =
        known ? builder.add(id, source) : Error(fmt::format("CubePL version '{}' is not known", *version));
    if (added.ok()) added = builder.finish();
    if (added.ok()) continue;
    profile.programs.erase(id);
    defs.metrics[id.index()].unusable = added.error().text();
    FATHOM_CHECK(profile.work->diagnostics.warn(
        "cube.cubepl", Place::in(profile.name),
        fmt::format("metric '{}': {}", defs.metrics[id.index()].name, added.error().text())));
  }
  return success();
}

namespace {

// The metric itself goes in first, so that its number does not depend on what its text defines.
Result<void> add_metric(ExtendedProfile& extended, Builder& builder, const DerivedMetric& wanted) {
  FATHOM_TRY(const MetricId id, extended.add(wanted));
  Source source;
  source.value = wanted.expression;
  FATHOM_CHECK(builder.add(id, source));
  return builder.finish();
}

}  // namespace

Result<ProfilePtr> with_cubepl(const ProfilePtr& profile, const DerivedMetric& wanted) {
  ExtendedProfile extended(*profile);
  Builder builder(extended.defs(), extended.profile());
  FATHOM_CHECK(add_metric(extended, builder, wanted));
  return std::move(extended).finish();
}

Result<ProfilePtr> with_cubepl(const ProfilePtr& profile, std::span<const std::string> definitions,
                               const DerivedMetric& pattern) {
  if (definitions.empty()) return profile;
  ExtendedProfile extended(*profile);
  Builder builder(extended.defs(), extended.profile());
  for (const std::string& definition : definitions) {
    FATHOM_TRY(const DerivedMetric wanted, parse_definition(definition, pattern));
    FATHOM_CHECK(add_metric(extended, builder, wanted));
  }
  return std::move(extended).finish();
}

}  // namespace fathom::cubepl
