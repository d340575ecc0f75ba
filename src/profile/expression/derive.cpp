#include "profile/expression/derive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "profile/expression/infix.hpp"

namespace fathom {

namespace expression {

namespace {

constexpr NamedFunction kFunctions[] = {
    {"abs", Function::abs, 1, 1},
    {"sqrt", Function::sqrt, 1, 1},
    {"sin", Function::sin, 1, 1},
    {"cos", Function::cos, 1, 1},
    {"tan", Function::tan, 1, 1},
    {"cot", Function::cot, 1, 1},
    {"asin", Function::asin, 1, 1},
    {"acos", Function::acos, 1, 1},
    {"atan", Function::atan, 1, 1},
    {"exp", Function::exp, 1, 1},
    {"log", Function::log, 1, 1},
    {"ln", Function::log, 1, 1},
    {"log2", Function::log2, 1, 1},
    {"log10", Function::log10, 1, 1},
    {"floor", Function::floor, 1, 1},
    {"ceil", Function::ceil, 1, 1},
    {"round", Function::round, 1, 1},
    {"sgn", Function::sign, 1, 1},
    {"pos", Function::positive, 1, 1},
    {"neg", Function::negative, 1, 1},
    {"random", Function::random, 1, 1},
    {"min", Function::minimum, 1, kAnyNumber},
    {"max", Function::maximum, 1, kAnyNumber},
    {"sum", Function::sum, 1, kAnyNumber},
    {"mean", Function::mean, 1, kAnyNumber},
    {"stddev", Function::deviation, 1, kAnyNumber},
};

class Parser final : public InfixParser {
 public:
  Parser(std::string_view text, const Definitions& defs) : InfixParser(text), defs_(defs) {}

 private:
  NodeIndex operand() override {
    const char c = text_[at_];
    const std::size_t begin = at_;
    if (accept("|")) {
      const NodeIndex inner = expression();
      expect("|");
      return tree_.add_function(Function::abs, {inner});
    }
    if (c == '\'' || c == '"') {
      const std::string_view name = take_quoted();
      return failed_ ? 0 : metric(name, begin);
    }
    if (word_start(c)) return word();
    fail("a number, a metric or '('");
    return 0;
  }

  NodeIndex word() {
    const std::size_t begin = at_;
    const std::string_view name = take_word();
    if (!accept("(")) return metric(name, begin);
    constexpr std::string_view kOfMetric[] = {"inclusive", "exclusive", "total",  "count",
                                              "lowest",    "highest",   "squares"};
    if (std::find(std::begin(kOfMetric), std::end(kOfMetric), name) != std::end(kOfMetric)) return of_metric(name);
    std::vector<NodeIndex> operands = arguments();
    if (name == "choose" && operands.size() == 3) return tree_.add(Op::choose, std::move(operands));
    if (name == "pow" && operands.size() == 2) return tree_.add(Op::power, std::move(operands));
    return call(kFunctions, name, std::move(operands), begin);
  }

  NodeIndex of_metric(std::string_view how) {
    skip_blanks();
    const std::size_t begin = at_;
    const std::size_t known = tree_.nodes.size();
    const NodeIndex inner = primary();
    expect(")");
    if (failed_) return 0;
    if (tree_.nodes.size() != known + 1 || tree_.nodes[inner].op != Op::metric) {
      fail_with(fmt::format("{}() takes a metric's name", how), begin);
      return 0;
    }
    MetricReference reference = tree_.metrics[tree_.nodes[inner].index];
    if (how == "inclusive") reference.flavour = Wanted::inclusive;
    if (how == "exclusive") reference.flavour = Wanted::exclusive;
    if (how == "total") reference.reach = Reach::system;
    if (how == "count") reference.over = Over::count;
    if (how == "lowest") reference.over = Over::lowest;
    if (how == "highest") reference.over = Over::highest;
    if (how == "squares") reference.over = Over::squares;
    tree_.nodes[inner].index = tree_.reference(reference);
    return inner;
  }

  NodeIndex metric(std::string_view name, std::size_t begin) {
    if (failed_) return 0;
    if (!defs_.find_metric(name).valid()) {
      fail_with(fmt::format("there is no metric '{}'{}", name, did_you_mean(name, defs_.metric_names())), begin);
      return 0;
    }
    return tree_.add_metric({std::string(name), Reach::here, Wanted::running, Wanted::running});
  }

  const Definitions& defs_;
};

}  // namespace

Result<std::shared_ptr<const Program>> compile(std::string_view text, const Definitions& defs) {
  auto program = std::make_shared<Program>();
  FATHOM_TRY(program->value, Parser(text, defs).parse());
  program->language = "derive";
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace expression

bool only_when_named(const Metric& metric) {
  const std::string* shown = find_attribute(metric.attributes, kShown);
  return shown != nullptr && *shown == kWhenNamed;
}

Result<DerivedMetric> parse_definition(std::string_view text, DerivedMetric pattern) {
  DerivedMetric out = std::move(pattern);
  out.name.clear();
  std::string_view rest = trim(text);
  // A quoted name may hold '='; elsewhere the first one that is no comparison ends the name.
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    const std::size_t end = rest.find(rest[0], 1);
    if (end != std::string_view::npos) {
      out.name = rest.substr(1, end - 1);
      rest = trim(rest.substr(end + 1));
    }
  }
  const std::size_t equals = rest.find('=');
  const bool comparison = equals != std::string_view::npos && equals + 1 < rest.size() && rest[equals + 1] == '=';
  if (equals == std::string_view::npos || comparison || (!out.name.empty() && equals != 0)) {
    return Error::usage(fmt::format("a derived metric is written 'name = expression', found '{}'", text));
  }
  if (out.name.empty()) out.name = trim(rest.substr(0, equals));
  out.expression = trim(rest.substr(equals + 1));
  if (out.name.empty() || out.expression.empty()) {
    return Error::usage(fmt::format("a derived metric is written 'name = expression', found '{}'", text));
  }
  return out;
}

ExtendedProfile::ExtendedProfile(const Profile& profile)
    : defs_(std::make_shared<Definitions>(profile.defs())), profile_(std::make_shared<Profile>(profile)) {}

Result<MetricId> ExtendedProfile::add(const DerivedMetric& wanted) {
  if (defs_->find_metric(wanted.name).valid()) {
    return Error::usage(fmt::format("there is a metric '{}' already", wanted.name));
  }
  Metric metric;
  metric.name = wanted.name;
  metric.display_name = wanted.name;
  metric.unit = wanted.unit;
  metric.type = {ValueKind::f64, 0};
  metric.derivation = wanted.derivation;
  metric.expression = wanted.expression;
  if (!wanted.parent.empty()) {
    metric.parent = defs_->find_metric(wanted.parent);
    if (!metric.parent.valid()) {
      return Error::usage(
          fmt::format("there is no metric '{}'{}", wanted.parent, did_you_mean(wanted.parent, defs_->metric_names())));
    }
  }
  metric.file_id = free_id_.in(defs_->metrics);
  defs_->metrics.push_back(std::move(metric));
  return MetricId(defs_->metrics.size() - 1);
}

Result<void> ExtendedProfile::derive(const DerivedMetric& wanted) {
  FATHOM_TRY(auto program, expression::compile(wanted.expression, *defs_));
  FATHOM_TRY(const MetricId id, add(wanted));
  profile_->programs[id] = std::move(program);
  return {};
}

ProfilePtr ExtendedProfile::finish() && {
  profile_->definitions = std::move(defs_);
  return std::move(profile_);
}

Result<ProfilePtr> with_program(const ProfilePtr& profile, const DerivedMetric& wanted,
                                std::shared_ptr<const expression::Program> program) {
  ExtendedProfile extended(*profile);
  FATHOM_TRY(const MetricId id, extended.add(wanted));
  extended.profile().programs[id] = std::move(program);
  return std::move(extended).finish();
}

Result<ProfilePtr> with_derived(const ProfilePtr& profile, const DerivedMetric& wanted) {
  ExtendedProfile extended(*profile);
  FATHOM_CHECK(extended.derive(wanted));
  return std::move(extended).finish();
}

Result<ProfilePtr> with_derived(const ProfilePtr& profile, std::string_view definition) {
  FATHOM_TRY(const DerivedMetric wanted, parse_definition(definition));
  return with_derived(profile, wanted);
}

Result<ProfilePtr> with_derived(const ProfilePtr& profile, std::span<const std::string> definitions,
                                const DerivedMetric& pattern) {
  if (definitions.empty()) return profile;
  ExtendedProfile extended(*profile);
  for (const std::string& definition : definitions) {
    FATHOM_TRY(const DerivedMetric wanted, parse_definition(definition, pattern));
    FATHOM_CHECK(extended.derive(wanted));
  }
  return std::move(extended).finish();
}

}  // namespace fathom
