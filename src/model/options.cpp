#include "model/options.hpp"

#include <array>

#include "base/number.hpp"
#include "base/text.hpp"

namespace fathom {

namespace {

bool truth(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  return lower != "false" && lower != "off" && lower != "no" && lower != "0";
}

struct BoolOption {
  std::string_view name;
  bool SingleOptions::*member;
  bool refining;  // Refining has it too
};
constexpr std::array kSingleBools{
    BoolOption{"allow_log_terms", &SingleOptions::allow_log_terms, true},
    BoolOption{"use_crossvalidation", &SingleOptions::use_crossvalidation, true},
    BoolOption{"compare_with_RSS", &SingleOptions::compare_with_rss, true},
    BoolOption{"retain_default_exponents", &SingleOptions::retain_default_exponents, false},
    BoolOption{"force_combination_exponents", &SingleOptions::force_combination_exponents, false},
    BoolOption{"allow_negative_exponents", &SingleOptions::allow_negative_exponents, false},
};
constexpr std::string_view kContributionName = "minimum_term_contribution";
constexpr std::string_view kPolyName = "poly_exponents";
constexpr std::string_view kLogName = "log_exponents";

std::vector<std::string> single_names(Modeler modeler) {
  std::vector<std::string> names;
  if (modeler == Modeler::robust) return names;
  for (const auto& option : kSingleBools) {
    if (option.refining || modeler != Modeler::refining) names.emplace_back(option.name);
  }
  names.emplace_back(kContributionName);
  if (modeler != Modeler::refining) {
    names.emplace_back(kPolyName);
    names.emplace_back(kLogName);
  }
  return names;
}

Error unknown_option(std::string_view name, std::span<const std::string> names) {
  std::string known;
  for (const auto& candidate : names) known += (known.empty() ? "" : ", ") + candidate;
  return Error::usage("the modeler has no option '" + std::string(name) + "'" + did_you_mean(name, names))
      .hint(known.empty() ? "this modeler has no options" : "its options: " + known);
}

Result<void> set_single(Modeler modeler, std::string_view name, std::string_view value, SingleOptions& options) {
  const auto names = single_names(modeler);
  bool known = false;
  for (const auto& candidate : names) known = known || candidate == name;
  if (!known) return unknown_option(name, names);
  for (const auto& option : kSingleBools) {
    if (option.name == name) options.*option.member = truth(value);
  }
  if (name == kContributionName) {
    const auto number = parse_double(trim(value));
    if (!number)
      return Error::usage("option " + std::string(name) + " needs a number, not '" + std::string(value) + "'");
    options.minimum_term_contribution = *number;
  }
  if (name == kPolyName) options.poly_exponents = value;
  if (name == kLogName) options.log_exponents = value;
  return {};
}

std::vector<std::string> multi_names(Modeler inner) {
  std::vector<std::string> names{"single_parameter_point_selection", "allow_combinations_of_sums_and_products",
                                 "compare_with_RSS", "single_parameter_modeler"};
  for (const auto& name : single_names(inner)) names.push_back("sp." + name);
  return names;
}

Result<void> set_multi(std::string_view name, std::string_view value, FitOptions& options) {
  if (name == "single_parameter_point_selection") {
    const std::string lower = to_lower(value);
    if (lower == "auto") {
      options.multi.selection = PointSelection::automatic;
    } else if (lower == "smallest") {
      options.multi.selection = PointSelection::smallest;
    } else if (lower == "all") {
      options.multi.selection = PointSelection::all;
    } else {
      return Error::usage("single_parameter_point_selection is auto, smallest or all, not '" + std::string(value) +
                          "'");
    }
  } else if (name == "allow_combinations_of_sums_and_products") {
    options.multi.allow_combinations = truth(value);
  } else if (name == "compare_with_RSS") {
    options.multi.compare_with_rss = truth(value);
  } else {
    return unknown_option(name, multi_names(options.inner));
  }
  return {};
}

Result<Modeler> single_modeler(std::string_view name) {
  const std::string lower = to_lower(name);
  if (lower == "default") return Modeler::basic;
  for (const auto modeler : {Modeler::basic, Modeler::refining, Modeler::segmented}) {
    if (lower == to_string(modeler)) return modeler;
  }
  return Error::usage("A modeler with name \"" + std::string(name) +
                      "\" does not exist. For single-parameter experiments only the following modelers are available "
                      "\"Basic, Default, Refining, Segmented\".")
      .hint("Fathom's own modeler is called robust");
}

Result<Modeler> modeler_named(std::string_view name, std::size_t parameters) {
  const std::string lower = to_lower(name);
  if (lower == "robust") return Modeler::robust;
  if (parameters <= 1) return single_modeler(name);
  if (lower == "default" || lower == "multi-parameter") return Modeler::multi_parameter;
  return Error::usage("A multi-parameter modeler with name \"" + std::string(name) +
                      "\" does not exist. You selected a modeler only available for single-parameter experiments. For "
                      "multi-parameter experiments only the following modelers are available \"Default, "
                      "Multi-Parameter\". You can change the underlying single-parameter modeler by setting the "
                      "single-parameter-modeler option of the multi-parameter modeler.")
      .hint("--option single_parameter_modeler=" + lower);
}

std::string json_bool(bool value) { return value ? "true" : "false"; }

void add_single(Modeler modeler, const SingleOptions& options, ModelerInfo& info, const std::string& prefix) {
  for (const auto& option : kSingleBools) {
    if (option.refining || modeler != Modeler::refining) {
      info.options.emplace_back(prefix + std::string(option.name), json_bool(options.*option.member));
    }
  }
  info.options.emplace_back(prefix + std::string(kContributionName), json_number(options.minimum_term_contribution));
  if (modeler == Modeler::refining) return;
  info.options.emplace_back(prefix + std::string(kPolyName), json_quote(options.poly_exponents));
  info.options.emplace_back(prefix + std::string(kLogName), json_quote(options.log_exponents));
}

}  // namespace

std::string_view to_string(Modeler modeler) {
  switch (modeler) {
    case Modeler::basic:
      return "basic";
    case Modeler::refining:
      return "refining";
    case Modeler::segmented:
      return "segmented";
    case Modeler::multi_parameter:
      return "multi-parameter";
    case Modeler::robust:
      return "robust";
  }
  return "?";
}

Result<FitOptions> fit_options(std::string_view modeler, std::size_t parameters, Measure measure,
                               std::span<const std::string> key_values) {
  FitOptions options;
  options.measure = measure;
  FATHOM_TRY(options.modeler, modeler_named(modeler, parameters));
  const bool multi = options.modeler == Modeler::multi_parameter;
  const auto parts = [](std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return std::pair(trim(text), std::string_view("true"));
    return std::pair(trim(text.substr(0, equals)), text.substr(equals + 1));
  };
  // The inner modeler first: which options there are depends on it.
  for (const auto& text : key_values) {
    const auto [name, value] = parts(text);
    if (multi && (name == "single_parameter_modeler" || name == "#spm")) {
      FATHOM_TRY(options.inner, single_modeler(trim(value)));
    }
  }
  for (const auto& text : key_values) {
    const auto [name, value] = parts(text);
    if (!multi) {
      FATHOM_CHECK(set_single(options.modeler, name, value, options.single));
    } else if (name == "single_parameter_modeler" || name == "#spm") {
      continue;
    } else if (name.starts_with("sp.")) {
      FATHOM_CHECK(set_single(options.inner, name.substr(3), value, options.single));
    } else {
      FATHOM_CHECK(set_multi(name, value, options));
    }
  }
  return options;
}

ModelerInfo modeler_info(const FitOptions& options) {
  ModelerInfo info;
  info.measure = options.measure;
  const auto type = [](Modeler modeler) -> std::string {
    if (modeler == Modeler::refining) return "RefiningModeler";
    if (modeler == Modeler::segmented) return "SegmentedModeler";
    if (modeler == Modeler::multi_parameter) return "MultiParameterModeler";
    if (modeler == Modeler::robust) return "RobustModeler";
    return "SingleParameterModeler";
  };
  info.type = type(options.modeler);
  if (options.modeler == Modeler::multi_parameter) {
    constexpr std::array kSelection{"auto", "smallest", "all"};
    info.options.emplace_back("single_parameter_point_selection",
                              json_quote(kSelection[static_cast<std::size_t>(options.multi.selection)]));
    info.options.emplace_back("allow_combinations_of_sums_and_products", json_bool(options.multi.allow_combinations));
    info.options.emplace_back("compare_with_RSS", json_bool(options.multi.compare_with_rss));
    info.options.emplace_back("single_parameter_modeler", json_quote(type(options.inner)));
    add_single(options.inner, options.single, info, "sp.");
  } else if (options.modeler != Modeler::robust) {
    add_single(options.modeler, options.single, info, "");
  }
  return info;
}

}  // namespace fathom
