#include "base/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"

namespace fathom {

std::string_view to_string(OptionType type) {
  switch (type) {
    case OptionType::flag:
      return "flag";
    case OptionType::text:
      return "text";
    case OptionType::list:
      return "list";
    case OptionType::count:
      return "count";
    case OptionType::number:
      return "number";
  }
  return "";
}

namespace {

std::optional<bool> parse_flag(std::string_view text) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (equal_ignoring_case(text, yes)) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (equal_ignoring_case(text, no)) return false;
  }
  return std::nullopt;
}

}  // namespace

Result<void> OptionValues::set_text(const OptionDeclaration& option, std::string_view text) {
  const auto wrong = [&](std::string_view expected) {
    return Error::usage(fmt::format("{}: expected {}, got '{}'", option.name, expected, text));
  };
  if (!option.choices.empty()) {
    const auto choices = split(option.choices, ' ');
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return wrong(fmt::format("one of {}", fmt::join(choices, ", ")));
    }
  }
  switch (option.type) {
    case OptionType::flag: {
      const auto value = parse_flag(text);
      if (!value) return wrong("true or false");
      values_[option.name] = *value;
      break;
    }
    case OptionType::text:
      values_[option.name] = std::string(text);
      break;
    case OptionType::list: {
      auto& value = values_.try_emplace(option.name, std::vector<std::string>()).first->second;
      std::get<std::vector<std::string>>(value).emplace_back(text);
      break;
    }
    case OptionType::count: {
      const auto value = parse_integer<std::uint64_t>(text);
      if (!value) return wrong("a whole number");
      values_[option.name] = *value;
      break;
    }
    case OptionType::number: {
      const auto value = parse_double(text);
      if (!value) return wrong("a number");
      values_[option.name] = *value;
      break;
    }
  }
  return {};
}

Result<const OptionDeclaration*> find_option(const std::vector<const OptionDeclaration*>& declared,
                                             std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const OptionDeclaration* option : declared) {
    if (option->name == name) return option;
    names.emplace_back(option->name);
  }
  Error error = Error::usage(fmt::format("{} has no option '{}'{}", what, name, did_you_mean(name, names)));
  if (names.empty()) return error;
  return std::move(error).hint(fmt::format("it has: {}", fmt::join(names, ", ")));
}

}  // namespace fathom
